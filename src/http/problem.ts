import { z } from '@hono/zod-openapi'
import { AppError, type ErrorCode, errorStatus, type FieldError } from '../domain/errors.ts'
import type { AppContext } from './env.ts'
import { logError } from './log.ts'

/** Titles of problem documents. */
const titles: Record<number, string> = {
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
    detail: z.string().openapi({ example: 'Must have at most 200 characters.' }),
    attr: z.string().nullable().openapi({
      description: 'The name of the field or parameter; null when the error is about none.',
      example: 'name',
    }),
    pointer: z
      .string()
      .nullable()
      .openapi({ description: 'JSON pointer to the field in the body. Null for parameters.', example: '#/name' }),
    email_message_pointer: z.string().optional().openapi({
      description: 'JSON pointer to the text in the e-mail message that a campaign sends.',
      example: '#/blocks/0/data/text/da',
    }),
    line: z.int().optional().openapi({ description: 'The line in the expression or template, from 1.', example: 1 }),
    column: z
      .int()
      .optional()
      .openapi({ description: 'The column in the expression or template, from 1.', example: 6 }),
    start: z
      .int()
      .optional()
      .openapi({ description: 'The index of the first faulty character in the expression, from 0.', example: 5 }),
    end: z.int().optional().openapi({ description: 'The index after the last faulty character.', example: 10 }),
  })
  .openapi('FieldProblem')

export const Problem = z
  .looseObject({
    type: z.string().openapi({ example: 'https://api.example.com/docs/errors/validation_error' }),
    title: z.string().openapi({ example: 'Invalid request' }),
    status: z.int().openapi({ example: 400 }),
    code: z.string().openapi({
      description: 'The stable code of the error. Write your error handling against it.',
      example: 'validation_error',
    }),
    detail: z.string().openapi({ example: '`name`: Must have at most 200 characters.' }),
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

export interface HttpResponse {
  status: number
  headers: Record<string, string>
  body: string
}

/** The path of the page about an error code. */
export const buildErrorPath = (code: string): string => `/docs/errors/${code}`

/**
 * The problem document of an error. `type` is the URL of the page about its code. `not_found` has neither path nor request
 * id, so that the response for a hidden resource has the same bytes as for a missing one.
 */
export function buildProblem(
  error: AppError,
  request: { path: string; requestId: string; type: string },
): HttpResponse {
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

/** The public URL of the requested path. It begins with PUBLIC_URL if that is set, because a request can name any host. */
export function buildPublicUrl(publicUrl: string, requestUrl: string): URL {
  const url = new URL(requestUrl)
  return URL.canParse(publicUrl) ? new URL(publicUrl.replace(/(?<!\/)\/+$/, '') + url.pathname + url.search) : url
}

/** The public URL of another path of the service. */
export const buildAddress = (c: AppContext, path: string): string =>
  buildPublicUrl(c.env.PUBLIC_URL ?? '', new URL(path, c.req.url).href).href

/** An unexpected error is logged and sent without details. */
export function buildErrorResponse(c: AppContext, error: unknown): HttpResponse {
  const respond = (refusal: AppError) => {
    const type = buildAddress(c, buildErrorPath(refusal.code))
    return buildProblem(refusal, { path: c.req.path, requestId: c.var.requestId, type })
  }
  if (error instanceof AppError) {
    if (error.cause !== undefined) logError(c.var.requestId, error.cause)
    return respond(error)
  }
  logError(c.var.requestId, error)
  return respond(
    new AppError(
      'internal_error',
      'Something went wrong on our side. Try again, and report the `request_id` if it happens again.',
    ),
  )
}
