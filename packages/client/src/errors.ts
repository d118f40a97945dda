import type { operations } from './generated/operations.ts'
import type { components } from './generated/schema.ts'

export type OperationId = keyof typeof operations

/** The codes of errors that an operation can answer. */
export type ErrorCode<Id extends OperationId = OperationId> = (typeof operations)[Id]['errors'][number]

type Problem = components['schemas']['Problem']
export type FieldProblem = components['schemas']['FieldProblem']

const readMessage = ({ code, detail, errors }: Problem): string =>
  [`${code}: ${detail}`, ...errors.map((error) => `  ${error.pointer ?? error.attr ?? ''} ${error.detail}`)].join('\n')

/** The API refused a call. `isApiError` tells the codes of one operation. */
export class ApiError<Id extends OperationId = OperationId> extends Error {
  override readonly name: string = 'ApiError'
  readonly status: number
  readonly code: ErrorCode<Id>
  /** The faults of single fields and parameters. */
  readonly errors: readonly FieldProblem[]
  /** Name it when you ask for help. Null if the answer did not come from the API. */
  readonly requestId: string | null
  /** The whole answer, which can have more fields. */
  readonly problem: Problem

  constructor(problem: Problem, requestId: string | null, status = problem.status) {
    super(readMessage(problem))
    this.status = status
    this.code = problem.code as ErrorCode<Id>
    this.errors = problem.errors
    this.requestId = requestId
    this.problem = problem
  }
}

/** The resource has changed since its ETag was read, so the change was not made. */
export class PreconditionFailedError extends ApiError {
  override readonly name = 'PreconditionFailedError'
}

/** True if the error is an answer of the API. With the id of an operation, `code` has the type of its codes. */
export function isApiError<Id extends OperationId = OperationId>(error: unknown, _id?: Id): error is ApiError<Id> {
  return error instanceof ApiError
}

const isProblem = (body: unknown): body is Problem =>
  typeof body === 'object' &&
  body !== null &&
  'errors' in body &&
  Array.isArray(body.errors) &&
  'code' in body &&
  typeof body.code === 'string' &&
  'detail' in body

/** Reads the error of a failed call. An answer that is no problem document has the code `internal_error`. */
export async function readError(response: Response, text?: string): Promise<ApiError> {
  const content = text ?? (await response.text())
  const body = parseJson(content)
  const { status } = response
  const problem = isProblem(body) ? body : describeOther(response, content)
  const requestId = response.headers.get('x-request-id')
  const Class = status === 412 ? PreconditionFailedError : ApiError
  return new Class(problem, requestId, status)
}

function describeOther({ status, headers }: Response, text: string): Problem {
  const location = headers.get('location')
  // Browsers hide a redirect behind the status 0.
  const isRedirect = status === 0 || (status >= 300 && status < 400)
  const detail = isRedirect
    ? `The address is redirected${location === null ? '' : ` to ${location}`}. Create the client with the address of the service itself.`
    : `The answer has the status ${status} and is not from the API: ${text.slice(0, 200)}`
  return { type: 'about:blank', title: 'Not an answer of the API', status, code: 'internal_error', detail, errors: [] }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return null
  }
}
