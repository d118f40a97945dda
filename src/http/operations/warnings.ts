import { z } from '@hono/zod-openapi'
import type { FieldError } from '../../domain/errors.ts'
import { FieldProblem } from '../problem.ts'

/** The warnings of a change that campaigns may send. */
export const ApprovalWarnings = z.array(FieldProblem).optional().openapi({
  description: '`approval_lost`: the change takes the approval from scheduled campaigns. Absent without warnings.',
})

/** Adds warnings for `sign`. They belong to the response alone, so a resource that is read later keeps its ETag. */
export const addWarnings = async <Body extends object>(
  response: Body,
  { warnings }: { warnings: readonly FieldError[] },
): Promise<Body> => (warnings.length ? { ...response, warnings: [...warnings] } : response)
