import type { Operation } from '../../src/http/operations/operation.ts'
import { document, type Schema } from './document.ts'

export type { Schema }

const resolve = (schema: Schema): Schema =>
  schema.$ref ? (document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema

export function getBodySchema(operation: Operation): Schema {
  const content = document.paths[operation.path]?.[operation.method]?.requestBody?.content ?? {}
  return resolve(content['application/json']?.schema ?? {})
}

const alternatives = (schema: Schema): Schema[] => [
  ...(schema.anyOf ?? []),
  ...(schema.oneOf ?? []),
  ...(schema.allOf ?? []),
]

/** Lists the sort keys that the document states for a list. */
export function listOrderings(operation: Operation): string[] {
  const parameters = document.paths[operation.path]?.[operation.method]?.parameters ?? []
  const description = parameters.find(({ name }) => name === 'ordering')?.description ?? ''
  return /Sort keys[^:]*: ([\w, ]+)\./.exec(description)?.[1]?.split(', ') ?? []
}

/** A filter of a list, with its allowed words; ids, texts and times have none. */
export interface DocumentedFilter {
  name: string
  words: readonly string[]
  description: string
}

const pageNames = ['ordering', 'page', 'page_size', 'cursor']

/** Lists the filters that the document states for a list. */
export function listFilters(operation: Operation): DocumentedFilter[] {
  const parameters = document.paths[operation.path]?.[operation.method]?.parameters ?? []
  return parameters
    .filter((parameter) => parameter.in === 'query' && !pageNames.includes(parameter.name))
    .map(({ name, schema, description = '' }) => ({ name, description, words: listWords(resolve(schema)) }))
}

function listWords(schema: Schema): string[] {
  if (schema.type === 'boolean') return ['true', 'false']
  if (schema.type === 'integer') return [String(schema.minimum ?? 1), String(schema.maximum ?? 1)]
  const [inherited] = alternatives(schema)
  return (schema.enum ?? schema.items?.enum ?? (inherited ? resolve(inherited).enum : null) ?? []).map(String)
}

/** Lists the JSON types that a schema accepts, or none when it does not say. */
function listTypes(schemaOrReference: Schema): Set<string> {
  const schema = resolve(schemaOrReference)
  const ownTypes = [schema.type ?? []].flat()
  const chosen = (schema.enum ?? []).map((value) => (value === null ? 'null' : typeof value))
  return new Set([
    ...ownTypes,
    ...(ownTypes.length ? [] : chosen),
    ...alternatives(schema).flatMap((alternative) => [...listTypes(alternative)]),
  ])
}

export type Path = (string | number)[]

/** A value that the schema refuses at `path`; `undefined` removes the property. */
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
  const types = listTypes(schema)
  if (types.size === 0) return []
  return wrongValues.filter(([type]) => !types.has(type)).map(([, value]) => value)
}

/** Lists the wrong values for one property, by its schema. */
function listFaults(schemaOrReference: Schema, path: Path, isRequired: boolean): Fault[] {
  const schema = resolve(schemaOrReference)
  const types = listTypes(schema)
  const propertyFaults: Fault[] = wrongTypes(schema).map((value) => ({
    path,
    what: `a wrong type, ${JSON.stringify(value)}`,
    value,
  }))
  if (isRequired) propertyFaults.push({ path, what: 'missing', value: undefined, code: 'required' })
  if (types.size && !types.has('null')) propertyFaults.push({ path, what: 'null', value: null, code: 'null' })
  if (schema.maxLength !== undefined)
    propertyFaults.push({ path, what: 'too long', value: 'a'.repeat(schema.maxLength + 1) })
  if (schema.minLength === 1) propertyFaults.push({ path, what: 'empty', value: '', code: 'blank' })
  if (schema.enum)
    propertyFaults.push({ path, what: 'an unknown choice', value: 'no_such_choice', code: 'invalid_choice' })
  if (schema.maximum !== undefined) propertyFaults.push({ path, what: 'too large', value: schema.maximum + 1 })
  if (schema.minimum !== undefined) propertyFaults.push({ path, what: 'too small', value: schema.minimum - 1 })
  if (schema.minItems) propertyFaults.push({ path, what: 'no items', value: [], code: 'min_items' })
  if (types.has('string') && !schema.enum) {
    propertyFaults.push({ path, what: 'with NUL', value: 'a\0b', code: 'invalid_characters' })
    propertyFaults.push({ path, what: 'half a character', value: 'a\ud800', code: 'invalid_characters' })
  }
  const items = schema.items && resolve(schema.items)
  if (items?.enum) propertyFaults.push({ path, what: 'an unknown item', value: ['no_such_choice'] })
  if (schema.maxItems !== undefined && schema.maxItems <= 1000)
    propertyFaults.push({ path, what: 'too many items', value: Array.from({ length: schema.maxItems + 1 }, () => 'x') })
  return propertyFaults
}

/** Lists all faults of a body, at any depth that the sample reaches. */
export function faults(
  schemaOrReference: Schema,
  sample: unknown,
  itemwise: readonly string[] = [],
  path: Path = [],
): Fault[] {
  const schema = resolve(schemaOrReference)
  if (itemwise.includes(path.join('.'))) return []
  if (Array.isArray(sample) && schema.items)
    return sample.length ? faults(schema.items, sample[0], itemwise, [...path, 0]) : []
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const value = (sample as Record<string, unknown> | undefined)?.[name]
    const at = [...path, name]
    return [
      ...listFaults(property, at, schema.required?.includes(name) ?? false),
      ...(typeof value === 'object' && value !== null ? faults(property, value, itemwise, at) : []),
    ]
  })
}

