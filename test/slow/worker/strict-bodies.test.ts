import { beforeAll, describe, expect, it } from 'vitest'
import type { Operation } from '../../../src/http/operations/operation.ts'
import { call } from '../../support/api.ts'
import { listChangesSoFar, countChanges } from '../../support/changes.ts'
import {
  chooseCaller,
  implemented,
  make,
  buildPath,
  getSample,
  send,
  sharedSample,
  withBody,
  writes,
} from '../../support/operations.ts'
import { describeRefusal } from '../../support/refusals.ts'
import { getBodySchema, misspell, type Path, listPlaces, placeValue } from '../../support/schema.ts'
import { buildWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
  await countChanges()
})

const prepareSample = async (operation: Operation, sampleFor = make) => {
  const caller = chooseCaller(operation, world)
  const sample = await sampleFor(operation, world, caller)
  return { caller, sample, before: await listChangesSoFar() }
}
const preparedToRefuse = (operation: Operation) => prepareSample(operation, sharedSample)

const absent: Record<string, string>[] = [{}, { 'content-type': 'application/json' }, { 'content-length': '0' }]
const buildPointer = (path: Path): string => `#/${path.join('/')}`
const bodyless = writes.filter((operation) => operation.body === null && operation.stream === null)

describe.each(withBody)('$id', (operation) => {
  it('refuses an unknown field at any depth, and writes nothing', async () => {
    const { caller, sample, before } = await preparedToRefuse(operation)
    const places = listPlaces(getBodySchema(operation), sample.body ?? {}, getSample(operation).itemwise)
    expect(places[0]).toEqual([])
    for (const place of places)
      for (const name of ['no_such_field', 'constructor', '__proto__']) {
        const at = [...place, name]
        const reply = await send(
          operation,
          { ...sample, body: placeValue(sample.body ?? {}, at, { id: 1 }) },
          { token: caller.token },
        )
        const errors = reply.body?.errors?.map((error: { code: string; pointer: string }) => [
          error.code,
          error.pointer,
        ])
        expect([reply.status, reply.body?.code, errors]).toEqual([
          400,
          'validation_error',
          [['unknown_field', buildPointer(at)]],
        ])
      }
    expect(await listChangesSoFar()).toEqual(before)
  })

  it('suggests the field with a similar name', async () => {
    const { caller, sample, before } = await preparedToRefuse(operation)
    for (const name of Object.keys(getBodySchema(operation).properties ?? {}).filter(({ length }) => length > 3)) {
      const reply = await send(
        operation,
        { ...sample, body: { ...sample.body, [misspell(name)]: null } },
        { token: caller.token },
      )
      expect([reply.status, reply.body.errors]).toEqual([
        400,
        [
          {
            code: 'unknown_field',
            detail: `This field does not exist. Did you mean \`${name}\`?`,
            attr: misspell(name),
            pointer: `#/${misspell(name)}`,
          },
        ],
      ])
    }
    expect(await listChangesSoFar()).toEqual(before)
  })

  it('treats an absent body as an empty one', async () => {
    const { sample, caller } = await preparedToRefuse(operation)
    const required = getBodySchema(operation).required ?? []
    for (const headers of absent) {
      const { body: _body, ...bare } = required.length ? sample : await make(operation, world, caller)
      const method = operation.method.toUpperCase()
      const reply = await send(operation, bare, { method, token: caller.token, headers })
      if (required.length === 0) {
        // An empty body signs in through Cloudflare Access, which is not configured here.
        const expected = operation.id === 'createSession' ? [403, []] : [operation.status, undefined]
        expect([reply.status, reply.body?.errors]).toEqual(expected)
        continue
      }
      const errors = reply.body.errors.map((error: { code: string; pointer: string }) => [error.code, error.pointer])
      expect([reply.status, errors]).toEqual([400, required.map((name) => ['required', `#/${name}`])])
    }
  })
})

describe.each(bodyless)('$id', (operation) => {
  it('accepts an empty object as its body, and no field', async () => {
    const { caller, sample, before } = await prepareSample(operation)
    const refusal = await send(operation, { ...sample, body: { force: true } }, { token: caller.token })
    expect(describeRefusal(refusal)).toBe('400 validation_error: unknown_field #/force')
    expect(await listChangesSoFar()).toEqual(before)
    const reply = await send(operation, { ...sample, body: {} }, { token: caller.token })
    expect(reply.status === operation.status || reply.text).toBe(true)
  })
})

