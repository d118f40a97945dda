import { ApiError } from '../src/index.ts'

/** The command was called in a wrong way. The program ends with exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export const exitCodes = { success: 0, failed: 1, usage: 2 } as const

/** Says what failed, for people. */
export function describeError(error: unknown): string {
  if (error instanceof ApiError) {
    const { message, requestId, problem } = error
    const page = problem.type.startsWith('http') ? [problem.type] : []
    return [message, ...page, ...(requestId === null ? [] : [`Request: ${requestId}`])].join('\n')
  }
  if (!(error instanceof Error)) return String(error)
  // Node says only "fetch failed", and has the reason in the cause.
  const { cause } = error
  return cause instanceof Error ? `${error.message}: ${describeCause(cause)}` : error.message
}

function describeCause(cause: Error): string {
  const inner = cause instanceof AggregateError ? cause.errors.find((error) => error instanceof Error) : undefined
  return (inner ?? cause).message || (cause as NodeJS.ErrnoException).code || cause.name
}

/** What failed, for programs. */
export const toProblem = (error: unknown): object =>
  error instanceof ApiError
    ? { ...error.problem, request_id: error.requestId ?? error.problem.request_id }
    : { code: error instanceof UsageError ? 'wrong_usage' : 'connection_failed', detail: describeError(error) }
