import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { JobCtx, WorkRefundBatchMessage } from '../../context.ts'
import { claimUntil, isClaimable, release } from '../../db/claims.ts'
import { retryLostRaces } from '../../db/commit.ts'
import { refundBatches } from '../../db/schema/refunds.ts'
import { decodeAs } from '../../db/select.ts'
import { update } from '../../db/write.ts'
import { isHeld } from '../../domain/waiting.ts'
import { countNextOrders, recordCount } from './count.ts'
import { enqueueBatches } from './enqueue.ts'
import { type BatchRow, loadBatch } from './queries.ts'
import { requestNextOrders } from './request.ts'

/** After this time, a consumer leaves the rest to the next one. */
const shiftMs = 15_000
/** Longer than a shift and its last step. */
const claimMs = 90_000
const customersPerStep = 1000
const batchesPerSweep = 20

export const isWorkRefundBatchMessage = (body: unknown): body is WorkRefundBatchMessage =>
  typeof body === 'object' &&
  body !== null &&
  (body as Partial<WorkRefundBatchMessage>).type === 'refund-batch.work' &&
  typeof (body as Partial<WorkRefundBatchMessage>).batch_id === 'string'

/** True while purchases of the edition move to another product. A batch that counts by product would leave them out. */
const isMerging = sql`exists (select 1 from product_merges
  where product_merges.edition_id = refund_batches.edition_id and product_merges.due_at is not null)`

/** Nothing is paid while that is held, so a batch that runs requests no further refunds. */
const mayWork = ({ config }: Pick<JobCtx, 'config'>): SQL => (isHeld(config) ? sql`status <> 'running'` : sql`true`)

/** Claims a batch that is due. No other consumer gets it before the claim ends. */
const claimBatch = (job: JobCtx, id: string): Promise<BatchRow | undefined> => {
  const at = job.now()
  return job.db.first(
    decodeAs(
      getTableColumns(refundBatches),
      sql<BatchRow>`update refund_batches set ${claimUntil(at, claimMs)}
        where id = ${id} and due_at <= ${at} and ${isClaimable(at)} and ${mayWork(job)} and not ${isMerging} returning *`,
    ),
  )
}

/** Deletes some of the rows of the dry run. When none is left, the batch has no more work. */
const deleteCustomers = ({ db }: JobCtx, { id, version }: BatchRow): Promise<unknown> =>
  db.batch([
    sql`delete from refund_batch_customers where batch_id = ${id} and user_id in
      (select user_id from refund_batch_customers where batch_id = ${id} limit ${customersPerStep})`,
    sql`update refund_batches set due_at = null, ${release}
      where id = ${id} and version = ${version} and changes() < ${customersPerStep}`,
  ])

/** Does one step of a batch. Returns false when the batch has no work or another consumer has claimed it. */
const doStep = (job: JobCtx, { id, claimed_until }: BatchRow): Promise<boolean> =>
  retryLostRaces(async () => {
    const batch = await loadBatch(job, id)
    if (!batch || batch.due_at === null || batch.claimed_until !== claimed_until) return false
    if (batch.status === 'counting') await recordCount(job, batch, await countNextOrders(job, batch))
    else if (batch.status === 'running') await requestNextOrders(job, batch)
    else await deleteCustomers(job, batch)
    return true
  })

const releaseBatch = ({ db }: JobCtx, { id, claimed_until }: BatchRow): Promise<unknown> =>
  db.all(update(refundBatches, { claimed_until: null }, sql`id = ${id} and claimed_until = ${claimed_until}`))

async function workOn(job: JobCtx, id: string, endsAt: number): Promise<void> {
  const claim = await claimBatch(job, id)
  if (!claim) return
  while (await doStep(job, claim))
    if (job.now() >= endsAt) {
      await releaseBatch(job, claim)
      return enqueueBatches(job, [id])
    }
}

/** Works on the batches of these messages. A message that comes twice or late does nothing. */
export async function workRefundBatches(job: JobCtx, messages: readonly WorkRefundBatchMessage[]): Promise<void> {
  const endsAt = job.now() + shiftMs
  for (const id of new Set(messages.map(({ batch_id }) => batch_id))) await workOn(job, id, endsAt)
}

/** Sends messages for due batches, because messages get lost and claims end. */
export async function sweepRefundBatches(job: JobCtx): Promise<void> {
  const now = job.now()
  const dueBatches = await job.db.all(sql<{ id: string }>`select id from refund_batches indexed by refund_batches_due
    where due_at <= ${now} and ${isClaimable(now)} and ${mayWork(job)} order by due_at limit ${batchesPerSweep}`)
  await enqueueBatches(
    job,
    dueBatches.map(({ id }) => id),
  )
}