/** The names of the fields of an answer. The answer to a change can have `warnings` as well. */
const listAnswered = ({ response }: Operation): string =>
  Object.keys((response as unknown as { shape?: object } | null)?.shape ?? {})
    .filter((name) => name !== 'warnings')
    .toSorted()
    .join(' ')

/** Tells whether a change returns what its path reads. Other changes are actions on what a list names. */
const isOfResource = (operation: Operation): boolean =>
  implemented.some(
    (other) =>
      other.method === 'get' && other.path === operation.path && listAnswered(other) === listAnswered(operation),
  )

const changes = implemented.filter(({ method }) => method === 'patch')
const patches = changes.filter(isOfResource)

describe.each(patches)('$id', (operation) => {
  it('accepts the whole resource as it was read, with and without an edited field', async () => {
    const { caller, sample } = await prepareSample(operation)
    const path = buildPath(operation, { path: sample.path ?? {} })
    const read = async () => (await call(path, { token: caller.token })).body as Record<string, unknown>
    const patch = (body: Record<string, unknown>) =>
      call(path, { method: 'PATCH', body: JSON.parse(JSON.stringify(body)), token: caller.token })
    const before = await read()
    const fieldNames = Object.keys(getBodySchema(operation).properties ?? {})
    const settable = (from: Record<string, unknown>) => fieldNames.map((name) => [name, from[name]])
    const first = await patch(before)
    expect([first.status, settable(first.body)]).toEqual([200, settable(before)])
    // The service computes derived fields from the fields as they are, and the seed does not.
    const second = await patch(first.body)
    expect([second.status, second.body]).toEqual([200, { ...first.body, modified: second.body.modified }])
    for (const [name, value] of Object.entries(sample.body ?? {})) {
      const reply = await patch({ ...(await read()), [name]: value })
      expect([name, reply.status === 200 || reply.text]).toEqual([name, true])
    }
  })

  it('ignores read-only fields, also with other values', async () => {
    const { caller, sample } = await prepareSample(operation)
    const path = buildPath(operation, { path: sample.path ?? {} })
    const before = (await call(path, { token: caller.token })).body as Record<string, unknown>
    const fieldNames = Object.keys(getBodySchema(operation).properties ?? {})
    const readOnly = Object.keys(before).filter((name) => !fieldNames.includes(name))
    const reply = await call(path, {
      method: 'PATCH',
      body: Object.fromEntries(readOnly.map((name) => [name, 'other'])),
      token: caller.token,
    })
    expect([reply.status, reply.body]).toEqual([200, { ...before, modified: reply.body.modified }])
  })
})

describe('a change of something other than the resource at its path', () => {
  it('exists only for the products of an import', () => {
    expect(patches.length).toBeGreaterThan(10)
    expect(changes.filter((operation) => !isOfResource(operation)).map(({ id }) => id)).toEqual([
      'updateProductMappings',
    ])
  })

  it('refuses a page of its list, and changes nothing', async () => {
    const operation = changes.find(({ id }) => id === 'updateProductMappings')
    if (!operation) throw new Error('no updateProductMappings')
    const { caller, sample, before } = await prepareSample(operation)
    const path = buildPath(operation, { path: sample.path ?? {} })
    const { body } = await call(path, { token: caller.token })
    expect(body.results).toHaveLength(1)
    const reply = await call(path, { method: 'PATCH', body, token: caller.token })
    expect([reply.status, reply.body.errors.map(({ pointer }: { pointer: string }) => pointer)]).toEqual([
      400,
      ['#/mappings', '#/count', '#/next', '#/previous'],
    ])
    expect(await listChangesSoFar()).toEqual(before)
  })
})

