import type { Doorbell, DoorbellMessage } from '../context.ts'
import type { Bindings } from '../http/env.ts'

const messagesPerCall = 100
const maxDelaySeconds = 43_200

/** The queues behind the doorbell. */
export const doorbellOf = (env: Bindings): Doorbell => ({
  async ring(lane, messages, delaySeconds = 0) {
    const queue: Queue<DoorbellMessage> = lane === 'slow' ? env.WEBHOOKS_SLOW : env.WEBHOOKS
    const delay = { delaySeconds: Math.min(Math.max(0, Math.ceil(delaySeconds)), maxDelaySeconds) }
    for (let start = 0; start < messages.length; start += messagesPerCall)
      await queue.sendBatch(messages.slice(start, start + messagesPerCall).map((body) => ({ body, ...delay })))
  },
})