/** A field of a request that names a resource by its id. */
export interface IdField {
  in: 'body' | 'query'
  /** The path through a body, with 0 for an item of a list: `edition_id`, `filter.product_id`, `mappings.0.id`. */
  name: string
  /** A prefix such as `edt`, or null when the document states none. */
  prefix: string | null
}

/** Returns the prefix that a schema, or one of its alternatives, demands of an id. */
function findPrefix(schemaOrReference: Schema): string | null {
  const schema = resolve(schemaOrReference)
  const ownPrefix = /^\^([a-z]{3})_/.exec(schema.pattern ?? '')?.[1]
  return (
    ownPrefix ??
    alternatives(schema).reduce<string | null>((prefix, alternative) => prefix ?? findPrefix(alternative), null)
  )
}

/** Lists the id fields inside one schema, at any depth. Blocks inside blocks are walked once. */
function listIdFieldsIn(schemaOrReference: Schema, path: Path = [], above: readonly Schema[] = []): IdField[] {
  const schema = resolve(schemaOrReference)
  if (above.includes(schema)) return []
  const listInside = (field: Schema, step?: string | number) =>
    listIdFieldsIn(field, step === undefined ? path : [...path, step], [...above, schema])
  const named = path.findLast((step) => typeof step === 'string') ?? ''
  const prefix = findPrefix(schema)
  const isText = schema.properties === undefined && schema.items === undefined
  const isId = isText && (prefix !== null || /_ids?$/.test(named))
  const fields = [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) => listInside(field, name)),
    ...(schema.items ? listInside(schema.items, 0) : []),
    ...(typeof schema.additionalProperties === 'object' ? listInside(schema.additionalProperties, '*') : []),
    ...alternatives(schema).flatMap((alternative) => listInside(alternative)),
  ]
  if (isId && fields.length === 0) fields.push({ in: 'body', name: path.join('.'), prefix })
  const names = new Set<string>()
  return fields.filter(({ name }) => !names.has(name) && names.add(name))
}

/** Lists every field of an operation's body, in each of its forms, and of its query that names a resource by its id. */
export function listIdFields(operation: Operation): IdField[] {
  const { parameters = [], requestBody } = document.paths[operation.path]?.[operation.method] ?? {}
  const bodies = Object.entries(requestBody?.content ?? {})
  const inForms = bodies
    .filter(([type]) => type !== 'application/json')
    .flatMap(([, { schema }]) => listIdFieldsIn(schema))
  const inQuery = parameters
    .filter((parameter) => parameter.in === 'query')
    .flatMap(({ name, schema }) => listIdFieldsIn(schema, [name]))
  // A file may come with its fields in the query or in a form, where they have the same names.
  const beside = new Map([...inForms, ...inQuery].map((field) => [field.name, { ...field, in: 'query' as const }]))
  return [...listIdFieldsIn(getBodySchema(operation)), ...beside.values()]
}

/** Returns a copy of the body with the fault in it. */
export function spoilBody(body: Record<string, unknown>, { path, value }: Fault): Record<string, unknown> {
  const copy = structuredClone(body)
  let at = copy as Record<string | number, unknown>
  for (const step of path.slice(0, -1)) at = at[step] as Record<string | number, unknown>
  const last = path.at(-1) ?? ''
  if (value === undefined) delete at[last]
  else at[last] = value
  return copy
}

/** Lists the objects of a body whose names the schema states, each by its path. */
export function listPlaces(
  schemaOrReference: Schema,
  sample: unknown,
  itemwise: readonly string[] = [],
  path: Path = [],
): Path[] {
  const schema = resolve(schemaOrReference)
  if (itemwise.includes(path.join('.')) || typeof sample !== 'object' || sample === null) return []
  if (Array.isArray(sample))
    return sample.flatMap((item, index) =>
      schema.items ? listPlaces(schema.items, item, itemwise, [...path, index]) : [],
    )
  const below = Object.entries(sample).flatMap(([name, value]) => {
    const fields = [schema, ...alternatives(schema).map(resolve)].flatMap((part) => part.properties?.[name] ?? [])
    const objectPlaces = fields.flatMap((field) => listPlaces(field, value, itemwise, [...path, name]))
    return objectPlaces.filter(
      (place, index) => objectPlaces.findIndex((other) => other.join('/') === place.join('/')) === index,
    )
  })
  const isNamed =
    schema.properties !== undefined || alternatives(schema).some((alternative) => resolve(alternative).properties)
  return isNamed ? [path, ...below] : below
}

/** Returns a copy of the body with one more value in it, whatever its name. */
export function placeValue(body: Record<string, unknown>, path: Path, value: unknown): Record<string, unknown> {
  const copy = structuredClone(body)
  let at = copy as Record<string | number, unknown>
  for (const step of path.slice(0, -1)) at = at[step] as Record<string | number, unknown>
  Object.defineProperty(at, path.at(-1) ?? '', { value, enumerable: true })
  return copy
}

/** Adds a letter to a name. */
export const misspell = (name: string): string => `${name.slice(0, 2)}q${name.slice(2)}`
