import { AppError } from '../domain/errors.ts'
import type { AppContext } from './env.ts'
import { logError } from './log.ts'
import { type Answer, problem } from './problem.ts'

/** The answer to any failure. What is no refusal of ours is logged whole and answered without a word about it. */
export function answerOf(c: AppContext, error: unknown): Answer {
  const request = { path: c.req.path, requestId: c.var.requestId }
  if (error instanceof AppError) {
    if (error.cause !== undefined) logError(c.var.requestId, error.cause)
    return problem(error, request)
  }
  logError(c.var.requestId, error)
  return problem(new AppError('internal_error', 'Something went wrong on our side.'), request)
}
