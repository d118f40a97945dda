import type { JobCtx } from '../../context.ts'

/** Only says that refunds are due: the consumer finds in the table which, and the sweep makes up for a lost message. */
export const enqueueRefunds = (job: Pick<JobCtx, 'jobQueue'>, delayMs = 0): Promise<void> =>
  job.jobQueue.enqueue('refunds', [{ type: 'refund.pay' }], delayMs / 1000)
