import type { DoorbellMessage, JobCtx } from '../context.ts'
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
  const known = batch.messages.filter(ringsForUs)
  const strange = batch.messages.filter((message) => !ringsForUs(message))
  try {
    await letGo(job, batch.queue, strange)
    const endpoints = new Set(known.map(({ body }) => body.endpoint_id))
    await deliver(job, batch.queue === slowQueue ? 'slow' : 'fast', [...endpoints])
    for (const message of known) message.ack()
  } catch (error) {
    logError(`queue:${batch.queue}`, error)
    // Messages that are let go already stay so: the first word on a message counts.
    for (const message of batch.messages) message.retry({ delaySeconds: Math.min(60, 2 ** message.attempts) })
  }
}

const ringsForUs = (message: Message): message is Message<DoorbellMessage> => isDoorbellMessage(message.body)

async function letGo(job: JobCtx, queue: string, messages: readonly Message[]): Promise<void> {
  if (messages.length === 0) return
  logError(`queue:${queue}`, new Error('unknown message'))
  await recordDead(
    job,
    queue,
    messages.map(({ body }) => body),
  )
  for (const message of messages) message.ack()
}

export const queue = (batch: MessageBatch, env: Bindings): Promise<void> => takeBatch(openJob(env), batch)
