import { getTableColumns, sql } from 'drizzle-orm'
import type { JobCtx, WorkRefundBatchMessage } from '../../context.ts'
import { retryLostRaces } from '../../db/commit.ts'
import { refundBatches } from '../../db/schema/sales/refund-batches.ts'
import { decodeAs } from '../../db/select.ts'
import { update } from '../../db/write.ts'
import { countNext, writeCounted } from './count.ts'
import { enqueueBatches } from './enqueue.ts'
import { type BatchRow, loadBatch } from './queries.ts'
import { requestNext } from './request.ts'

/** A consumer works this long before it leaves the rest to the next. */
const shiftMs = 15_000
/** Longer than a shift and its last step. */
const leaseMs = 90_000
const customersAStep = 1000
const batchesASweep = 20

export const isWorkRefundBatchMessage = (body: unknown): body is WorkRefundBatchMessage =>
  typeof body === 'object' &&
  body !== null &&
  (body as Partial<WorkRefundBatchMessage>).type === 'refund-batch.work' &&
  typeof (body as Partial<WorkRefundBatchMessage>).batch_id === 'string'

/** Claims a batch that is due. No other consumer gets it before the lease ends. */
const claim = ({ db, now }: JobCtx, id: string): Promise<BatchRow | undefined> => {
  const at = now()
  return db.first(
    decodeAs(
      getTableColumns(refundBatches),
      sql<BatchRow>`update refund_batches set lease_until = ${at + leaseMs}
        where id = ${id} and due_at <= ${at} and coalesce(lease_until, 0) <= ${at} returning *`,
    ),
  )
}

/** Deletes rows of the dry run, a limited number at once. The batch is due no more when none is left. */
const clear = ({ db }: JobCtx, { id, version }: BatchRow): Promise<unknown> =>
  db.batch([
    sql`delete from refund_batch_customers where batch_id = ${id} and user_id in
      (select user_id from refund_batch_customers where batch_id = ${id} limit ${customersAStep})`,
    sql`update refund_batches set due_at = null, lease_until = null
      where id = ${id} and version = ${version} and changes() < ${customersAStep}`,
  ])

/** Takes one step of a batch. False when the batch is not due or another consumer has it. */
const work = (job: JobCtx, { id, lease_until }: BatchRow): Promise<boolean> =>
  retryLostRaces(async () => {
    const batch = await loadBatch(job, id)
    if (!batch || batch.due_at === null || batch.lease_until !== lease_until) return false
    if (batch.status === 'counting') await writeCounted(job, batch, await countNext(job, batch))
    else if (batch.status === 'running') await requestNext(job, batch)
    else await clear(job, batch)
    return true
  })

const release = ({ db }: JobCtx, { id, lease_until }: BatchRow): Promise<unknown> =>
  db.all(update(refundBatches, { lease_until: null }, sql`id = ${id} and lease_until = ${lease_until}`))

async function workOn(job: JobCtx, id: string, endsAt: number): Promise<void> {
  const taken = await claim(job, id)
  if (!taken) return
  while (await work(job, taken))
    if (job.now() >= endsAt) {
      await release(job, taken)
      return enqueueBatches(job, [id])
    }
}

/** Works on the batches that these messages name. A message that comes twice, or late, does nothing. */
export async function workRefundBatches(job: JobCtx, messages: readonly WorkRefundBatchMessage[]): Promise<void> {
  const endsAt = job.now() + shiftMs
  for (const id of new Set(messages.map(({ batch_id }) => batch_id))) await workOn(job, id, endsAt)
}

/** Sends messages for due batches, because messages get lost and leases run out. */
export async function sweepRefundBatches(job: JobCtx): Promise<void> {
  const now = job.now()
  const due = await job.db.all(sql<{ id: string }>`select id from refund_batches indexed by refund_batches_due
    where due_at <= ${now} and coalesce(lease_until, 0) <= ${now} order by due_at limit ${batchesASweep}`)
  await enqueueBatches(
    job,
    due.map(({ id }) => id),
  )
}
