import type { Operation } from '../../src/http/operations/operation.ts'
import { document, type Schema } from './document.ts'

export type { Schema }

const resolve = (schema: Schema): Schema =>
  schema.$ref ? (document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema

export function bodySchema(operation: Operation): Schema {
  const content = document.paths[operation.path]?.[operation.method]?.requestBody?.content ?? {}
  return resolve(content['application/json']?.schema ?? {})
}

const alternatives = (schema: Schema): Schema[] => [
  ...(schema.anyOf ?? []),
  ...(schema.oneOf ?? []),
  ...(schema.allOf ?? []),
]

/** The keys that the document says a list can be ordered by. */
export function orderingsOf(operation: Operation): string[] {
  const parameters = document.paths[operation.path]?.[operation.method]?.parameters ?? []
  const description = parameters.find(({ name }) => name === 'ordering')?.description ?? ''
  return /Sort keys[^:]*: ([\w, ]+)\./.exec(description)?.[1]?.split(', ') ?? []
}

/** A filter of a list, with the words that it takes; ids, texts and times have none. */
export interface DocumentedFilter {
  name: string
  words: readonly string[]
  description: string
}

const pageNames = ['ordering', 'page', 'page_size', 'cursor']

/** The filters that the document says a list has. */
export function filtersOf(operation: Operation): DocumentedFilter[] {
  const parameters = document.paths[operation.path]?.[operation.method]?.parameters ?? []
  return parameters
    .filter((one) => one.in === 'query' && !pageNames.includes(one.name))
    .map(({ name, schema, description = '' }) => ({
      name,
      description,
      words: schema.type === 'boolean' ? ['true', 'false'] : (schema.enum ?? []).map(String),
    }))
}

/** JSON types that a schema takes; none when it says nothing about them. */
function typesOf(given: Schema): Set<string> {
  const schema = resolve(given)
  const own = [schema.type ?? []].flat()
  const chosen = (schema.enum ?? []).map((value) => (value === null ? 'null' : typeof value))
  return new Set([...own, ...(own.length ? [] : chosen), ...alternatives(schema).flatMap((one) => [...typesOf(one)])])
}

export type Path = (string | number)[]

/** A value that the schema refuses at `path`; `undefined` leaves the property out. */
export interface Fault {
  path: Path
  what: string
  value: unknown
  code?: string
}

const wrongValues: readonly [type: string, value: unknown][] = [
  ['string', 'text'],
  ['number', 12.5],
  ['boolean', true],
  ['array', []],
  ['object', {}],
]

function wrongTypes(schema: Schema): unknown[] {
  const types = typesOf(schema)
  if (types.size === 0) return []
  return wrongValues.filter(([type]) => !types.has(type)).map(([, value]) => value)
}

/** What can be wrong with one property, read from its schema. */
function faultsOf(given: Schema, path: Path, isRequired: boolean): Fault[] {
  const schema = resolve(given)
  const types = typesOf(schema)
  const found: Fault[] = wrongTypes(schema).map((value) => ({
    path,
    what: `a wrong type, ${JSON.stringify(value)}`,
    value,
  }))
  if (isRequired) found.push({ path, what: 'missing', value: undefined, code: 'required' })
  if (types.size && !types.has('null')) found.push({ path, what: 'null', value: null, code: 'null' })
  if (schema.maxLength !== undefined) found.push({ path, what: 'too long', value: 'a'.repeat(schema.maxLength + 1) })
  if (schema.minLength === 1) found.push({ path, what: 'empty', value: '', code: 'blank' })
  if (schema.enum) found.push({ path, what: 'an unknown choice', value: 'no_such_choice', code: 'invalid_choice' })
  if (schema.maximum !== undefined) found.push({ path, what: 'too large', value: schema.maximum + 1 })
  if (schema.minimum !== undefined) found.push({ path, what: 'too small', value: schema.minimum - 1 })
  if (schema.minItems) found.push({ path, what: 'no items', value: [], code: 'min_items' })
  if (types.has('string') && !schema.enum) {
    found.push({ path, what: 'with NUL', value: 'a\0b', code: 'invalid_characters' })
    found.push({ path, what: 'half a character', value: 'a\ud800', code: 'invalid_characters' })
  }
  const items = schema.items && resolve(schema.items)
  if (items?.enum) found.push({ path, what: 'an unknown item', value: ['no_such_choice'] })
  if (schema.maxItems !== undefined && schema.maxItems <= 1000)
    found.push({ path, what: 'too many items', value: Array.from({ length: schema.maxItems + 1 }, () => 'x') })
  return found
}

/** All faults of a body, at any depth that the sample reaches. */
export function faults(given: Schema, sample: unknown, itemwise: readonly string[] = [], path: Path = []): Fault[] {
  const schema = resolve(given)
  if (itemwise.includes(path.join('.'))) return []
  if (Array.isArray(sample) && schema.items)
    return sample.length ? faults(schema.items, sample[0], itemwise, [...path, 0]) : []
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const value = (sample as Record<string, unknown> | undefined)?.[name]
    const at = [...path, name]
    return [
      ...faultsOf(property, at, schema.required?.includes(name) ?? false),
      ...(typeof value === 'object' && value !== null ? faults(property, value, itemwise, at) : []),
    ]
  })
}

