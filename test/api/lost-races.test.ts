import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Ctx, QueueName } from '../../src/context.ts'
import { LostRace } from '../../src/domain/errors.ts'
import { createPurchaseUse } from '../../src/modules/purchases/uses/create-use.ts'
import { findUsablePurchase } from '../../src/modules/purchases/uses/use-queries.ts'
import { createPurchaseRefundRequest } from '../../src/modules/refunds/create.ts'
import { approveRefundRequest } from '../../src/modules/refunds/decisions/approve.ts'
import { findRefund } from '../../src/modules/refunds/queries.ts'
import { createContextAt } from '../support/context.ts'
import { listAnnounced } from '../support/purchases.ts'
import { requestPurchaseRefund, oneTicket } from '../support/refunds.ts'
import { db } from '../support/seeding/rows.ts'
import { type Shop, givenOrder, seedShopWithAccount } from '../support/seeding/sales/orders.ts'
import { neverOpen, seedEndpoint } from '../support/seeding/webhooks.ts'

let shop: Shop
beforeAll(async () => {
  shop = await seedShopWithAccount('test')
  await seedEndpoint({ organization: shop.organization_id, edition: shop.edition_id })
})

/** Sends a request whose row another request changes just before the commit, and returns the work that follows it. */
function raced(happen: () => Promise<unknown>) {
  const work: (() => Promise<unknown>)[] = []
  const enqueued: QueueName[] = []
  let now = Date.now()
  const ctx: Ctx = {
    ...createContextAt(now),
    now: () => now,
    afterCommit: (one) => void work.push(one),
    jobQueue: { enqueue: async (name, messages) => void enqueued.push(...messages.map(() => name)) },
  }
  const batch = ctx.db.batch.bind(ctx.db)
  let tries = 0
  ctx.db.batch = async (statements) => {
    // Statements that only read come in batches of one or two.
    if (statements.length > 2 && ++tries === 1) await happen()
    return batch(statements)
  }
  // The breaker of a seeded endpoint is open, so that nothing is posted to it.
  const finish = async () => {
    now = neverOpen
    await Promise.all(work.map((start) => start()))
    return enqueued
  }
  return { ctx, finish, work, tries: () => tries }
}

const use = (id: string) => db.all(sql`update purchases set status = 'used' where id = ${id}`)

describe('a request whose change lost a race', () => {
  it('is decided again, and its events are enqueued once', async () => {
    const { purchases } = await givenOrder(shop, oneTicket)
    const [id = ''] = purchases
    const { ctx, finish, tries } = raced(() => use(id))
    await createPurchaseRefundRequest(ctx, id, { reason: 'other' })
    expect(tries()).toBe(2)
    expect(await listAnnounced({ id, shop })).toEqual(['refund_requested:used'])
    expect(await finish()).toEqual(['webhooks'])
  })

  it('starts no background work when it is not decided again', async () => {
    const { purchases } = await givenOrder(shop, oneTicket)
    const [id = ''] = purchases
    const { body } = await requestPurchaseRefund(id)
    const { ctx, work } = raced(() => use(id))
    await expect(approveRefundRequest(ctx, await findRefund(ctx, body.id), {})).rejects.toThrow(LostRace)
    expect(work).toEqual([])
    await approveRefundRequest(ctx, await findRefund(ctx, body.id), {})
    expect(work).not.toEqual([])
  })

  it('enqueues the work of the second try alone when it uses a ticket', async () => {
    const { purchases } = await givenOrder(shop, oneTicket)
    const [id = ''] = purchases
    const { ctx, finish } = raced(() => db.all(sql`update purchases set uses_count = uses_limit where id = ${id}`))
    const attempt = async () => createPurchaseUse(ctx, await findUsablePurchase(ctx, id), {})
    await expect(attempt()).rejects.toThrow(LostRace)
    await db.all(sql`update purchases set uses_count = 0 where id = ${id}`)
    await attempt()
    expect(await finish()).toEqual(['webhooks'])
  })
})
