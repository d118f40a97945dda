import type { JobQueue, QueueMessages, QueueName } from '../context.ts'
import type { Bindings } from '../http/env.ts'

const messagesPerCall = 100
const maxDelaySeconds = 43_200

const bindings = {
  webhooks: 'WEBHOOKS',
  segments: 'SEGMENTS',
  emails: 'EMAILS',
  refunds: 'REFUNDS',
  campaigns: 'CAMPAIGNS',
  'campaign-events': 'CAMPAIGN_EVENTS',
  imports: 'IMPORTS',
} as const satisfies Record<QueueName, keyof Bindings>

/** The queues of the platform. */
export const jobQueueOf = (env: Bindings): JobQueue => ({
  async enqueue<Name extends QueueName>(name: Name, messages: readonly QueueMessages[Name][], delaySeconds = 0) {
    const queue: Queue<QueueMessages[Name]> = env[bindings[name]]
    const delay = { delaySeconds: Math.min(Math.max(0, Math.ceil(delaySeconds)), maxDelaySeconds) }
    for (let start = 0; start < messages.length; start += messagesPerCall)
      await queue.sendBatch(messages.slice(start, start + messagesPerCall).map((body) => ({ body, ...delay })))
  },
})