describe('a field whose form in answers differs from the one that sets it', () => {
  it('is accepted unchanged, and refused when it is changed', async () => {
    const { a, people } = world
    const token = people.OA.token
    const [edition] = a.editions
    const body = {
      organization_id: a.id,
      edition_id: edition.id,
      segment_id: edition.segment,
      name: 'Texts',
      channel: 'sms',
      sms_body: { en: 'Hello', da: 'Hej' },
    }
    const { body: campaign } = await call('/v1/campaigns', { body, token })
    const message = (await call(`/v1/email-messages/${edition.message}`, { token })).body
    const cases = [
      [`/v1/campaigns/${campaign.id}`, campaign, 'sms_body', 'sms_body_translations'],
      [`/v1/email-messages/${message.id}`, message, 'subject', 'subject_translations'],
    ] as const
    for (const [path, resource, field, translations] of cases) {
      expect(resource[field]).toEqual(expect.any(String))
      const unchangedReply = await call(path, { method: 'PATCH', body: resource, token })
      expect([unchangedReply.status, unchangedReply.body[translations]]).toEqual([200, resource[translations]])
      const reply = await call(path, { method: 'PATCH', body: { ...resource, [field]: 'Other' }, token })
      expect([reply.status, reply.body.errors.map(({ pointer }: { pointer: string }) => pointer)]).toEqual([
        400,
        [`#/${field}`],
      ])
    }
  })
})

describe('a body that creates a resource', () => {
  it('may contain read-only fields, but not fields that only a change sets', async () => {
    const operation = withBody.find(({ id }) => id === 'createEdition')
    if (!operation) throw new Error('no createEdition')
    const { caller, sample } = await prepareSample(operation)
    const reply = await send(
      operation,
      { ...sample, body: { ...sample.body, id: 'x', created: 1 } },
      { token: caller.token },
    )
    expect(reply.status).toBe(201)
    const refusal = await send(
      operation,
      { ...sample, body: { ...sample.body, currency: 'eur' } },
      { token: caller.token },
    )
    expect([refusal.status, refusal.body.errors]).toEqual([
      400,
      [
        {
          code: 'unknown_field',
          detail: 'This field cannot be set when the resource is created. Set it afterwards with PATCH.',
          attr: 'currency',
          pointer: '#/currency',
        },
      ],
    ])
  })

  it('may not contain read-only fields when it is that of an action', async () => {
    const operation = withBody.find(({ id }) => id === 'duplicateEdition')
    if (!operation) throw new Error('no duplicateEdition')
    const { caller, sample } = await prepareSample(operation)
    const body = { ...sample.body, start_date: '2027-06-01T10:00:00Z' }
    const reply = await send(operation, { ...sample, body }, { token: caller.token })
    expect(describeRefusal(reply)).toMatch(/^400 validation_error: \w+ #\/start_date$/)
  })

  it('is refused with the first fifty of twenty thousand unknown names', async () => {
    const operation = withBody.find(({ id }) => id === 'createEvent')
    if (!operation) throw new Error('no createEvent')
    const { caller, sample } = await prepareSample(operation)
    const names = Object.fromEntries(Array.from({ length: 100_000 }, (__, index) => [`n${index}`, 0]))
    const reply = await send(operation, { ...sample, body: { ...sample.body, ...names } }, { token: caller.token })
    expect(describeRefusal(reply)).toBe('413 body_too_large')
    const fewer = Object.fromEntries(Object.entries(names).slice(0, 19_000))
    const listed = await send(operation, { ...sample, body: { ...sample.body, ...fewer } }, { token: caller.token })
    expect([listed.status, listed.body.errors.length]).toEqual([400, 50])
  })
})

describe('an order of an import', () => {
  it('fails alone when it has an unknown field', async () => {
    const operation = withBody.find(({ id }) => id === 'importExternalOrders')
    if (!operation) throw new Error('no importExternalOrders')
    const { caller, sample } = await prepareSample(operation)
    const [order] = (sample.body?.['orders'] ?? []) as Record<string, unknown>[]
    const [item] = (order?.['items'] ?? []) as object[]
    const items = [{ ...item, unit_prize: 5 }]
    const body = {
      ...sample.body,
      orders: [
        { ...order, items },
        { ...order, external_id: 'A-1002' },
      ],
    }
    const reply = await send(operation, { ...sample, body }, { token: caller.token })
    expect(reply.status).toBe(201)
    expect(reply.body.results[0]).toMatchObject({
      action: 'error',
      order_id: null,
      errors: [
        {
          code: 'unknown_field',
          pointer: '#/orders/0/items/0/unit_prize',
          detail: 'This field does not exist. Did you mean `unit_price`?',
        },
      ],
    })
    expect(reply.body.results[1]).toMatchObject({ action: 'created', errors: [] })
  })
})
