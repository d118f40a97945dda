import { describe, expect, it } from 'vitest'
import { routers } from '../../src/app.ts'
import { openApiDocument } from '../../src/http/openapi.ts'
import { call } from '../support/api.ts'
import { implemented } from '../support/operations.ts'
import { samples } from '../support/samples/index.ts'
import listing from './operations.json'

/** Operations of groups that are here already, but come with another change. */
const awaited: readonly string[] = []

interface Promised {
  operation_id: string
  tag: string
  method: string
  path: string
  success: number
  roles: string[]
}

const promised = listing.operations as Promised[]
const ids = new Set(implemented.map(({ id }) => id))

describe('the operations', () => {
  it.each(implemented.map((operation) => [operation.id, operation] as const))(
    '%s is what was promised',
    (id, operation) => {
      const promise = promised.find((candidate) => candidate.operation_id === id)
      expect({
        id,
        method: operation.method.toUpperCase(),
        path: operation.path,
        success: operation.status,
        roles: operation.roles.toSorted(),
        tag: operation.tag,
      }).toEqual({
        id: promise?.operation_id,
        method: promise?.method,
        path: promise?.path,
        success: promise?.success,
        roles: promise?.roles.toSorted(),
        tag: promise?.tag,
      })
    },
  )

  it('are complete in each implemented group, except those listed as awaited', () => {
    const groups = new Set<string>(implemented.map(({ tag }) => tag))
    const missing = promised.filter(({ operation_id, tag }) => groups.has(tag) && !ids.has(operation_id))
    expect(missing.map(({ operation_id }) => operation_id).toSorted()).toEqual(awaited.toSorted())
  })

  it('have one implementation each', () => {
    expect(ids.size).toBe(implemented.length)
  })

  it('have a sample each', () => {
    expect([...ids].filter((id) => !samples[id])).toEqual([])
  })

  it('have samples for existing operations only', () => {
    const names = new Set(promised.map(({ operation_id }) => operation_id))
    expect(Object.keys(samples).filter((id) => !names.has(id))).toEqual([])
  })

  it('are documented in equal bytes at each request', async () => {
    const first = await call('/openapi.json', { token: null })
    const again = await call('/openapi.json', { token: null })
    expect(first.status).toBe(200)
    expect(again.text).toBe(first.text)
    expect(first.text).toBe(JSON.stringify(openApiDocument(routers)))
  })

  it('come before placeholders that would match their paths', async () => {
    for (const operation of implemented) {
      const fixed = operation.path.split('/').filter((segment) => !segment.startsWith('{'))
      if (fixed.length < operation.path.split('/').length || operation.method !== 'get') continue
      const reply = await call(operation.path)
      expect([operation.id, reply.body?.code]).not.toEqual([operation.id, 'not_found'])
    }
  })
})
