import type { JobCtx } from '../context.ts'
import type { Bindings } from '../http/env.ts'
import { logError } from '../http/log.ts'
import { deliver, isDoorbellMessage, recordDead } from '../modules/webhooks/jobs.ts'
import { openJob } from './job.ts'

const deadLetterQueue = 'webhooks-dead'
const slowQueue = 'webhooks-slow'

/**
 * One batch of messages. A message that says nothing we know is noted and let go, never retried; what fails on our own
 * side is retried and, in the end, recorded.
 */
export async function takeBatch(job: JobCtx, batch: MessageBatch): Promise<void> {
  if (batch.queue === deadLetterQueue) {
    await recordDead(
      job,
      batch.queue,
      batch.messages.map((message) => message.body),
    )
    return batch.ackAll()
  }
  const known = batch.messages.filter((message) => isDoorbellMessage(message.body))
  for (const message of batch.messages)
    if (!known.includes(message)) {
      logError(`queue:${batch.queue}`, new Error('unknown message'))
      await recordDead(job, batch.queue, [message.body])
      message.ack()
    }
  const endpoints = new Set(known.flatMap(({ body }) => (isDoorbellMessage(body) ? [body.endpoint_id] : [])))
  try {
    await deliver(job, batch.queue === slowQueue ? 'slow' : 'fast', [...endpoints])
    for (const message of known) message.ack()
  } catch (error) {
    logError(`queue:${batch.queue}`, error)
    for (const message of known) message.retry({ delaySeconds: Math.min(60, 2 ** message.attempts) })
  }
}

export const queue = (batch: MessageBatch, env: Bindings): Promise<void> => takeBatch(openJob(env), batch)
