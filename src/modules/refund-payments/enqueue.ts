import type { JobCtx } from '../../context.ts'

/** The message only says that refunds are due; the consumer reads which ones. A sweep replaces lost messages. */
export const enqueueRefunds = (job: Pick<JobCtx, 'jobQueue'>, delayMs = 0): Promise<void> =>
  job.jobQueue.enqueue('refunds', [{ type: 'refund.pay' }], delayMs / 1000)
