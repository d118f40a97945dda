import type { JobCtx } from '../../context.ts'

/** Only says that batches have something to do: the consumer finds in their rows what, and the sweep makes up for a lost message. */
export const enqueueBatches = (job: Pick<JobCtx, 'jobQueue'>, ids: readonly string[]): Promise<void> =>
  job.jobQueue.enqueue(
    'refunds',
    ids.map((id) => ({ type: 'refund-batch.work', batch_id: id })),
  )
