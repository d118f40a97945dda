/** Writes one line of JSON. It must never contain personal data. */
export const logLine = (line: Record<string, unknown>): void => console.log(JSON.stringify(line))

/** `source` is the id of a request, or the name of background work. */
export const logWarning = (source: string, message: string, details: Record<string, unknown> = {}): void =>
  console.warn(JSON.stringify({ level: 'warn', request_id: source, message, ...details }))

export const logError = (requestId: string, error: unknown): void =>
  console.error(
    JSON.stringify({
      level: 'error',
      request_id: requestId,
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      cause: error instanceof Error && error.cause instanceof Error ? error.cause.message : undefined,
    }),
  )