/** A field of a request that names a resource by its id. */
export interface IdField {
  in: 'body' | 'query'
  /** The way through a body, with 0 for an item of a list: `edition_id`, `filter.product_id`, `mappings.0.id`. */
  name: string
  /** Such as `edt`; null where the document states none. */
  prefix: string | null
}

/** The prefix that a schema, or one of its alternatives, demands of an id. */
function prefixIn(given: Schema): string | null {
  const schema = resolve(given)
  const own = /^\^([a-z]{3})_/.exec(schema.pattern ?? '')?.[1]
  return own ?? alternatives(schema).reduce<string | null>((prefix, one) => prefix ?? prefixIn(one), null)
}

/** The id fields inside of one schema, at any depth. Blocks inside of blocks are walked once. */
function idFieldsIn(given: Schema, path: Path = [], above: readonly Schema[] = []): IdField[] {
  const schema = resolve(given)
  if (above.includes(schema)) return []
  const inside = (field: Schema, step?: string | number) =>
    idFieldsIn(field, step === undefined ? path : [...path, step], [...above, schema])
  const named = path.findLast((step) => typeof step === 'string') ?? ''
  const prefix = prefixIn(schema)
  const isText = schema.properties === undefined && schema.items === undefined
  const isId = isText && (prefix !== null || /_ids?$/.test(named))
  const fields = [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) => inside(field, name)),
    ...(schema.items ? inside(schema.items, 0) : []),
    ...(typeof schema.additionalProperties === 'object' ? inside(schema.additionalProperties, '*') : []),
    ...alternatives(schema).flatMap((one) => inside(one)),
  ]
  if (isId && fields.length === 0) fields.push({ in: 'body', name: path.join('.'), prefix })
  const names = new Set<string>()
  return fields.filter(({ name }) => !names.has(name) && names.add(name))
}

/** Every field of an operation's body, in each of its forms, and of its query that names a resource by its id. */
export function idFieldsOf(operation: Operation): IdField[] {
  const { parameters = [], requestBody } = document.paths[operation.path]?.[operation.method] ?? {}
  const bodies = Object.entries(requestBody?.content ?? {})
  const inForms = bodies.filter(([type]) => type !== 'application/json').flatMap(([, { schema }]) => idFieldsIn(schema))
  const inQuery = parameters
    .filter((one) => one.in === 'query')
    .flatMap(({ name, schema }) => idFieldsIn(schema, [name]))
  // A file may come with its fields in the query or in a form, where they have the same names.
  const beside = new Map([...inForms, ...inQuery].map((field) => [field.name, { ...field, in: 'query' as const }]))
  return [...idFieldsIn(bodySchema(operation)), ...beside.values()]
}

/** A copy of the body with the fault in it. */
export function spoiled(body: Record<string, unknown>, { path, value }: Fault): Record<string, unknown> {
  const copy = structuredClone(body)
  let at = copy as Record<string | number, unknown>
  for (const step of path.slice(0, -1)) at = at[step] as Record<string | number, unknown>
  const last = path.at(-1) ?? ''
  if (value === undefined) delete at[last]
  else at[last] = value
  return copy
}

/** The objects of a body whose names the schema states, each by its path. */
export function placesIn(given: Schema, sample: unknown, itemwise: readonly string[] = [], path: Path = []): Path[] {
  const schema = resolve(given)
  if (itemwise.includes(path.join('.')) || typeof sample !== 'object' || sample === null) return []
  if (Array.isArray(sample))
    return sample.flatMap((item, index) =>
      schema.items ? placesIn(schema.items, item, itemwise, [...path, index]) : [],
    )
  const below = Object.entries(sample).flatMap(([name, value]) => {
    const fields = [schema, ...alternatives(schema).map(resolve)].flatMap((one) => one.properties?.[name] ?? [])
    const found = fields.flatMap((field) => placesIn(field, value, itemwise, [...path, name]))
    return found.filter((one, index) => found.findIndex((other) => other.join('/') === one.join('/')) === index)
  })
  const isNamed = schema.properties !== undefined || alternatives(schema).some((one) => resolve(one).properties)
  return isNamed ? [path, ...below] : below
}

/** A copy of the body with one more value in it, whatever its name. */
export function placed(body: Record<string, unknown>, path: Path, value: unknown): Record<string, unknown> {
  const copy = structuredClone(body)
  let at = copy as Record<string | number, unknown>
  for (const step of path.slice(0, -1)) at = at[step] as Record<string | number, unknown>
  Object.defineProperty(at, path.at(-1) ?? '', { value, enumerable: true })
  return copy
}

/** A name with a letter too many in it. */
export const misspelt = (name: string): string => `${name.slice(0, 2)}q${name.slice(2)}`
