import type { JobCtx } from '../../context.ts'

/**
 * A message says only that there is work. The consumer reads the batch's row, and the sweep replaces a lost message.
 */
export const enqueueBatches = (job: Pick<JobCtx, 'jobQueue'>, ids: readonly string[]): Promise<void> =>
  job.jobQueue.enqueue(
    'refunds',
    ids.map((id) => ({ type: 'refund-batch.work', batch_id: id })),
  )
