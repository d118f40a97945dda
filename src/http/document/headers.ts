import type { Operation } from '../operations/operation.ts'
import type { Documented, Reference } from './shapes.ts'

const text = (description: string, example: string) => ({ description, schema: { type: 'string' }, example })

/** Every header that an answer may carry and that a client can act on. */
export const headers = {
  Allow: text('The methods that the path has.', 'GET, HEAD, PATCH'),
  'Content-Disposition': text('The name to save the file under.', 'attachment; filename="segment.csv"'),
  ETag: text('The state of the resource; for `If-Match` and `If-None-Match`.', '"0aR3xU1nV0xJ8mYk2bq1Sg"'),
  'Idempotency-Replayed': {
    description: 'The answer is the stored one of the first request with this `Idempotency-Key`.',
    schema: { type: 'string', enum: ['true'] },
    example: 'true',
  },
  Link: text(
    'The neighbouring pages (RFC 8288); absent where there is one page.',
    '<https://api.example.com/v1/editions?page=2>; rel="next"',
  ),
  Location: text(
    'Address of what was made; absent where it has none.',
    'https://api.example.com/v1/editions/edt_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
  ),
  'RateLimit-Policy': text(
    'The quotas (`q`) by their window in seconds (`w`); absent where requests are not limited.',
    '"default";q=600;w=60, "member";q=1200;w=60',
  ),
  'Retry-After': {
    description: 'Seconds to wait before the next try; absent where waiting does not help.',
    schema: { type: 'integer', minimum: 1, maximum: 86_400 },
    example: 60,
  },
  'WWW-Authenticate': text('How to authenticate.', 'Bearer'),
  'X-D1-Bookmark': text(
    'The state of the database; send it to read at least that state.',
    '00000001-00000002-00004e2f',
  ),
  'X-Request-Id': text('The id of the request, for questions about it.', 'req_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8'),
} as const

type Name = keyof typeof headers

/** A refusal with these statuses may contain a time to wait. */
const waiting = new Set([409, 429, 503])

const isList = ({ query }: Operation): boolean =>
  typeof query === 'object' && 'shape' in query && 'page' in (query.shape as object)

/** Answers with one JSON value, which has an ETag. */
export const hasETag = (operation: Operation): boolean => operation.response !== null && !isList(operation)

function successHeaders(operation: Operation, status: number): Name[] {
  const names: Name[] = ['X-D1-Bookmark']
  if (hasETag(operation)) names.push('ETag')
  if (isList(operation)) names.push('Link')
  if (operation.file) names.push('Content-Disposition')
  if (status === 201) names.push('Location')
  return names
}

function namesOf(operation: Operation, status: number): Name[] {
  const names: Name[] = ['X-Request-Id', 'RateLimit-Policy']
  if (status < 400) names.push(...successHeaders(operation, status))
  else names.push('X-D1-Bookmark')
  if (operation.scope === 'write') names.push('Idempotency-Replayed')
  if (waiting.has(status)) names.push('Retry-After')
  if (status === 401) names.push('WWW-Authenticate')
  if (status === 405) names.push('Allow')
  return names.toSorted()
}

const referencesTo = (names: readonly Name[]): Record<string, Reference> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

export function withHeaders(operation: Operation, { responses }: Documented): void {
  for (const [status, answer] of Object.entries(responses))
    answer.headers = referencesTo(namesOf(operation, Number(status)))
}
