import { AppError } from '../domain/errors.ts'
import type { AppContext } from './env.ts'
import { logError } from './log.ts'
import { type HttpAnswer, buildErrorPath, buildProblem } from './problem.ts'
import { buildAddress } from './public-address.ts'

/** The answer to any failure. An unexpected error is logged whole and answered without details. */
export function answerError(c: AppContext, error: unknown): HttpAnswer {
  const answer = (refusal: AppError) => {
    const type = buildAddress(c.env.PUBLIC_URL, c.req.url, buildErrorPath(refusal.code))
    return buildProblem(refusal, { path: c.req.path, requestId: c.var.requestId, type })
  }
  if (error instanceof AppError) {
    if (error.cause !== undefined) logError(c.var.requestId, error.cause)
    return answer(error)
  }
  logError(c.var.requestId, error)
  return answer(new AppError('internal_error', 'Something went wrong on our side.'))
}
