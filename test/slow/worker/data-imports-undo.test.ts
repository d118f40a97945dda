import { sql } from 'drizzle-orm'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Statement } from '../../../src/db/database.ts'
import { workOnImport } from '../../../src/modules/data-imports/background/work.ts'
import { get, post } from '../../support/api.ts'
import { countContents } from '../../support/orders.ts'
import { scan } from '../../support/purchases.ts'
import { aRow } from '../../support/seeding/imports/staged-imports.ts'
import { seedMessage } from '../../support/seeding/messaging/email-messages.ts'
import { db, write, freshId, unknownId } from '../../support/seeding/rows.ts'
import { seedShop, type Shop, importOrders, anOrder } from '../../support/seeding/sales/orders.ts'
import { enableWallet } from '../../support/seeding/sales/wallet-passes.ts'
import { seedEndpoint } from '../../support/seeding/webhooks.ts'
import { createImporter, loadImport, buildMessage } from '../../support/staged-imports.ts'
import {
  beginUndo,
  importFile,
  buildManyRows,
  dumpBeside,
  listUndone,
  undoToEnd,
} from '../../support/undone-imports.ts'
import { listPurchaseEvents } from '../../support/webhook-rows.ts'

const renderText = (statement: Statement): string => new SQLiteSyncDialect().sqlToQuery(statement.getSQL()).sql

/** A tick longer than a message may take, so that each message does one step. */
const aStepMs = 10_000

let shop: Shop
beforeEach(async () => {
  shop = await seedShop()
})

const findPurchase = async (order: string): Promise<string> =>
  (await db.first(sql<{ id: string }>`select id from purchases where order_id = ${order}`))?.id ?? ''

describe('the undo of an import', () => {
  it('deletes orders, customers and products, and counts them', async () => {
    const { id } = await importFile(shop, buildManyRows(30))
    expect(await countContents(shop)).toMatchObject({ orders: 30, users: 30, purchases: 30, products: 1 })
    const begun = await beginUndo(id)
    expect(begun).toMatchObject({ phase: 'undo', undone_orders: 0 })
    const machine = createImporter()
    await machine.take(buildMessage(id, begun.epoch))
    expect(await countContents(shop)).toMatchObject({ orders: 0, users: 0, purchases: 0, products: 0 })
    const { body } = await get(`/v1/data-imports/${id}`)
    expect(body).toMatchObject({ status: 'undone', undone_orders: 30, kept_orders: 0 })
    expect(body.allowed_actions).not.toContain('undo')
  })
})

describe('an order that changed after the import', () => {
  const touches: [string, (order: string) => Promise<unknown>][] = [
    ['purchase_used', async (order) => scan(await findPurchase(order), { quantity: 1 })],
    [
      'pass_issued',
      async (order) => {
        await enableWallet({ organization: shop.organization_id, edition: shop.edition_id }, await findPurchase(order))
        return post(`/v1/purchases/${await findPurchase(order)}/wallet-passes`, { platform: 'apple' })
      },
    ],
    [
      'email_sent',
      async (order) => {
        const message = await seedMessage({ organization: shop.organization_id, edition: shop.edition_id })
        return write(sql`insert into transactional_emails (id, organization_id, edition_id, order_id, user_id, kind,
            email_message_id, language, recipient, status, created_at, modified_at)
          select ${freshId('transactional_email')}, organization_id, edition_id, id, user_id, 'receipt', ${message}, 'da',
            'a@example.dk', 'sent', ${Date.now()}, ${Date.now()} from orders where id = ${order}`)
      },
    ],
    [
      'refund_requested',
      (order) =>
        write(sql`insert into refund_requests (id, organization_id, edition_id, order_id, transaction_id, user_id,
            target, status, source, reason, currency, requested_minor, created_at, modified_at)
          select ${freshId('refund_request')}, o.organization_id, o.edition_id, o.id, t.id, o.user_id, 'order', 'pending',
            'support', 'other', o.currency, 100, ${Date.now()}, ${Date.now()}
          from orders o join transactions t on t.order_id = o.id where o.id = ${order}`),
    ],
    [
      'order_changed',
      async (order) => {
        const { body } = await get(`/v1/orders/${order}`)
        const sameOrder = { external_id: body.external_id, customer: { email: body.customer.email } }
        return importOrders(
          shop,
          [anOrder({ ...sameOrder, items: [{ product: 'Camping', quantity: 1, unit_price: 1 }] })],
          {
            source: 'shop',
            on_duplicate: 'update',
          },
        )
      },
    ],
    ['purchase_changed', (order) => write(sql`update purchases set version = version + 1 where order_id = ${order}`)],
    [
      'order_missing',
      (order) => write(sql`update import_orders set order_id = ${unknownId(order)} where order_id = ${order}`),
    ],
  ]

  it.each(touches)('stays with its customer and its product: %s', async (reason, touch) => {
    const { id, orders } = await importFile(shop, buildManyRows(3))
    await touch(orders[1] as string)
    const row = await undoToEnd(id)
    expect(row).toMatchObject({ status: 'undone', undone_orders: 2, kept_orders: 1 })
    expect((await listUndone(id)).map(({ undo_outcome, undo_reason }) => [undo_outcome, undo_reason])).toEqual([
      ['undone', null],
      ['kept', reason],
      ['undone', null],
    ])
    const { body } = await get(`/v1/data-imports/${id}/rows`)
    expect(body.results).toMatchObject([
      { undo_outcome: 'undone', undo_reason: null },
      { undo_outcome: 'kept', undo_reason: reason },
      { undo_outcome: 'undone', undo_reason: null },
    ])
    expect(await countContents(shop)).toMatchObject({ orders: 1, users: 1 })
    expect((await get(`/v1/orders/${orders[1]}`)).status).toBe(200)
  })

  it('is deleted when only its ticket expired by itself', async () => {
    const { id, orders } = await importFile(shop, buildManyRows(1))
    await write(sql`update purchases set status = 'expired', version = version + 1 where order_id = ${orders[0]}`)
    expect(await undoToEnd(id)).toMatchObject({ undone_orders: 1, kept_orders: 0 })
  })

  it('stays when the change comes between reading and deleting', async () => {
    const { id, orders } = await importFile(shop, buildManyRows(3))
    const { epoch } = await beginUndo(id)
    const { job } = createImporter()
    const real = job.db.batch.bind(job.db)
    let isTouched = false
    job.db.batch = (async (statements: readonly Statement[]) => {
      if (!isTouched && statements.some((statement) => renderText(statement).includes('delete from orders'))) {
        isTouched = true
        expect((await scan(await findPurchase(orders[1] as string), { quantity: 1 })).status).toBe(201)
      }
      return real(statements)
    }) as typeof job.db.batch
    await workOnImport(job, id, epoch)
    expect(isTouched).toBe(true)
    expect((await listUndone(id)).map(({ undo_reason }) => undo_reason)).toEqual([null, 'purchase_used', null])
    expect(await loadImport(id)).toMatchObject({ status: 'undone', undone_orders: 2, kept_orders: 1 })
  })
})

