import type { JobCtx, PayRefundsMessage, QueueMessages, QueueName, WorkRefundBatchMessage } from '../context.ts'
import type { Bindings } from '../http/env.ts'
import { logError } from '../http/log.ts'
import { isSendChunksMessage, sendCampaigns } from '../modules/campaigns/jobs.ts'
import { isWorkRefundBatchMessage, workRefundBatches } from '../modules/refund-batches/jobs.ts'
import { isPayRefundsMessage, payRefunds } from '../modules/refund-payments/jobs.ts'
import { isImportMessage, workOnImports } from '../modules/data-imports/jobs.ts'
import { calculateSegments, isCalculateMessage } from '../modules/segments/jobs.ts'
import { isEmailSendMessage, sendEmails } from '../modules/transactional-emails/jobs.ts'
import { applyEvents, isEventsMessage } from '../modules/message-events/jobs.ts'
import { deliverDue, isDeliverMessage } from '../modules/webhooks/jobs.ts'
import { recordDead } from './dead-letters.ts'
import { openJob } from './job.ts'

interface Consumer<Body> {
  isOurs: (body: unknown) => body is Body
  take: (job: JobCtx, bodies: readonly Body[]) => Promise<void>
}

const refunds: Consumer<PayRefundsMessage | WorkRefundBatchMessage> = {
  isOurs: (body) => isPayRefundsMessage(body) || isWorkRefundBatchMessage(body),
  take: async (job, bodies) => {
    await workRefundBatches(job, bodies.filter(isWorkRefundBatchMessage))
    if (bodies.some(isPayRefundsMessage)) await payRefunds(job)
  },
}

/** The handler of each queue. Messages of `<queue>-dead` are recorded. */
const consumers: { [Name in QueueName]: Consumer<QueueMessages[Name]> } = {
  webhooks: {
    isOurs: isDeliverMessage,
    take: (job, bodies) => deliverDue(job, [...new Set(bodies.map(({ endpoint_id }) => endpoint_id))]),
  },
  segments: { isOurs: isCalculateMessage, take: calculateSegments },
  emails: { isOurs: isEmailSendMessage, take: sendEmails },
  refunds,
  campaigns: { isOurs: isSendChunksMessage, take: sendCampaigns },
  'campaign-events': { isOurs: isEventsMessage, take: applyEvents },
  imports: { isOurs: isImportMessage, take: workOnImports },
}

const bodiesOf = (messages: readonly Message[]): unknown[] => messages.map(({ body }) => body)

async function letGo(job: JobCtx, queue: string, messages: readonly Message[]): Promise<void> {
  if (messages.length === 0) return
  logError(`queue:${queue}`, new Error('unknown message'))
  await recordDead(job, queue, bodiesOf(messages))
  for (const message of messages) message.ack()
}

async function consume<Body>(job: JobCtx, batch: MessageBatch, { isOurs, take }: Consumer<Body>): Promise<void> {
  const isKnown = (message: Message): message is Message<Body> => isOurs(message.body)
  const known = batch.messages.filter(isKnown)
  await letGo(
    job,
    batch.queue,
    batch.messages.filter((message) => !isKnown(message)),
  )
  await take(
    job,
    known.map(({ body }) => body),
  )
  for (const message of known) message.ack()
}

/**
 * Handles one batch of messages. An unknown message is logged and acknowledged, never retried. A message that fails is
 * retried, and recorded after the last try.
 */
export async function takeBatch(job: JobCtx, batch: MessageBatch): Promise<void> {
  if (batch.queue.endsWith('-dead')) {
    await recordDead(job, batch.queue, bodiesOf(batch.messages))
    return batch.ackAll()
  }
  try {
    const consumer = consumers[batch.queue as QueueName] as Consumer<unknown> | undefined
    if (!consumer) throw new Error('no consumer for the messages of this queue')
    await consume(job, batch, consumer)
  } catch (error) {
    logError(`queue:${batch.queue}`, error)
    // Messages that were acknowledged stay so, because the first decision on a message counts.
    for (const message of batch.messages) message.retry({ delaySeconds: Math.min(60, 2 ** message.attempts) })
  }
}

export const queue = (batch: MessageBatch, env: Bindings): Promise<void> => takeBatch(openJob(env), batch)
