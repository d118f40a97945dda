import { describe, expect, it } from 'vitest'
import { operations } from '../../src/app.ts'
import { languages } from '../../src/domain/languages.ts'
import type { Operation } from '../../src/http/operations/operation.ts'
import { document, findDocumented, resolveSchema, type Schema, listSchemas } from '../support/document.ts'

const all = operations as readonly Operation[]

const isOf = (schema: Schema, type: string): boolean => [schema.type].flat().includes(type)

/** Inputs for which the document states no limit. */
function unlimited(schema: Schema): string[] {
  const isChosen = schema.enum !== undefined || schema.const !== undefined
  const isText = isOf(schema, 'string') && !isChosen
  const isBounded = schema.maxLength !== undefined || schema.pattern !== undefined || schema.format === 'date-time'
  const isWhole = isOf(schema, 'integer') && !isChosen
  return [
    ...(isText && !isBounded ? ['text of any length'] : []),
    ...(isOf(schema, 'array') && schema.maxItems === undefined ? ['any number of items'] : []),
    ...(isWhole && (schema.minimum === undefined || schema.maximum === undefined) ? ['any whole number'] : []),
  ]
}

/** Inputs that only the size of a request limits, or a rule that a schema cannot express. */
const limitedElsewhere = new Map([
  ['validateCel.expression', 'one that is too long is answered as a fault of the expression'],
  ['page_size', 'larger values are clamped'],
  ['cursor', 'comes from the service, and what is not from it is refused'],
])

describe('the OpenAPI document', () => {
  it('describes every group', () => {
    for (const { name, description } of document.tags)
      expect([name, (description ?? '').length > 50]).toEqual([name, true])
  })

  it('lists each event under the group of its kind, with a name for generated clients', () => {
    const events = Object.entries(document.webhooks).map(([kind, { post }]) => ({ kind, ...post }))
    const names = document.tags.map(({ name }) => name)
    for (const { kind, tags = [] } of events) {
      expect(names).toContain(tags[0])
      expect(tags[0]?.toLowerCase()).toBe(`${kind.split('.')[0]} events`)
    }
    const ids = events.map(({ operationId }) => operationId)
    expect(new Set(ids).size).toBe(events.length)
    expect(ids).toContain('onPurchaseAction')
  })

  it('names each branch of the unions of blocks, with `type` as the discriminator', () => {
    for (const [name, count] of [
      ['EmailBlock', 10],
      ['EmailBlockInput', 10],
    ] as const) {
      const { oneOf = [], discriminator } = document.components.schemas[name] ?? {}
      expect(oneOf.filter(({ $ref }) => $ref)).toHaveLength(count)
      expect(Object.keys(discriminator?.mapping ?? {})).toHaveLength(count)
    }
    const { properties } = resolveSchema(document.components.schemas['EmailColumnsBlock'] ?? {})
    const inside = [...listSchemas(properties?.['data'] ?? {})].find(([, { oneOf }]) => oneOf)?.[1]
    expect(inside?.oneOf?.every(({ $ref }) => $ref)).toBe(true)
  })

  it('has patterns that are valid regular expressions and match their examples', () => {
    const schemas = Object.values(document.components.schemas).flatMap((schema) => [...listSchemas(schema)])
    let patternCount = 0
    for (const [path, schema] of schemas) {
      if (schema.pattern === undefined) continue
      const { example } = schema as { example?: string }
      patternCount += 1
      expect([path, schema.pattern]).toEqual([path, expect.not.stringMatching(/\/[a-z]+$/)])
      if (example !== undefined) expect(example).toMatch(new RegExp(schema.pattern, 'u'))
    }
    expect(patternCount).toBeGreaterThan(20)
  })

  it('says the defaults of bodies in descriptions, because typed clients require fields with a `default`', () => {
    const withDefault: string[] = []
    for (const operation of all)
      for (const { schema } of Object.values(findDocumented(operation).requestBody?.content ?? {}))
        for (const [path, part] of listSchemas(schema, operation.id)) if ('default' in part) withDefault.push(path)
    expect(withDefault).toEqual([])
    const status = document.components.schemas['ExternalOrder']?.properties?.['status']
    expect(status?.description).toContain('Default: `completed`.')
  })

  it('gives every whole number a format', () => {
    const withoutFormat: string[] = []
    const collect = (part: unknown, path: string) => {
      if (typeof part !== 'object' || part === null) return
      const { name, type, format } = part as Schema & { name?: unknown }
      if (name === 'page_size') return
      if ([type].flat().includes('integer') && format === undefined) withoutFormat.push(path)
      for (const [key, child] of Object.entries(part)) collect(child, `${path}/${key}`)
    }
    collect(document, '')
    expect(withoutFormat).toEqual([])
  })
})