describe('webhook events of an undo', () => {
  it('cancel the purchases that the import announced, and no others', async () => {
    await seedEndpoint(
      { organization: shop.organization_id, edition: shop.edition_id },
      { events: ['purchase.action'] },
    )
    const silent = await importFile(shop, buildManyRows(1))
    await undoToEnd(silent.id)
    const listActions = async () =>
      (await listPurchaseEvents(shop.organization_id)).map(({ payload }) => JSON.parse(payload).data.action)
    expect(await listActions()).toEqual([])
    const loud = await importFile(shop, buildManyRows(2), { emit_webhooks: true })
    await undoToEnd(loud.id)
    expect((await listActions()).toSorted()).toEqual(['activated', 'activated', 'cancelled', 'cancelled'])
  })
})

describe('an undo that is interrupted', () => {
  it('has the same result after a crash at any point and with repeated messages', async () => {
    const before = await dumpBeside()
    const { id } = await importFile(shop, [
      ...buildManyRows(103),
      aRow({ 'item.product': 'Camping', 'item.variant': 'Red' }),
    ])
    const { epoch } = await beginUndo(id)
    let deaths = 0
    for (let trip = 1; trip < 60; trip++) {
      const death = { roundTrip: (trip % 7) + 1, when: trip % 2 ? ('before' as const) : ('after' as const) }
      const machine = createImporter({ death })
      await machine.take(buildMessage(id, epoch)).catch((error: unknown) => {
        deaths++
        expect(String(error)).toContain('the machine stopped')
      })
      if ((await loadImport(id)).status === 'undone') break
    }
    await Promise.all([createImporter().take(buildMessage(id, epoch)), createImporter().take(buildMessage(id, epoch))])
    expect(deaths).toBeGreaterThan(5)
    expect(await loadImport(id)).toMatchObject({ status: 'undone', undone_orders: 104, kept_orders: 0 })
    expect(await dumpBeside()).toEqual(before)
  })
})

describe('one step of an undo', () => {
  const ofOrder = (id: string) => ({ 'order.external_id': id, 'customer.email': `${id}@example.dk` })

  /** Runs the first step of the undo of two orders, each with some items of 1000 units. */
  const afterOneStep = async (items: number) => {
    const orders = ['T-1', 'T-2'].flatMap((order) =>
      Array.from({ length: items }, () => aRow({ ...ofOrder(order), 'item.quantity': 1000 })),
    )
    const { id } = await importFile(shop, orders)
    const { epoch } = await beginUndo(id)
    await createImporter({ tick: aStepMs }).take(buildMessage(id, epoch))
    return loadImport(id)
  }

  it('has several orders', async () => {
    expect(await afterOneStep(1)).toMatchObject({ undone_orders: 2 })
  })

  it('has one order when several have more purchases than a transaction of an import', async () => {
    expect(await afterOneStep(3)).toMatchObject({ undone_orders: 1 })
  })
})
