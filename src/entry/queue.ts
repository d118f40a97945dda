import { waitUntil } from 'cloudflare:workers'
import type { JobCtx, PayRefundsMessage, QueueMessages, QueueName, WorkRefundBatchMessage } from '../context.ts'
import { deadMessages } from '../db/schema/dead-messages.ts'
import { insertAll } from '../db/write.ts'
import type { Bindings } from '../http/env.ts'
import { logError } from '../http/log.ts'
import { isSendChunksMessage, sendCampaigns } from '../modules/campaigns/jobs.ts'
import { isImportMessage, workOnImports } from '../modules/data-imports/jobs.ts'
import { applyEvents, isEventsMessage } from '../modules/message-events/jobs.ts'
import { isWorkRefundBatchMessage, workRefundBatches } from '../modules/refund-batches/jobs.ts'
import { isPayRefundsMessage, payRefunds } from '../modules/refund-payments/jobs.ts'
import { calculateSegments, isCalculateMessage } from '../modules/segments/jobs.ts'
import { isEmailSendMessage, sendEmails } from '../modules/transactional-emails/jobs.ts'
import { deliverDue, isDeliverMessage } from '../modules/webhooks/jobs.ts'
import { openJob } from './job.ts'

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
    if (bodies.some(isPayRefundsMessage)) await payRefunds(job)
  },
}

/** The consumer of each queue. The messages of `<queue>-dead` are only recorded. */
const consumers: { [Name in QueueName]: Consumer<QueueMessages[Name]> } = {
  webhooks: {
    isOwnMessage: isDeliverMessage,
    handle: (job, bodies) => deliverDue(job, [...new Set(bodies.map(({ endpoint_id }) => endpoint_id))]),
  },
  segments: { isOwnMessage: isCalculateMessage, handle: calculateSegments },
  emails: { isOwnMessage: isEmailSendMessage, handle: sendEmails },
  refunds: refundConsumer,
  campaigns: { isOwnMessage: isSendChunksMessage, handle: sendCampaigns },
  'campaign-events': { isOwnMessage: isEventsMessage, handle: applyEvents },
  imports: { isOwnMessage: isImportMessage, handle: workOnImports },
}

/** Stores messages of a dead-letter queue for analysis. The work itself is still in the tables. */
async function recordDeadMessages(job: JobCtx, queueName: string, messages: readonly Message[]): Promise<void> {
  const rows = messages.map(({ body }) => ({
    id: job.newId('dead_message'),
    queue: queueName,
    body: JSON.stringify(body) ?? 'undefined',
    created_at: job.now(),
  }))
  if (rows.length) await job.db.batch(insertAll(deadMessages, rows))
}

/** Records messages that no consumer knows. They are acknowledged, because retrying them cannot help. */
async function dropUnknownMessages(job: JobCtx, queueName: string, messages: readonly Message[]): Promise<void> {
  if (messages.length === 0) return
  logError(`queue:${queueName}`, new Error('unknown message'))
  await recordDeadMessages(job, queueName, messages)
  for (const message of messages) message.ack()
}

async function consume<Body>(job: JobCtx, batch: MessageBatch, consumer: Consumer<Body>): Promise<void> {
  const isKnown = (message: Message): message is Message<Body> => consumer.isOwnMessage(message.body)
  const knownMessages = batch.messages.filter(isKnown)
  const unknownMessages = batch.messages.filter((message) => !isKnown(message))
  await dropUnknownMessages(job, batch.queue, unknownMessages)
  await consumer.handle(
    job,
    knownMessages.map(({ body }) => body),
  )
  for (const message of knownMessages) message.ack()
}

/** Handles one batch of a queue. If its consumer throws, the messages are retried later. */
export async function handleBatch(job: JobCtx, batch: MessageBatch): Promise<void> {
  if (batch.queue.endsWith('-dead')) {
    await recordDeadMessages(job, batch.queue, batch.messages)
    return batch.ackAll()
  }
  try {
    const consumer = consumers[batch.queue as QueueName] as Consumer<unknown> | undefined
    if (!consumer) throw new Error('no consumer for the messages of this queue')
    await consume(job, batch, consumer)
  } catch (error) {
    logError(`queue:${batch.queue}`, error)
    // This does not retry messages that were acknowledged already: the first decision on a message counts.
    for (const message of batch.messages) message.retry({ delaySeconds: Math.min(60, 2 ** message.attempts) })
  }
}

export const queue = (batch: MessageBatch, env: Bindings): Promise<void> => handleBatch(openJob(env), batch)
