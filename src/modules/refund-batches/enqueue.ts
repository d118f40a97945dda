import type { JobCtx } from '../../context.ts'

/** A message only says that there is work; the consumer reads the batch. A sweep replaces lost messages. */
export const enqueueBatches = (job: Pick<JobCtx, 'jobQueue'>, ids: readonly string[]): Promise<void> =>
  job.jobQueue.enqueue(
    'refunds',
    ids.map((id) => ({ type: 'refund-batch.work', batch_id: id })),
  )
