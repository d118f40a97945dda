import { sql } from 'drizzle-orm'
import { expect } from 'vitest'
import type { JobCtx } from '../../src/context.ts'
import { sweepRefundBatches, workRefundBatches } from '../../src/modules/refund-batches/jobs.ts'
import { get, post, type Reply } from './api.ts'
import { createJob } from './campaigns.ts'
import { db } from './seeding/rows.ts'
import { anOrder, importOrders, type Shop } from './seeding/sales/orders.ts'

export const loadBatch = async (id: string): Promise<Reply['body']> => (await get(`/v1/refund-batches/${id}`)).body

export const actOnBatch = (id: string, action: 'start' | 'cancel', token?: string): Promise<Reply> =>
  post(`/v1/refund-batches/${id}/${action}`, {}, token)

/** A job whose queue drops all messages. */
export const createQuietJob = (parts: Partial<JobCtx> = {}): JobCtx =>
  createJob({ jobQueue: { enqueue: async () => undefined }, ...parts })

/** Runs one consumer for a message about the batch. */
export const consume = (id: string, job = createQuietJob()): Promise<void> =>
  workRefundBatches(job, [{ type: 'refund-batch.work', batch_id: id }])

export const sweep = (job = createQuietJob()): Promise<void> => sweepRefundBatches(job)

/** Ends the claims of consumers that crashed. */
export const expireLeases = (): Promise<unknown> =>
  db.all(sql`update refund_batches set claimed_until = 0 where claimed_until is not null`)

/** Runs consumers one after another until the batch has no more work. */
export async function workUntilDone(id: string): Promise<Reply['body']> {
  for (let tries = 0; tries < 50; tries++) {
    await consume(id)
    const row = await db.first(sql<{ due_at: number | null }>`select due_at from refund_batches where id = ${id}`)
    if (row?.due_at === null) return loadBatch(id)
    await expireLeases()
  }
  throw new Error('the batch has no end')
}

/** Imports paid orders, each of another customer. `change` replaces fields of all of them. */
export async function importPaidOrders(shop: Shop, count: number, change: Record<string, unknown> = {}): Promise<void> {
  for (let importedCount = 0; importedCount < count; importedCount += 100) {
    const orders = Array.from({ length: Math.min(100, count - importedCount) }, () =>
      anOrder({ created: '2026-01-01T10:00:00Z', ...change }),
    )
    expect((await importOrders(shop, orders)).status).toBe(201)
  }
}

/** Counts the purchases of the edition by the number of requests of the batch that include them. */
export async function countRequestsPerPurchase(id: string): Promise<Record<number, number>> {
  const rows = await db.all(sql<{ times: number; purchases: number }>`select times, count(*) as purchases from
    (select purchases.id, (select count(*) from refund_items join refund_requests
        on refund_requests.id = refund_items.refund_request_id
        where refund_items.purchase_id = purchases.id and refund_requests.batch_id = ${id}) as times
      from purchases where edition_id = (select edition_id from refund_batches where id = ${id}))
    group by times order by times`)
  return Object.fromEntries(rows.map(({ times, purchases }) => [times, purchases]))
}

/** Expects the stored totals to equal the sums of the requests. */
export async function expectTotalsToBeSums(id: string): Promise<void> {
  const totals = await db.all(sql`select currency, status, needs_attention, requests, amount_minor
    from refund_batch_totals where batch_id = ${id} and (requests <> 0 or amount_minor <> 0)
    order by currency, status, needs_attention`)
  const sums = await db.all(sql`select currency, status, needs_attention, count(*) as requests,
      sum(coalesce(approved_minor, requested_minor)) as amount_minor
    from refund_requests where batch_id = ${id} group by currency, status, needs_attention
    order by currency, status, needs_attention`)
  expect(totals).toEqual(sums)
}
