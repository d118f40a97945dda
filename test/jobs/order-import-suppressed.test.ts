import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Client, Database } from '../../src/db/database.ts'
import { hashAddress } from '../../src/domain/messaging/suppressions.ts'
import { newMeter } from '../../src/domain/meter.ts'
import { workOnImports } from '../../src/modules/data-imports/jobs.ts'
import { aRow, buildRows, seedStarted } from '../support/seeding/imports/staged-imports.ts'
import { db, write } from '../support/seeding/rows.ts'
import { seedShop, type Shop } from '../support/seeding/sales/orders.ts'
import { expectExact, createImporter, buildMessage } from '../support/staged-imports.ts'

let shop: Shop
beforeEach(async () => {
  shop = await seedShop()
})

/** Seeds what the erasure of a customer with a suppressed address leaves. */
async function leaveHash(address: string): Promise<void> {
  const hash = await hashAddress(shop.organization_id, { channel: 'email', address })
  await write(sql`insert into suppression_hashes (organization_id, channel, address_hash, reason, created_at)
    values (${shop.organization_id}, 'email', ${hash}, 'unsubscribed', 1)`)
}

/** Runs `work` once, just before the n-th time that orders are written. */
function interruptImport(work: () => Promise<void>, before = 1): { client: Client; commits: () => number } {
  const inserts = new WeakSet<object>()
  let commits = 0
  const prepare = (text: string) => {
    const statement = env.DB.prepare(text)
    return {
      bind: (...params: unknown[]) => {
        const bound = statement.bind(...params)
        if (text.startsWith('insert into "orders"')) inserts.add(bound)
        return bound
      },
    } as unknown as D1PreparedStatement
  }
  const batch = async <Row>(statements: D1PreparedStatement[]) => {
    const isCommit = statements.some((statement) => inserts.has(statement))
    if (isCommit && ++commits === before) await work()
    return env.DB.batch<Row>(statements)
  }
  return { client: { prepare, batch }, commits: () => commits }
}

const listSuppressions = () =>
  db.all(sql`select channel, address, reason from suppressions where organization_id = ${shop.organization_id}`)
const hashes = () => db.all(sql`select 1 from suppression_hashes where organization_id = ${shop.organization_id}`)

describe('an order of an erased customer with a suppressed address', () => {
  const address = 'erased@example.test'
  const rows = () => [aRow(), aRow({ 'customer.email': address })]

  it('suppresses the address again', async () => {
    await leaveHash(address)
    const id = await seedStarted(shop, rows())
    await createImporter().take(buildMessage(id))
    await expectExact(shop, id)
    expect(await listSuppressions()).toEqual([{ channel: 'email', address, reason: 'unsubscribed' }])
    expect(await hashes()).toEqual([])
  })

  it('suppresses the address again when the erasure comes while the order is decided', async () => {
    const id = await seedStarted(shop, rows())
    const { client, commits } = interruptImport(() => leaveHash(address))
    await workOnImports({ ...createImporter().job, db: new Database(client, newMeter()) }, [buildMessage(id)])
    const { row } = await expectExact(shop, id)
    expect([commits(), row.created_orders]).toEqual([2, 2])
    expect(await listSuppressions()).toEqual([{ channel: 'email', address, reason: 'unsubscribed' }])
    expect(await hashes()).toEqual([])
  })

  it('suppresses the address again when the erasure comes in the middle of the import', async () => {
    const id = await seedStarted(shop, [...buildRows(25), ...rows()])
    const { client, commits } = interruptImport(() => leaveHash(address), 2)
    await workOnImports({ ...createImporter().job, db: new Database(client, newMeter()) }, [buildMessage(id)])
    const { row } = await expectExact(shop, id)
    expect([commits(), row.created_orders]).toEqual([3, 27])
    expect(await listSuppressions()).toEqual([{ channel: 'email', address, reason: 'unsubscribed' }])
    expect(await hashes()).toEqual([])
  })
})
