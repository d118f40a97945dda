import { waitUntil } from 'cloudflare:workers'
import type { JobCtx, PayRefundsMessage, QueueMessages, QueueName, WorkRefundBatchMessage } from '../context.ts'
import { findQueue, isQueue, maxAttempts } from '../domain/queues.ts'
import { describeError } from '../domain/text/error-text.ts'
import type { Bindings } from '../http/env.ts'
import { logError } from '../http/log.ts'
import { isSendChunksMessage, sendCampaigns } from '../modules/campaigns/jobs.ts'
import { isImportMessage, workOnImports } from '../modules/data-imports/jobs.ts'
import { applyEvents, isEventsMessage } from '../modules/message-events/jobs.ts'
import { isWorkRefundBatchMessage, workRefundBatches } from '../modules/refund-batches/jobs.ts'
import { isPayRefundsMessage, payRefunds } from '../modules/refund-payments/jobs.ts'
import { calculateSegments, isCalculateMessage } from '../modules/segments/jobs.ts'
import { recordDeadMessages } from '../modules/system/jobs.ts'
import { isEmailSendMessage, sendEmails } from '../modules/transactional-emails/jobs.ts'
import { deliverDue, isDeliverMessage } from '../modules/webhooks/jobs.ts'
import { unlessHeld } from './hold.ts'
import { openCurrentJob } from './job.ts'

/** Continues work after its handler has returned. A fault is logged; a sweep finds the unfinished rows. */
export const continueInBackground = (name: string, work: Promise<unknown>): void =>
  waitUntil(work.catch((error: unknown) => logError(name, error)))

interface Consumer<Body> {
  isOwnMessage: (body: unknown) => body is Body
  handle: (job: JobCtx, bodies: readonly Body[]) => Promise<void>
}

const refundConsumer: Consumer<PayRefundsMessage | WorkRefundBatchMessage> = {
  isOwnMessage: (body) => isPayRefundsMessage(body) || isWorkRefundBatchMessage(body),
  handle: async (job, bodies) => {
    await workRefundBatches(job, bodies.filter(isWorkRefundBatchMessage))
    if (bodies.some(isPayRefundsMessage)) await unlessHeld(payRefunds)(job)
  },
}

/** The consumer of each queue. The messages of `<queue>-dead` are only recorded. */
const consumers: { [Name in QueueName]: Consumer<QueueMessages[Name]> } = {
  webhooks: {
    isOwnMessage: isDeliverMessage,
    handle: unlessHeld((job, bodies) => deliverDue(job, [...new Set(bodies.map(({ endpoint_id }) => endpoint_id))])),
  },
  segments: { isOwnMessage: isCalculateMessage, handle: calculateSegments },
  emails: { isOwnMessage: isEmailSendMessage, handle: unlessHeld(sendEmails) },
  refunds: refundConsumer,
  campaigns: { isOwnMessage: isSendChunksMessage, handle: unlessHeld(sendCampaigns) },
  'campaign-events': { isOwnMessage: isEventsMessage, handle: applyEvents },
  imports: { isOwnMessage: isImportMessage, handle: workOnImports },
}

const readBodies = (messages: readonly Message[]): unknown[] => messages.map(({ body }) => body)

/** Records messages that no consumer knows. They are acknowledged, because retrying them cannot help. */
async function dropUnknownMessages(job: JobCtx, queueName: string, messages: readonly Message[]): Promise<void> {
  if (messages.length === 0) return
  const error = new Error('unknown message')
  logError(`queue:${queueName}`, error)
  await recordDeadMessages(job, queueName, readBodies(messages), describeError(error))
  for (const message of messages) message.ack()
}

async function consume<Body>(job: JobCtx, name: string, batch: MessageBatch, consumer: Consumer<Body>): Promise<void> {
  const isKnown = (message: Message): message is Message<Body> => consumer.isOwnMessage(message.body)
  const knownMessages = batch.messages.filter(isKnown)
  const unknownMessages = batch.messages.filter((message) => !isKnown(message))
  await dropUnknownMessages(job, name, unknownMessages)
  await consumer.handle(
    job,
    knownMessages.map(({ body }) => body),
  )
  for (const message of knownMessages) message.ack()
}

/** True if the queue would move the message to its dead-letter queue now. */
const isLastAttempt = (queueName: string, { attempts }: Message): boolean =>
  isQueue(queueName) && attempts >= maxAttempts[queueName]

/**
 * Retries messages after an error of their consumer. Those that were retried often enough are stored with the error. If
 * that fails too, the platform moves them to the dead-letter queue, without it.
 */
async function retryOrRecord(job: JobCtx, name: string, batch: MessageBatch, error: unknown): Promise<void> {
  logError(`queue:${batch.queue}`, error)
  const retry = (messages: readonly Message[]) => {
    for (const message of messages) message.retry({ delaySeconds: Math.min(60, 2 ** message.attempts) })
  }
  const lastAttempts = batch.messages.filter((message) => isLastAttempt(name, message))
  retry(batch.messages.filter((message) => !lastAttempts.includes(message)))
  try {
    await recordDeadMessages(job, name, readBodies(lastAttempts), describeError(error))
    for (const message of lastAttempts) message.ack()
  } catch (recordError) {
    logError(`queue:${batch.queue}`, recordError)
    retry(lastAttempts)
  }
}

/** Handles one batch of a queue. If its consumer throws, the messages are retried later. */
export async function handleBatch(job: JobCtx, batch: MessageBatch): Promise<void> {
  const { queue: name, isDead } = findQueue(batch.queue)
  if (isDead) {
    await recordDeadMessages(job, name, readBodies(batch.messages), null)
    return batch.ackAll()
  }
  try {
    const consumer = consumers[name as QueueName] as Consumer<unknown> | undefined
    if (!consumer) throw new Error('no consumer for the messages of this queue')
    await consume(job, name, batch, consumer)
  } catch (error) {
    await retryOrRecord(job, name, batch, error)
  }
}

export const queue = async (batch: MessageBatch, env: Bindings): Promise<void> =>
  handleBatch(await openCurrentJob(env), batch)
