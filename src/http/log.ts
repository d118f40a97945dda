/** Writes one line of JSON. It must never contain personal data. */
export const logLine = (line: Record<string, unknown>): void => console.log(JSON.stringify(line))

export const logError = (requestId: string, error: unknown): void =>
  console.error(
    JSON.stringify({
      level: 'error',
      request_id: requestId,
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      cause: error instanceof Error && error.cause instanceof Error ? error.cause.message : undefined,
    }),
  )
