import { z } from '@hono/zod-openapi'
import { AppError, type ErrorCode, errorStatus, type FieldError } from '../domain/errors.ts'

/** The titles of problem documents by their status. */
export const titles: Record<number, string> = {
  400: 'Invalid request',
  401: 'Not authenticated',
  403: 'Forbidden',
  404: 'Not found',
  405: 'Method not allowed',
  408: 'Request timeout',
  409: 'Conflict',
  410: 'Gone',
  412: 'Precondition failed',
  413: 'Body too large',
  415: 'Unsupported media type',
  422: 'Unprocessable request',
  429: 'Too many requests',
  499: 'Client closed request',
  500: 'Internal error',
  503: 'Service unavailable',
}

export const FieldProblem = z
  .object({
    code: z.string().openapi({ example: 'max_length' }),
    detail: z.string().openapi({ example: 'At most 200 characters.' }),
    attr: z.string().nullable().openapi({ description: 'Name of the field or parameter.', example: 'name' }),
    pointer: z
      .string()
      .nullable()
      .openapi({ description: 'JSON pointer into the body; null for parameters.', example: '#/name' }),
    line: z.int().optional().openapi({ description: 'Line of an expression or a template, from 1.', example: 1 }),
    column: z.int().optional().openapi({ description: 'Column of an expression or a template, from 1.', example: 6 }),
    start: z.int().optional().openapi({ description: 'First character of the place in an expression.', example: 5 }),
    end: z.int().optional().openapi({ description: 'The character after the place.', example: 10 }),
  })
  .openapi('FieldProblem')

export const Problem = z
  .looseObject({
    type: z.string().openapi({ example: 'https://api.example.com/docs/errors/validation_error' }),
    title: z.string().openapi({ example: 'Invalid request' }),
    status: z.int().openapi({ example: 400 }),
    code: z.string().openapi({ description: 'Stable: programs decide by it.', example: 'validation_error' }),
    detail: z.string().openapi({ example: '1 field is invalid.' }),
    instance: z.string().optional().openapi({ example: '/v1/editions' }),
    request_id: z.string().optional().openapi({ example: 'req_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8' }),
    errors: z.array(FieldProblem),
  })
  .openapi('Problem', { description: 'RFC 9457 problem details.' })

interface ProblemDocument {
  type: string
  title: string
  status: number
  code: ErrorCode
  detail: string
  instance?: string
  request_id?: string
  errors: readonly FieldError[]
  [extension: string]: unknown
}

export interface HttpAnswer {
  status: number
  headers: Record<string, string>
  body: string
}

/** The path of the page about a code. */
export const pageOfCode = (code: string): string => `/docs/errors/${code}`

/**
 * The problem document of an error; `type` is the address of the page about its code. `not_found` carries neither path
 * nor request id, so that a hidden resource and a missing one answer with the same bytes.
 */
export function problem(error: AppError, request: { path: string; requestId: string; type: string }): HttpAnswer {
  const status = errorStatus[error.code]
  const document: ProblemDocument = {
    type: request.type,
    title: titles[status] ?? 'Error',
    status,
    code: error.code,
    detail: error.message,
    ...(error.code === 'not_found' ? {} : { instance: request.path, request_id: request.requestId }),
    ...error.extra,
    errors: error.errors,
  }
  const headers = { 'content-type': 'application/problem+json', ...error.headers }
  return { status, headers, body: JSON.stringify(document) }
}