const listHeaders = (operation: (typeof all)[number], status: number | string) =>
  Object.keys(findDocumented(operation).responses[status]?.headers ?? {})

describe.each(all)('$id', (operation) => {
  const { id } = operation

  it('describes each parameter', () => {
    for (const { name, description } of findDocumented(operation).parameters ?? [])
      expect([name, (description ?? '').length > 5]).toEqual([name, true])
  })

  it('declares the headers that every answer has', () => {
    for (const status of Object.keys(findDocumented(operation).responses))
      expect(listHeaders(operation, status)).toEqual(
        expect.arrayContaining(['Access-Control-Allow-Origin', 'X-Request-Id', 'RateLimit-Policy']),
      )
  })

  it('declares no header that the document does not describe', () => {
    const headerNames = Object.keys(document.components.headers)
    for (const status of Object.keys(findDocumented(operation).responses))
      for (const name of listHeaders(operation, status)) expect(headerNames).toContain(name)
  })

  it('declares the headers that say what helps after a refusal', () => {
    expect(listHeaders(operation, 405)).toContain('Allow')
    expect(listHeaders(operation, 429)).toContain('Retry-After')
    expect(listHeaders(operation, 503)).toContain('Retry-After')
  })

  it('declares the headers of its kind of answer, and no others', () => {
    const isList = 'page' in ((operation.query as { shape?: object }).shape ?? {})
    const headers = listHeaders(operation, operation.status)
    expect(headers.includes('Link')).toBe(isList)
    expect(headers.includes('ETag')).toBe(operation.response !== null && !isList)
    expect(headers.includes('Location')).toBe(operation.status === 201)
    expect(headers.includes('Idempotency-Replayed')).toBe(operation.scope === 'write' && !operation.isPublic)
  })

  it('declares a 304 and If-None-Match where a read has an ETag', () => {
    const { responses, parameters = [] } = findDocumented(operation)
    const isConditional = operation.method === 'get' && listHeaders(operation, 200).includes('ETag')
    expect('304' in responses).toBe(isConditional)
    expect(parameters.some(({ name }) => name === 'if-none-match')).toBe(isConditional)
  })

  it('has an example that is valid under its schema', () => {
    if (!operation.response) return
    const media = findDocumented(operation).responses[operation.status]?.content?.['application/json']
    expect(media?.example, 'npm run examples').toBeDefined()
    const { error, data } = operation.response.safeParse(media?.example)
    expect(error).toBeUndefined()
    expect(media?.example).toEqual(data)
  })

  it('declares the limits of its inputs', () => {
    const { parameters = [], requestBody } = findDocumented(operation)
    const unlimitedInputs: string[] = []
    for (const { name, in: place, schema } of parameters)
      if (place !== 'header' && !limitedElsewhere.has(name))
        for (const [, part] of listSchemas(schema))
          unlimitedInputs.push(...unlimited(part).map((what) => `${name}: ${what}`))
    for (const { schema } of Object.values(requestBody?.content ?? {}))
      for (const [path, part] of listSchemas(schema, id))
        if (!limitedElsewhere.has(path)) unlimitedInputs.push(...unlimited(part).map((what) => `${path}: ${what}`))
    expect(unlimitedInputs).toEqual([])
  })
})

