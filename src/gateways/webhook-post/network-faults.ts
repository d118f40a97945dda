import type { PostError } from './webhook-post.ts'

/**
 * The messages of failed fetches. The runtime tells few causes apart: a refused connection and one that was closed before
 * a response have the same message, and so have an unknown host name and a failed handshake.
 */
const errorsByMessage: readonly [RegExp, PostError][] = [
  [/refused/i, 'connection_refused'],
  [/reset by peer|ECONNRESET/i, 'connection_reset'],
  [/lookup|DNS|ENOTFOUND/i, 'dns_failure'],
  [/TLS|SSL|certificate|handshake/i, 'tls_failure'],
  [/connection lost|disconnected/i, 'connection_lost'],
]

/** `hasResponse`: the head of a response was read, so the connection was open. */
export function classifyNetworkError(error: unknown, hasResponse: boolean): PostError {
  if (hasResponse) return 'connection_reset'
  const message = error instanceof Error ? error.message : ''
  return errorsByMessage.find(([pattern]) => pattern.test(message))?.[1] ?? 'network_error'
}

/** The platform answers `error code: 1016` and the like for a receiver that it did not reach. */
const platformErrors: Record<string, { status: number; error: PostError }> = {
  '1016': { status: 530, error: 'dns_failure' },
  '521': { status: 521, error: 'connection_refused' },
  '525': { status: 525, error: 'tls_failure' },
  '526': { status: 526, error: 'tls_failure' },
}

export function findPlatformError(status: number, text: string): PostError | null {
  const platformError = platformErrors[/^error code: (\d{3,4})$/.exec(text)?.[1] ?? '']
  return platformError?.status === status ? platformError.error : null
}
