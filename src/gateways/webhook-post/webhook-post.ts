const postErrors = [
  'timeout',
  'connection_refused',
  'connection_reset',
  'connection_lost',
  'dns_failure',
  'tls_failure',
  'network_error',
  'redirect',
  'http_error',
] as const
export type PostError = (typeof postErrors)[number]

/** The result of one POST. `error` is a class and not a message, which could tell about this service's network. */
export interface PostResult {
  status: number | null
  error: PostError | null
  retryAfter: string | null
  /** The first 1024 bytes of the response as plain text. Null when no response came. */
  text: string | null
  durationMs: number
  /** True if the time limit ended late because this service was busy. The endpoint may have answered in time. */
  isDelayed: boolean
}

export interface PostRequest {
  url: string
  headers: Record<string, string>
  body: string
  timeoutMs: number
}

export interface WebhookPost {
  post(request: PostRequest): Promise<PostResult>
}
