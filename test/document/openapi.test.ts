import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { operations, routers } from '../../src/app.ts'
import { openApiDocument } from '../../src/http/openapi.ts'
import type { Operation } from '../../src/http/operations/operation.ts'
import { resolveShared, type Schema, listSchemas } from '../support/document.ts'

interface DocumentedOperation {
  operationId: string
  security?: unknown
  summary: string
  description: string
  tags: string[]
  parameters?: { name: string; in: string; required: boolean; schema: Schema }[]
  requestBody?: { required: boolean; content: Record<string, { schema: Schema; example?: unknown }> }
  responses: Record<string, { description: string; content?: Record<string, { schema: Schema }> }>
}

interface Document {
  openapi: string
  paths: Record<string, Record<string, DocumentedOperation>>
  webhooks: Record<string, Record<string, DocumentedOperation>>
  components: { schemas: Record<string, Schema> }
}

it('the document has the version of the service', () => {
  expect(openApiDocument(routers).info.version).toBe(manifest.version)
})

const text = JSON.stringify(openApiDocument(routers))
const document = resolveShared(JSON.parse(text) as object) as Document
const all = operations as readonly Operation[]

const documented = (operation: Operation): DocumentedOperation => {
  const documentedOperation = document.paths[operation.path]?.[operation.method]
  if (!documentedOperation) throw new Error(`${operation.id} is not documented`)
  return documentedOperation
}

const resolved = (schema: Schema): Schema =>
  schema.$ref ? (document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema

const acceptsNull = (schema: Schema): boolean =>
  [resolved(schema).type].flat().includes('null') ||
  (schema.enum?.includes(null) ?? false) ||
  [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].some(acceptsNull)

const isList = (operation: Operation): boolean => 'page' in ((operation.query as { shape?: object }).shape ?? {})

describe('the OpenAPI document', () => {
  it('says of every field of an answer or an event that may be null when it is null', () => {
    const listOperations = (paths: Document['paths']) =>
      Object.values(paths).flatMap((methods) => Object.values(methods))
    const bodies = [
      ...listOperations(document.paths).flatMap(({ responses }) => Object.values(responses)),
      ...listOperations(document.webhooks).flatMap(({ requestBody }) => requestBody ?? []),
    ]
    const visited = new Set<Schema>()
    const nullable = bodies
      .flatMap(({ content }) => Object.values(content ?? {}))
      .flatMap(({ schema }) => [...listSchemas(schema, '', visited)])
      .flatMap(([path, { properties }]) =>
        Object.entries(properties ?? {}).map(([name, property]) => ({ field: `${path}.${name}`, property })),
      )
      .filter(({ property }) => acceptsNull(property))
    expect(nullable.length).toBeGreaterThan(80)
    const undescribed = nullable.filter(({ property }) => {
      const description = property.description ?? resolved(property).description ?? ''
      return !/\bnull\b/i.test(description)
    })
    expect(undescribed.map(({ field }) => field)).toEqual([])
  })

  it('is valid OpenAPI 3.1', async () => {
    expect(document.openapi).toMatch(/^3\.1\./)
    const { valid, errors } = await new Validator().validate(JSON.parse(text))
    expect(errors ?? []).toEqual([])
    expect(valid).toBe(true)
  })

  it('requires a token for every operation that is not public', () => {
    expect(JSON.parse(text)).toMatchObject({ security: [{ bearer: [] }] })
    const isOpen = (operation: Operation) => JSON.stringify(documented(operation).security) === '[]'
    expect(all.filter(isOpen)).toEqual(all.filter(({ isPublic }) => isPublic))
    expect(all.filter((operation) => !isOpen(operation) && 'security' in documented(operation))).toEqual([])
  })

  it('is small enough to be loaded by a browser', () => {
    // 148 operations and 8 events, and at most 4 kB for each that is added.
    const count = all.length + Object.keys(document.webhooks).length
    expect(text.length).toBeLessThan(620_000 + 4_000 * (count - 156))
  })

  it('is the same text each time', () => {
    expect(JSON.stringify(openApiDocument(routers))).toBe(text)
  })

  it('lists the specified operations and no others', () => {
    const there = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map((operation) => operation.operationId),
    )
    expect(there.toSorted()).toEqual(all.map(({ id }) => id).toSorted())
  })
})

