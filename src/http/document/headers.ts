import type { Operation } from '../operations/operation.ts'
import type { DocumentedOperation, Reference } from './shapes.ts'

const text = (description: string, example: string) => ({ description, schema: { type: 'string' }, example })

/** Response headers that a client can use. */
export const headers = {
  'Access-Control-Allow-Origin': text(
    'The origin of the calling page, if the deployment allows it. Absent for other pages, and for programs.',
    'https://admin.example.com',
  ),
  Allow: text('The methods that the path supports.', 'GET, HEAD, PATCH'),
  'Content-Disposition': text('The name of the file to save.', 'attachment; filename="segment.csv"'),
  ETag: text(
    'Identifies the state of the resource. Send it as `If-Match` or `If-None-Match`.',
    '"0aR3xU1nV0xJ8mYk2bq1Sg"',
  ),
  'Idempotency-Replayed': {
    description: 'Present when the response is that of an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string', enum: ['true'] },
    example: 'true',
  },
  Link: text(
    'The next and the previous page (RFC 8288). Absent when there is only one page.',
    '<https://api.example.com/v1/editions?page=2>; rel="next"',
  ),
  Location: text(
    'The URL of the created resource. Absent when it has none.',
    'https://api.example.com/v1/editions/edt_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
  ),
  'RateLimit-Policy': text(
    'The quotas (`q`) and their windows in seconds (`w`). Absent when requests are not limited.',
    '"default";q=600;w=60, "member";q=1200;w=60',
  ),
  'Retry-After': {
    description: 'The seconds to wait before you try again. Absent when waiting does not help.',
    schema: { type: 'integer', minimum: 1, maximum: 86_400 },
    example: 60,
  },
  'WWW-Authenticate': text('How to authenticate.', 'Bearer'),
  'X-D1-Bookmark': text(
    'The state of the database. Send it with your next request to read at least that state.',
    '00000001-00000002-00004e2f',
  ),
  'X-Request-Id': text(
    'The id of the request. Mention it when you report a problem.',
    'req_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
  ),
} as const

type Name = keyof typeof headers

/** Errors with these statuses can have a `Retry-After`. */
const retryStatuses = new Set([409, 429, 503])

const isList = ({ query }: Operation): boolean =>
  typeof query === 'object' && 'shape' in query && 'page' in (query.shape as object)

/** Responses with one JSON value have an ETag. Lists have none. */
export const hasETag = (operation: Operation): boolean => operation.response !== null && !isList(operation)

function listSuccessHeaders(operation: Operation, status: number): Name[] {
  const names: Name[] = []
  if (hasETag(operation)) names.push('ETag')
  if (isList(operation)) names.push('Link')
  if (operation.file) names.push('Content-Disposition')
  if (status === 201) names.push('Location')
  return names
}

function listHeaderNames(operation: Operation, status: number): Name[] {
  const names: Name[] = ['Access-Control-Allow-Origin', 'X-Request-Id', 'RateLimit-Policy']
  if (!operation.isPublic) names.push('X-D1-Bookmark')
  if (status < 400) names.push(...listSuccessHeaders(operation, status))
  if (operation.scope === 'write' && !operation.isPublic) names.push('Idempotency-Replayed')
  if (retryStatuses.has(status)) names.push('Retry-After')
  if (status === 401) names.push('WWW-Authenticate')
  if (status === 405) names.push('Allow')
  return names.toSorted()
}

const buildReferences = (names: readonly Name[]): Record<string, Reference> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

export function addHeaders(operation: Operation, { responses }: DocumentedOperation): void {
  for (const [status, response] of Object.entries(responses))
    response.headers = buildReferences(listHeaderNames(operation, Number(status)))
}
