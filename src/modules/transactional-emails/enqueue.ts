import type { JobCtx } from '../../context.ts'

/** The queue message only says that there is work; the consumer reads the work from the table. */
export const enqueueEmails = (job: Pick<JobCtx, 'jobQueue'>, delayMs = 0): Promise<void> =>
  job.jobQueue.enqueue('emails', [{ type: 'email.send' }], delayMs / 1000)
