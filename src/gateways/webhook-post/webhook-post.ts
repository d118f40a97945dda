/** What came of one POST. `error` is a class and no text: nothing of the receiver's network is told. */
export interface PostResult {
  status: number | null
  error: 'timeout' | 'network_error' | 'redirect' | 'http_error' | null
  retryAfter: string | null
  durationMs: number
}

export interface WebhookPost {
  post(request: { url: string; headers: Record<string, string>; body: string; timeoutMs: number }): Promise<PostResult>
}
