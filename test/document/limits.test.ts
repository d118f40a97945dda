import { describe, expect, it } from 'vitest'
import { operations } from '../../src/app.ts'
import type { Operation } from '../../src/http/operations/operation.ts'
import { document, findDocumented, resolveSchema, type Schema, listSchemas } from '../support/document.ts'

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

/** Returns the schema without its null alternative. */
function withoutNull(schema: Schema): Schema {
  const resolvedSchema = resolveSchema(schema)
  const others = resolvedSchema.anyOf?.filter(({ type }) => type !== 'null')
  return others?.length === 1 && others[0] ? withoutNull(others[0]) : resolvedSchema
}

const describeType = ({ type }: Schema): string =>
  [type]
    .flat()
    .filter((name) => name !== 'null')
    .join()

const pickLimits = (schema: Schema): Partial<Schema> =>
  Object.fromEntries(
    limitNames.flatMap((name) => {
      const value = schema[name]
      if (value === undefined) return []
      return [[name, Array.isArray(value) ? value.filter((one) => one !== null) : value]]
    }),
  )

/** Pairs fields with the same place and type in both schemas, by their path. */
function pairFields(inputSchema: Schema, answerSchema: Schema, path: string): [string, Schema, Schema][] {
  const [input, answer] = [withoutNull(inputSchema), withoutNull(answerSchema)]
  if (describeType(input) !== describeType(answer)) return []
  const below: [string, Schema, Schema][] = []
  for (const [name, field] of Object.entries(input.properties ?? {})) {
    const other = answer.properties?.[renamed.get(`${path}.${name}`.replace(/^.*?\./, '')) ?? name]
    if (other) below.push(...pairFields(field, other, `${path}.${name}`))
  }
  if (input.items && answer.items) below.push(...pairFields(input.items, answer.items, `${path}[]`))
  if (typeof input.additionalProperties === 'object' && typeof answer.additionalProperties === 'object')
    below.push(...pairFields(input.additionalProperties, answer.additionalProperties, `${path}{}`))
  return [[path, input, answer], ...below]
}

/** Fields whose name differs between answers and bodies. */
const renamed = new Map([
  ['subject', 'subject_translations'],
  ['sms_body', 'sms_body_translations'],
])

/** Fields whose form differs between answers and bodies. */
const otherForm = new Map([
  ['scheduleCampaign.scheduled_at', 'Local time or an offset in, always an offset out.'],
  ['createSenderDomain.domain', 'White space and a dot at the end may come in.'],
  ['rejectRefundRequest.reason', 'Answered as rejection_reason: `reason` is why the refund was asked for.'],
  ...['createProduct', 'updateProduct'].flatMap((id) =>
    ['aliases', 'variants', 'options'].map(
      (field) => [`${id}.${field}`, 'Imports and merges can add more than one body can hold.'] as const,
    ),
  ),
  ...['createSignupForm', 'updateSignupForm'].map(
    (id) => [`${id}.consent_ids`, 'A form whose consents were all deleted has none.'] as const,
  ),
  ['createUser.locale', 'The specification has any text out.'],
  ['createEmailMessage.scope', 'Nobody makes messages of the platform.'],
])

const pickJson = (content: Record<string, { schema: Schema }> | undefined): Schema | undefined =>
  content?.['application/json']?.schema

/** Returns the schema of the resource in an answer, or of the items on a page. */
function findResource(operation: Operation): Schema | undefined {
  const schema = pickJson(findDocumented(operation).responses[operation.status]?.content)
  const { results } = (schema && resolveSchema(schema).properties) ?? {}
  return results?.items ?? schema
}

/** Lists the answers with the resource of an operation: its own, and the reads at its path and beside it. */
function answersOf(operation: Operation): Operation[] {
  const paths = [operation.path, operation.path.replace(/\/\{id\}$/, ''), `${operation.path}/{id}`]
  const reads = all.filter(({ method, path }) => method === 'get' && paths.includes(path))
  return [operation, ...reads]
}

const withBody = all.filter(({ body }) => body)

describe.each(withBody)('the limits of $id', (operation) => {
  const { id } = operation

  it('are the same in answers as in the body', () => {
    const body = pickJson(findDocumented(operation).requestBody?.content) ?? {}
    const differences = answersOf(operation).flatMap((one) =>
      pairFields(body, findResource(one) ?? {}, id)
        .filter(([path]) => !otherForm.has(path))
        .map(([path, input, answer]) => [`${path} of ${one.id}`, pickLimits(answer), pickLimits(input)] as const)
        .filter(([, answer, input]) => JSON.stringify(answer) !== JSON.stringify(input)),
    )
    expect(Object.fromEntries(differences.map(([path, answer]) => [path, answer]))).toEqual(
      Object.fromEntries(differences.map(([path, , input]) => [path, input])),
    )
  })
})

describe('the limits of answers', () => {
  it('are compared for many fields', () => {
    const compared = withBody.flatMap((operation) =>
      pairFields(
        pickJson(findDocumented(operation).requestBody?.content) ?? {},
        findResource(operation) ?? {},
        operation.id,
      ).filter(([, input]) => Object.keys(pickLimits(input)).length > 0),
    )
    expect(compared.length).toBeGreaterThan(60)
  })

  it('include the kind of each id', () => {
    const anyKind = new Set(['UserInfo.id', 'AuditEntry.resource_id'])
    const idSchemas = Object.entries(document.components.schemas).flatMap(([name, schema]) => [
      ...listSchemas(schema, name),
    ])
    const ids = idSchemas.filter(([path, { example }]) => !anyKind.has(path) && /^[a-z]{3}_01/.test(String(example)))
    expect(ids.length).toBeGreaterThan(60)
    for (const [path, { example, pattern, maxLength }] of ids) {
      // A request may bring its own ids, because clients name blocks.
      if (['req', 'blk'].includes(String(example).slice(0, 3))) continue
      expect([path, pattern, maxLength]).toEqual([path, `^${String(example).slice(0, 3)}_`, 64])
    }
  })

  it('include the size of each page, and counts are not negative', () => {
    const lists = all.filter(({ query }) => 'page' in ((query as { shape?: object }).shape ?? {}))
    expect(lists.length).toBeGreaterThan(10)
    for (const list of lists) {
      const { properties = {} } = resolveSchema(pickJson(findDocumented(list).responses[200]?.content) ?? {})
      const sizes = findDocumented(list).parameters?.some(({ name }) => name === 'page_size')
      expect([list.id, properties['results']?.maxItems]).toEqual([list.id, sizes ? 500 : 100])
      expect([list.id, resolveSchema(properties['count'] ?? {}).minimum]).toEqual([list.id, 0])
    }
  })
})
