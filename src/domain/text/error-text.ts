const maxLength = 1000
const maxCauses = 5

/** The message of an error, followed by those of its causes. */
export function describeError(error: unknown): string {
  const messages: string[] = []
  let cause = error
  while (cause instanceof Error && messages.length < maxCauses) {
    messages.push(cause.message)
    cause = cause.cause
  }
  return (messages.length > 0 ? messages.join(': ') : String(error)).slice(0, maxLength)
}
