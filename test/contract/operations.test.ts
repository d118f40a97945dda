import { describe, expect, it } from 'vitest'
import { routers } from '../../src/app.ts'
import { openApiDocument } from '../../src/http/openapi.ts'
import { call } from '../support/api.ts'
import { implemented } from '../support/operations.ts'
import { samples } from '../support/samples/index.ts'
import listing from './operations.json'

/** Operations that a later change adds to an implemented group. */
const awaited: readonly string[] = []

interface PromisedOperation {
  operation_id: string
  tag: string
  method: string
  path: string
  success: number
  roles: string[]
  is_public?: boolean
}

const promised = listing.operations as PromisedOperation[]
const ids = new Set(implemented.map(({ id }) => id))

describe('the operations of the contract', () => {
  it.each(implemented)('has what was promised: $id', (operation) => {
    const { id } = operation
    const promise = promised.find((candidate) => candidate.operation_id === id)
    expect({
      id,
      method: operation.method.toUpperCase(),
      path: operation.path,
      success: operation.status,
      roles: operation.roles.toSorted(),
      isPublic: operation.isPublic,
      tag: operation.tag,
    }).toEqual({
      id: promise?.operation_id,
      method: promise?.method,
      path: promise?.path,
      success: promise?.success,
      roles: promise?.roles.toSorted(),
      isPublic: promise?.is_public ?? false,
      tag: promise?.tag,
    })
  })

  it('exist for each implemented group, except those that are listed as awaited', () => {
    const groups = new Set<string>(implemented.map(({ tag }) => tag))
    const missing = promised.filter(({ operation_id, tag }) => groups.has(tag) && !ids.has(operation_id))
    expect(missing.map(({ operation_id }) => operation_id).toSorted()).toEqual(awaited.toSorted())
  })

  it('are implemented once each', () => {
    expect(ids.size).toBe(implemented.length)
  })

  it('have a sample each', () => {
    expect([...ids].filter((id) => !samples[id])).toEqual([])
  })

  it('have samples only for existing operations', () => {
    const names = new Set(promised.map(({ operation_id }) => operation_id))
    expect(Object.keys(samples).filter((id) => !names.has(id))).toEqual([])
  })

  it('are documented in the same bytes at each request', async () => {
    const first = await call('/openapi.json', { token: null })
    const secondReply = await call('/openapi.json', { token: null })
    expect(first.status).toBe(200)
    expect(secondReply.text).toBe(first.text)
    expect(first.text).toBe(JSON.stringify(openApiDocument(routers)))
  })

  it('are matched before placeholders that would match their paths', async () => {
    for (const operation of implemented) {
      const fixed = operation.path.split('/').filter((segment) => !segment.startsWith('{'))
      if (fixed.length < operation.path.split('/').length || operation.method !== 'get') continue
      const reply = await call(operation.path)
      expect([operation.id, reply.body?.code]).not.toEqual([operation.id, 'not_found'])
    }
  })

  it('say in the document that a field may be null when it has a named shape or a stated type', async () => {
    const { body } = await call('/openapi.json', { token: null })
    const { EditionDetail } = body.components.schemas
    expect(EditionDetail.properties.meta_image).toMatchObject({
      anyOf: [{ $ref: '#/components/schemas/Image' }, { type: 'null' }],
    })
    const update = body.paths['/v1/editions/{id}'].patch.requestBody.content['application/json'].schema
    expect(update.properties.start_date).toMatchObject({ type: ['string', 'null'], format: 'date-time' })
  })
})
