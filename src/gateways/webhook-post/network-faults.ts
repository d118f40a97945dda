import type { PostError } from './webhook-post.ts'

/**
 * What a failed fetch says of the network. The runtime names few causes: a refused connection and one that was closed
 * before an answer read the same, a name that does not resolve and a failed handshake are internal errors.
 */
const messages: readonly [RegExp, PostError][] = [
  [/refused/i, 'connection_refused'],
  [/reset by peer|ECONNRESET/i, 'connection_reset'],
  [/lookup|DNS|ENOTFOUND/i, 'dns_failure'],
  [/TLS|SSL|certificate|handshake/i, 'tls_failure'],
  [/connection lost|disconnected/i, 'connection_lost'],
]

/** `hasAnswer`: the head of an answer was read, so the connection was open when it ended. */
export function faultOf(error: unknown, hasAnswer: boolean): PostError {
  if (hasAnswer) return 'connection_reset'
  const message = error instanceof Error ? error.message : ''
  return messages.find(([pattern]) => pattern.test(message))?.[1] ?? 'network_error'
}

/** The platform's answers, such as `error code: 1016`, for a receiver that it did not reach. */
const platformErrors: Record<string, { status: number; error: PostError }> = {
  '1016': { status: 530, error: 'dns_failure' },
  '521': { status: 521, error: 'connection_refused' },
  '525': { status: 525, error: 'tls_failure' },
  '526': { status: 526, error: 'tls_failure' },
}

export function platformFaultOf(status: number, text: string): PostError | null {
  const known = platformErrors[/^error code: (\d{3,4})$/.exec(text)?.[1] ?? '']
  return known?.status === status ? known.error : null
}
