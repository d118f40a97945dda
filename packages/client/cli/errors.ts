import { ApiError } from '../src/index.ts'

/** The command was called in a wrong way. The program ends with exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The work itself failed, although each call succeeded. The program ends with exit code 1. */
export class WorkError extends Error {
  override readonly name = 'WorkError'
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
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

/** The failure, for programs. */
export const toProblem = (error: unknown): object =>
  error instanceof ApiError
    ? { ...error.problem, request_id: error.requestId ?? error.problem.request_id }
    : { code: readCode(error), detail: describeError(error) }

function readCode(error: unknown): string {
  if (error instanceof WorkError) return error.code
  return error instanceof UsageError ? 'wrong_usage' : 'connection_failed'
}