describe('the documented constraints', () => {
  const findOperation = (id: string): Operation => {
    const targetOperation = all.find((operation) => operation.id === id)
    if (!targetOperation) throw new Error(`There is no ${id}`)
    return targetOperation
  }
  const findParameter = (id: string, name: string) =>
    findDocumented(findOperation(id)).parameters?.find((parameter) => parameter.name === name)
  const field = (id: string, name: string): Schema => {
    const schema = findDocumented(findOperation(id)).requestBody?.content['application/json']?.schema ?? {}
    return resolveSchema(schema).properties?.[name] ?? {}
  }

  it('list the values of `ordering` and `columns`, separated by commas', () => {
    const ordering = findParameter('listCampaigns', 'ordering')
    expect(ordering).toMatchObject({ explode: false, schema: { type: 'array' } })
    expect(ordering?.schema.items?.enum).toEqual(expect.arrayContaining(['created', '-created', '-name']))
    const columns = findParameter('exportSegmentUsers', 'columns')
    expect(columns).toMatchObject({ explode: false, schema: { type: 'array', minItems: 1 } })
    expect(columns?.schema.items?.enum).toContain('consent_status')
  })

  it('name the kind of the id in a filter', () => {
    expect(findParameter('listCampaigns', 'edition_id')?.schema).toMatchObject({ pattern: '^edt_', maxLength: 64 })
    expect(findParameter('explainSegment', 'user_id')?.schema).toMatchObject({ pattern: '^usr_' })
    expect(findParameter('listAuditLog', 'actor_id')?.schema).not.toHaveProperty('pattern')
  })

  it('state where a parameter without a value counts as absent', () => {
    expect(findParameter('listAuditLog', 'created_before')).toMatchObject({ allowEmptyValue: true })
    expect(findParameter('listCampaigns', 'page')).toMatchObject({ allowEmptyValue: true })
    expect(findParameter('explainSegment', 'user_id')).not.toHaveProperty('allowEmptyValue')
  })

  it('allow pages of one item and more', () => {
    expect(findParameter('listCampaigns', 'page_size')?.schema).toMatchObject({ minimum: 1 })
  })

  it('include the length of an Idempotency-Key', () => {
    expect(findParameter('createEdition', 'idempotency-key')?.schema).toMatchObject({ minLength: 1, maxLength: 255 })
  })

  it('include the number of orders in a call', () => {
    expect(field('importExternalOrders', 'orders')).toMatchObject({ minItems: 1, maxItems: 100 })
  })

  it('state that events and languages are unique', () => {
    expect(field('createWebhook', 'events')).toMatchObject({ uniqueItems: true, minItems: 1 })
    expect(field('createEdition', 'enabled_languages')).toMatchObject({ uniqueItems: true, minItems: 1 })
  })

  it('list the languages that texts can have', () => {
    expect(field('createCampaign', 'sms_body').propertyNames?.enum).toEqual([...languages])
  })

  it('include the customer of an explanation, and the place of known values', () => {
    expect(findParameter('explainSegment', 'user_id')).toMatchObject({ required: true, schema: { minLength: 1 } })
    for (const name of ['organization_id', 'edition_id'])
      expect(findParameter('getCelContext', name)?.description).toMatch(/^Required unless/)
  })

  it('allow the time of a schedule with and without an offset, as in its examples', () => {
    const { pattern = '' } = field('scheduleCampaign', 'scheduled_at')
    for (const time of ['2026-06-01T10:00:00', '2026-06-01T10:00:00+02:00', '2026-06-01T10:00:00Z'])
      expect(time).toMatch(new RegExp(pattern, 'u'))
    expect(field('scheduleCampaign', 'scheduled_at').format).toBeUndefined()
  })
})
