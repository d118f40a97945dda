import type { JobCtx, QueueMessages, QueueName } from '../../context.ts'

/** Puts a dead message back into its queue. Every consumer can handle a message twice. */
export const enqueueAgain = (job: Pick<JobCtx, 'jobQueue'>, queue: QueueName, body: string): Promise<void> =>
  job.jobQueue.enqueue(queue, [JSON.parse(body) as QueueMessages[typeof queue]])
