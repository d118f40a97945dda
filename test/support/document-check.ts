import { dereference, type OutputUnit, validate } from '@cfworker/json-schema'
import { expect } from 'vitest'
import type { Operation } from '../../src/http/operations/operation.ts'
import { document } from './document.ts'

/** Headers that the document describes, in lower case. */
const documentedHeaders = [
  'allow',
  'content-disposition',
  'etag',
  'idempotency-replayed',
  'link',
  'location',
  'ratelimit-policy',
  'retry-after',
  'x-d1-bookmark',
  'x-request-id',
]

const base = new URL('https://openapi.example/openapi.json')

// All answers share one look-up, because the validator's own walks every component again for each schema.
const resolvedComponents: Record<string, object> = dereference(
  { components: { schemas: document.components.schemas } },
  Object.create(null) as Record<string, object>,
  base,
) as Record<string, object>

let counted = 0
const prepared = new WeakSet<object>()

/** Names the schema of an answer, so that its references resolve like those of the document. */
function prepare(schema: object): object {
  if (prepared.has(schema)) return schema
  prepared.add(schema)
  counted += 1
  dereference(schema, resolvedComponents, base, `/answers/${counted}`)
  return schema
}

const listFaults = (schema: object, value: unknown): string[] => {
  const { valid, errors } = validate(value, prepare(schema), '2020-12', resolvedComponents, false)
  return valid ? [] : errors.map(({ instanceLocation, error }: OutputUnit) => `${instanceLocation}: ${error}`)
}

export interface AnswerParts {
  status: number
  headers: Headers
  body: unknown
}

/** Lists what the document does not allow in an answer: its status, headers, content type, error code and body. */
function undocumented(operation: Operation, { status, headers, body }: AnswerParts): string[] {
  const documented = document.paths[operation.path]?.[operation.method]
  const promised = documented?.responses[String(status)]
  // The client has disconnected, so nobody reads the answer.
  if (status === 499) return []
  if (!promised) return [`${status} is not documented`]
  const names = Object.keys(promised.headers ?? {}).map((name) => name.toLowerCase())
  const undocumentedHeaders = documentedHeaders
    .filter((name) => headers.has(name) && !names.includes(name))
    .map((name) => `${status} has the header ${name}`)
  const type = headers.get('content-type')?.split(';')[0] ?? null
  if (type === null || status === 304) return undocumentedHeaders
  const content = promised.content?.[type]
  if (!content) return [...undocumentedHeaders, `${status} is ${type}`]
  if (!type.includes('json')) return undocumentedHeaders
  const { code } = body as { code?: string }
  const codes = promised.description + documented?.description
  if (status >= 400 && !codes.includes(`\`${code}\``)) undocumentedHeaders.push(`${status} has the code ${code}`)
  return [...undocumentedHeaders, ...listFaults(content.schema, body)]
}

export function expectDocumented(operation: Operation, answered: AnswerParts): void {
  expect(undocumented(operation, answered), `${operation.id} answers as the document says`).toEqual([])
}
