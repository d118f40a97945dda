/**
 * A queue hands a message to its consumer at most this often: once, and `max_retries` of wrangler.toml. After the last
 * attempt the consumer stores the message with its error.
 */
export const maxAttempts = {
  webhooks: 4,
  segments: 4,
  emails: 4,
  refunds: 4,
  campaigns: 4,
  'campaign-events': 11,
  imports: 4,
} as const

type KnownQueue = keyof typeof maxAttempts

export const isQueue = (name: string): name is KnownQueue => Object.hasOwn(maxAttempts, name)

const deadSuffix = '-dead'

interface QueuePlace {
  /** The name in wrangler.toml of the queue to which the messages were sent. */
  queue: string
  /** True if the messages were given up, and came over the dead-letter queue. */
  isDead: boolean
}

/**
 * Finds the queue of wrangler.toml that a name of the platform stands for. Installations beside the first have names such
 * as `webhooks-staging` and `webhooks-dead-staging`.
 */
export function findQueue(platformName: string): QueuePlace {
  const queue = Object.keys(maxAttempts).find((name) => `${platformName}-`.startsWith(`${name}-`))
  if (queue !== undefined) {
    const ending = `${platformName.slice(queue.length)}-`
    return { queue, isDead: ending.startsWith(`${deadSuffix}-`) }
  }
  const isDead = platformName.endsWith(deadSuffix)
  return { queue: isDead ? platformName.slice(0, -deadSuffix.length) : platformName, isDead }
}
