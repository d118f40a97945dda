import { routers } from '../../src/app.ts'
import { openApiDocument } from '../../src/http/openapi.ts'
import type { Operation } from '../../src/http/operations/operation.ts'

export interface Schema {
  $ref?: string
  type?: string | string[]
  description?: string
  format?: string
  example?: unknown
  pattern?: string
  enum?: unknown[]
  const?: unknown
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: Schema | boolean
  propertyNames?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  discriminator?: { propertyName: string; mapping?: Record<string, string> }
  maxLength?: number
  maxItems?: number
  minItems?: number
  maxProperties?: number
  minimum?: number
  maximum?: number
  uniqueItems?: boolean
  minLength?: number
}

export interface DocumentedOperation {
  description: string
  parameters?: {
    name: string
    in: string
    description?: string
    required?: boolean
    allowEmptyValue?: boolean
    schema: Schema
    explode?: boolean
  }[]
  requestBody?: { content: Record<string, { schema: Schema; example?: unknown }> }
  responses: Record<
    string,
    {
      description: string
      headers?: Record<string, { $ref: string }>
      content?: Record<string, { schema: Schema; example?: unknown }>
    }
  >
}

export interface Document {
  tags: { name: string; description?: string }[]
  paths: Record<string, Record<string, DocumentedOperation>>
  webhooks: Record<string, Record<string, { tags: string[]; operationId?: string }>>
  components: { schemas: Record<string, Schema>; headers: Record<string, { description: string }> }
}

type OrReference<Part> = Part | { $ref: string }

interface SharedMedia {
  example?: unknown
  examples?: Record<string, { $ref: string }>
}

interface Answer {
  content?: Record<string, SharedMedia>
}

interface SharingOperation {
  parameters?: OrReference<object>[]
  responses: Record<string, OrReference<Answer>>
}

/** Replaces references to shared answers, parameters and examples by these. */
export function resolveShared(document: object): object {
  const { paths, components } = document as {
    paths: Record<string, Record<string, SharingOperation>>
    components: Record<string, Record<string, object>>
  }
  const resolve = (part: OrReference<object>): object => {
    if (!('$ref' in part)) return part
    const [, , kind = '', name = ''] = part.$ref.split('/')
    const component = components[kind]?.[name]
    if (!component) throw new Error(`${part.$ref} does not exist`)
    return component
  }
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    if (operation.parameters) operation.parameters = operation.parameters.map(resolve)
    for (const [status, answer] of Object.entries(operation.responses)) operation.responses[status] = resolve(answer)
    for (const answer of Object.values(operation.responses) as Answer[])
      for (const media of Object.values(answer.content ?? {})) {
        const [example] = Object.values(media.examples ?? {})
        if (example) media.example = (resolve(example) as { value: unknown }).value
      }
  }
  return document
}

const cacheKey = Symbol.for('the document of the tests')

/** Files in one isolate share the document, which takes a second to build. No test changes it. */
export const document = ((globalThis as Record<symbol, unknown>)[cacheKey] ??= resolveShared(
  JSON.parse(JSON.stringify(openApiDocument(routers))) as object,
)) as Document

export function findDocumented({ id, path, method }: Pick<Operation, 'id' | 'path' | 'method'>): DocumentedOperation {
  const documentedOperation = document.paths[path]?.[method]
  if (!documentedOperation) throw new Error(`${id} is not documented`)
  return documentedOperation
}

export const resolveSchema = (schema: Schema): Schema =>
  schema.$ref ? (document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema

const parts = (schema: Schema): [string, Schema][] => [
  ...Object.entries(schema.properties ?? {}),
  ...[schema.items, typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined].flatMap(
    (one) => (one ? [['[]', one] as [string, Schema]] : []),
  ),
  ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])].map((one): [string, Schema] => [
    '',
    one,
  ]),
]

/** Lists every schema inside a schema by its path, and each named schema once. */
export function* listSchemas(rootSchema: Schema, path = '', visited = new Set<Schema>()): Generator<[string, Schema]> {
  const schema = resolveSchema(rootSchema)
  if (visited.has(schema)) return
  visited.add(schema)
  yield [path, schema]
  for (const [name, part] of parts(schema)) yield* listSchemas(part, name ? `${path}.${name}` : path, visited)
}
