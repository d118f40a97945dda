import { beforeAll, describe, expect, it } from 'vitest'
import type { Operation } from '../../src/http/operations/operation.ts'
import { call, type Reply } from '../support/api.ts'
import { listChangesSoFar, countChanges } from '../support/changes.ts'
import { chooseCaller, implemented, make, buildPath, send } from '../support/operations.ts'
import { buildWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
  await countChanges()
})

/** These bodies say what to change in several rows, and are not the resource itself. */
const ofSeveral = ['updateColumnMappings', 'updateProductMappings']
const patches = implemented.filter(({ id, method }) => method === 'patch' && !ofSeveral.includes(id))

type Resource = Record<string, unknown>

/** Fields whose name differs in answers, or that answers show in one language. */
const shownAs: Record<string, (resource: Resource) => unknown> = {
  sms_body: (resource) => resource['sms_body_translations'],
  subject: (resource) => resource['subject_translations'],
  segment_id: (resource) => (resource['segment'] as Resource)['id'],
}

const listFields = (operation: Operation): string[] =>
  Object.keys((operation.body as unknown as { shape: Record<string, unknown> }).shape)

/** Builds the body that sends every field of the resource as it was read. */
function bodyAsRead(operation: Operation, resource: Resource): Resource {
  const values = listFields(operation).map((name): [string, unknown] => [
    name,
    (shownAs[name] ?? ((one) => one[name]))(resource),
  ])
  return Object.fromEntries(values.filter(([, value]) => value !== undefined))
}

const sortKeys = (value: unknown): unknown =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toReversed())
    : value

describe.each(patches)('$id', (operation) => {
  it('writes nothing and keeps the ETag when it changes nothing', async () => {
    const caller = chooseCaller(operation, world)
    const sample = await make(operation, world, caller)
    const changed = await send(operation, sample, { token: caller.token })
    expect(changed.status === 200 || changed.text).toBe(true)
    const same: Resource = bodyAsRead(operation, changed.body)
    expect(Object.keys(same).length).toBeGreaterThanOrEqual(Object.keys(sample.body ?? {}).length)
    const before = await listChangesSoFar()
    const bodies = {
      'nothing at all': {},
      'the same again': sample.body ?? {},
      'all that stands': same,
      'all that stands, its keys in another order': Object.fromEntries(
        Object.entries(same).map(([name, value]) => [name, sortKeys(value)]),
      ),
    }
    for (const [name, body] of Object.entries(bodies)) {
      const reply: Reply = await call(buildPath(operation, sample), { method: 'PATCH', body, token: caller.token })
      expect([name, reply.status, reply.text, reply.headers.get('etag')]).toEqual([
        name,
        200,
        changed.text,
        changed.headers.get('etag'),
      ])
      expect([name, await listChangesSoFar()]).toEqual([name, before])
    }
  })

  it('stores its answer under the Idempotency-Key when it changes nothing', async () => {
    const caller = chooseCaller(operation, world)
    const sample = await make(operation, world, caller)
    const headers = { 'idempotency-key': `nothing-${operation.id}` }
    const ask = () => call(buildPath(operation, sample), { method: 'PATCH', body: {}, token: caller.token, headers })
    const first = await ask()
    const secondReply = await ask()
    expect([secondReply.status, secondReply.text]).toEqual([200, first.text])
    expect(secondReply.headers.get('idempotency-replayed')).toBe('true')
  })
})

it('at least seven changes are tested', () => {
  expect(patches.length).toBeGreaterThanOrEqual(7)
})
