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

export const isDeadLetterQueue = (name: string): boolean => name.endsWith(deadSuffix)

/** The queue whose messages a dead-letter queue gets. */
export const getSourceQueue = (name: string): string =>
  isDeadLetterQueue(name) ? name.slice(0, -deadSuffix.length) : name
