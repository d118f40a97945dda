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
  /** What is wrong with single fields or parameters. */
  readonly errors: readonly FieldProblem[]
  /** Name it when you ask for help. Null if the answer did not come from the API. */
  readonly requestId: string | null
  /** The whole answer, which can have more fields. */
  readonly problem: Problem

  constructor(problem: Problem, requestId: string | null) {
    super(readMessage(problem))
    this.status = problem.status
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
  typeof body === 'object' && body !== null && 'code' in body && 'detail' in body && 'errors' in body

/** Reads the error of a failed call. An answer that is no problem document has the code `internal_error`. */
export async function readError(response: Response): Promise<ApiError> {
  const text = await response.text()
  const body = parseJson(text)
  const { status } = response
  const problem = isProblem(body) ? body : describeOther(status, text)
  const requestId = response.headers.get('x-request-id')
  return status === 412 ? new PreconditionFailedError(problem, requestId) : new ApiError(problem, requestId)
}

const describeOther = (status: number, text: string): Problem => ({
  type: 'about:blank',
  title: 'Not an answer of the API',
  status,
  code: 'internal_error',
  detail: `The answer has the status ${status} and is not from the API: ${text.slice(0, 200)}`,
  errors: [],
})

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return null
  }
}
