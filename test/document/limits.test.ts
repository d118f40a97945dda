import { describe, expect, it } from 'vitest'
import { operations } from '../../src/app.ts'
import type { Operation } from '../../src/http/operations/operation.ts'
import { document, documentedAt, resolved, type Schema, schemasIn } from '../support/document.ts'

const all = operations as readonly Operation[]

const limitNames = [
  'format',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'uniqueItems',
  'maxProperties',
  'enum',
] as const satisfies readonly (keyof Schema)[]

/** A schema without the null beside it. */
function withoutNull(schema: Schema): Schema {
  const found = resolved(schema)
  const others = found.anyOf?.filter(({ type }) => type !== 'null')
  return others?.length === 1 && others[0] ? withoutNull(others[0]) : found
}

const typeOf = ({ type }: Schema): string =>
  [type]
    .flat()
    .filter((one) => one !== 'null')
    .join()

const limitsOf = (schema: Schema): Partial<Schema> =>
  Object.fromEntries(
    limitNames.flatMap((name) => {
      const value = schema[name]
      if (value === undefined) return []
      return [[name, Array.isArray(value) ? value.filter((one) => one !== null) : value]]
    }),
  )

/** Each pair of fields that have one place and one type in both, by the path to it. */
function pairsOf(taken: Schema, given: Schema, path: string): [string, Schema, Schema][] {
  const [input, answer] = [withoutNull(taken), withoutNull(given)]
  if (typeOf(input) !== typeOf(answer)) return []
  const below: [string, Schema, Schema][] = []
  for (const [name, field] of Object.entries(input.properties ?? {})) {
    const other = answer.properties?.[renamed.get(`${path}.${name}`.replace(/^.*?\./, '')) ?? name]
    if (other) below.push(...pairsOf(field, other, `${path}.${name}`))
  }
  if (input.items && answer.items) below.push(...pairsOf(input.items, answer.items, `${path}[]`))
  if (typeof input.additionalProperties === 'object' && typeof answer.additionalProperties === 'object')
    below.push(...pairsOf(input.additionalProperties, answer.additionalProperties, `${path}{}`))
  return [[path, input, answer], ...below]
}

/** Fields that are answered under another name than they are set by. */
const renamed = new Map([
  ['subject', 'subject_translations'],
  ['sms_body', 'sms_body_translations'],
])

/** Fields that are answered in another form than they are set in. */
const otherForm = new Map([
  ['scheduleCampaign.scheduled_at', 'Local time or an offset in, always an offset out.'],
  ['createSenderDomain.domain', 'White space and a dot at the end may come in.'],
  ['rejectRefundRequest.reason', 'Answered as rejection_reason: `reason` is why the refund was asked for.'],
  ['createEmailMessage.scope', 'Nobody makes messages of the platform.'],
])

const jsonOf = (content: Record<string, { schema: Schema }> | undefined): Schema | undefined =>
  content?.['application/json']?.schema

/** The resource that an operation answers; of a list, what its pages hold. */
function resourceOf(operation: Operation): Schema | undefined {
  const schema = jsonOf(documentedAt(operation).responses[operation.status]?.content)
  const { results } = (schema && resolved(schema).properties) ?? {}
  return results?.items ?? schema
}

/** What answers the resource that an operation takes: itself, and the reads at its path and beside it. */
function answersOf(operation: Operation): Operation[] {
  const paths = [operation.path, operation.path.replace(/\/\{id\}$/, ''), `${operation.path}/{id}`]
  const reads = all.filter(({ method, path }) => method === 'get' && paths.includes(path))
  return [operation, ...reads]
}

const takers = all.filter(({ body }) => body).map((operation) => [operation.id, operation] as const)

describe.each(takers)('the limits of %s', (id, operation) => {
  it('are the same in answers as in the body', () => {
    const body = jsonOf(documentedAt(operation).requestBody?.content) ?? {}
    const differences = answersOf(operation).flatMap((one) =>
      pairsOf(body, resourceOf(one) ?? {}, id)
        .filter(([path]) => !otherForm.has(path))
        .map(([path, input, answer]) => [`${path} of ${one.id}`, limitsOf(answer), limitsOf(input)] as const)
        .filter(([, answer, input]) => JSON.stringify(answer) !== JSON.stringify(input)),
    )
    expect(Object.fromEntries(differences.map(([path, answer]) => [path, answer]))).toEqual(
      Object.fromEntries(differences.map(([path, , input]) => [path, input])),
    )
  })
})

describe('the limits of answers', () => {
  it('are compared for many fields', () => {
    const compared = takers.flatMap(([id, operation]) =>
      pairsOf(jsonOf(documentedAt(operation).requestBody?.content) ?? {}, resourceOf(operation) ?? {}, id).filter(
        ([, input]) => Object.keys(limitsOf(input)).length > 0,
      ),
    )
    expect(compared.length).toBeGreaterThan(60)
  })

  it('include the kind of each id', () => {
    const anyKind = new Set(['UserInfo.id', 'AuditEntry.resource_id'])
    const found = Object.entries(document.components.schemas).flatMap(([name, schema]) => [...schemasIn(schema, name)])
    const ids = found.filter(([path, { example }]) => !anyKind.has(path) && /^[a-z]{3}_01/.test(String(example)))
    expect(ids.length).toBeGreaterThan(60)
    for (const [path, { example, pattern, maxLength }] of ids) {
      // A request may bring its own; clients name blocks.
      if (['req', 'blk'].includes(String(example).slice(0, 3))) continue
      expect([path, pattern, maxLength]).toEqual([path, `^${String(example).slice(0, 3)}_`, 64])
    }
  })

  it('include the size of each page, and counts are not negative', () => {
    const lists = all.filter(({ query }) => 'page' in ((query as { shape?: object }).shape ?? {}))
    expect(lists.length).toBeGreaterThan(10)
    for (const list of lists) {
      const { properties = {} } = resolved(jsonOf(documentedAt(list).responses[200]?.content) ?? {})
      const sizes = documentedAt(list).parameters?.some(({ name }) => name === 'page_size')
      expect([list.id, properties['results']?.maxItems]).toEqual([list.id, sizes ? 500 : 100])
      expect([list.id, resolved(properties['count'] ?? {}).minimum]).toEqual([list.id, 0])
    }
  })
})