describe.each(all)('$id', (operation) => {
  const { id } = operation

  it('has a description and its roles', () => {
    const { operationId, summary, description, tags } = documented(operation)
    expect(operationId).toBe(id)
    expect(summary.length).toBeGreaterThan(5)
    expect(description).toMatch(operation.isPublic ? /Everybody/ : /Roles: |superuser/)
    expect(tags).toContain(operation.tag)
  })

  it('documents its answers', () => {
    const { responses } = documented(operation)
    const isWrite = operation.scope === 'write'
    const named = operation.path.includes('{')
    const expected = [operation.status, 400, 429, 500, 503]
    if (!operation.isPublic) expected.push(401, 403)
    if (named || isList(operation)) expected.push(404)
    if (isWrite) expected.push(409)
    if (isWrite && !operation.isPublic) expected.push(422)
    if (operation.body) expected.push(413, 415)
    if (isWrite && named && operation.status !== 201) expected.push(412)
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(expected.map(String)))
    const codes =
      Object.values(responses)
        .map(({ description }) => description)
        .join() + documented(operation).description
    for (const code of ['validation_error', 'rate_limited']) expect(codes).toContain(`\`${code}\``)
    for (const code of ['not_authenticated', 'insufficient_scope'])
      expect(codes.includes(`\`${code}\``)).toBe(!operation.isPublic)
    expect(codes.includes('`invalid_page`')).toBe(isList(operation))
    expect(codes.includes('`write_conflict`')).toBe(isWrite)
    for (const declared of Object.values(operation.route.responses) as { description: string }[])
      for (const [code] of declared.description.matchAll(/`\w+`/g)) expect(codes).toContain(code)
    for (const [status, { content }] of Object.entries(responses)) {
      if (status === '204' || status === '304') expect(content).toBeUndefined()
      else
        expect(Object.keys(content ?? {})).toEqual([
          Number(status) < 400 ? expect.any(String) : 'application/problem+json',
          ...(Number(status) < 300 && operation.file?.ndjsonExample ? ['application/x-ndjson'] : []),
          ...(Number(status) < 300 && operation.file?.hasPage ? ['text/html'] : []),
        ])
    }
  })

  it('documents its parameters', () => {
    const parameters = documented(operation).parameters ?? []
    const placeholders = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    expect(parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)).toEqual(placeholders)
    const queryNames = Object.keys((operation.query as { shape?: object }).shape ?? {})
    expect(parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name)).toEqual(queryNames)
  })

  it.runIf(operation.body)(
    'has a body example that is accepted, and its optional and nullable fields are declared correctly',
    () => {
      const media = Object.values(documented(operation).requestBody?.content ?? {})[0]
      expect(documented(operation).requestBody?.required).toBe(!operation.body?.safeParse({}).success)
      expect(media?.example, 'an example').toBeDefined()
      expect(operation.body?.safeParse(media?.example).error).toBeUndefined()
      const schema = resolved(media?.schema ?? {})
      const fields =
        (operation.body as unknown as { shape?: Record<string, NonNullable<Operation['body']>> }).shape ?? {}
      // A form has the bytes of the file as one more field.
      const beside = operation.stream?.form ? ['file'] : []
      expect(Object.keys(schema.properties ?? {})).toEqual([...Object.keys(fields), ...beside])
      for (const [name, field] of Object.entries(fields)) {
        const property = schema.properties?.[name] ?? {}
        expect([name, acceptsNull(property)]).toEqual([name, field.safeParse(null).success])
        expect([name, schema.required?.includes(name) ?? false]).toEqual([name, !field.safeParse(undefined).success])
      }
    },
  )
})
