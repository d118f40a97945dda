import { beforeAll, describe, expect, it } from 'vitest'
import type { Operation } from '../../../src/http/operations/operation.ts'
import type { Reply } from '../../support/api.ts'
import { call } from '../../support/api.ts'
import { listChangesSoFar, countChanges } from '../../support/changes.ts'
import { chooseCaller, implemented, lists, buildPath, send, sharedSample } from '../../support/operations.ts'
import { misspell } from '../../support/schema.ts'
import { buildWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
  await countChanges()
})

const listParameters = (operation: Operation): string[] =>
  Object.keys((operation.query as unknown as { shape?: object }).shape ?? {})

/** Sends the sample with more parameters; `more` is a query string. */
async function asking(operation: Operation) {
  const caller = chooseCaller(operation, world)
  const sample = await sharedSample(operation, world, caller)
  const before = await listChangesSoFar()
  const ask = (more: string, query: Record<string, string> = sample.query ?? {}): Promise<Reply> => {
    const path = buildPath(operation, { ...sample, query })
    return call(`${path}${path.includes('?') ? '&' : '?'}${more}`, {
      method: operation.method.toUpperCase(),
      token: caller.token,
      ...(sample.body === undefined ? {} : { body: sample.body }),
    })
  }
  return { ask, sample, before }
}

const refusal = (reply: Reply) => [reply.status, reply.body?.code, reply.body?.errors]
const expectRefusal = (name: string, code: string, detail: string) => [
  400,
  'validation_error',
  [{ code, detail, attr: name, pointer: null }],
]

describe.each(implemented)('$id', (operation) => {
  it('refuses an unknown parameter, and changes nothing', async () => {
    const { ask, before } = await asking(operation)
    for (const name of ['zzzzzz', 'constructor', '__proto__'])
      for (const value of ['1', ''])
        expect(refusal(await ask(`${name}=${value}`))).toEqual(
          expectRefusal(name, 'unknown_parameter', 'This parameter does not exist.'),
        )
    for (const name of listParameters(operation).filter(({ length }) => length > 3)) {
      const detail = `This parameter does not exist. Did you mean \`${name}\`?`
      expect(refusal(await ask(`${misspell(name)}=1`))).toEqual(
        expectRefusal(misspell(name), 'unknown_parameter', detail),
      )
    }
    expect(await listChangesSoFar()).toEqual(before)
  })
})

describe.each(implemented.filter((operation) => listParameters(operation).length))('$id', (operation) => {
  it('refuses a second value of a parameter that takes one', async () => {
    const { ask, sample, before } = await asking(operation)
    for (const name of listParameters(operation).filter((parameter) => parameter !== 'ordering')) {
      const { [name]: value = 'x', ...others } = sample.query ?? {}
      const reply = await ask(`${name}=${value}&${name}=${value}`, others)
      expect(refusal(reply)).toEqual(expectRefusal(name, 'repeated', 'This parameter is sent 2 times. Send it once.'))
    }
    expect(await listChangesSoFar()).toEqual(before)
  })
})

const prefixes: Record<string, string> = {
  account_id: 'usr',
  category_id: 'cat',
  customer_id: 'usr',
  data_import_id: 'imp',
  endpoint_id: 'whk',
  edition_id: 'edt',
  email_message_id: 'eml',
  event_id: 'evt',
  order_id: 'ord',
  organization_id: 'org',
  product_id: 'prd',
  purchase_id: 'pur',
  refund_batch_id: 'rfb',
  segment_id: 'seg',
  transaction_id: 'trx',
  user_id: 'usr',
}
/** Actor ids include `root` and ids of other systems, and the audit log has resources of every kind. */
const ofAnyKind = ['actor_id', 'external_id', 'resource_id']
const listIdParameters = (operation: (typeof implemented)[number]) =>
  listParameters(operation).filter((name) => name.endsWith('_id') && !ofAnyKind.includes(name))
const withIds = implemented.filter((operation) => listIdParameters(operation).length > 0)

describe.each(withIds)('$id', (operation) => {
  it('refuses an id of another kind, and names the kind that it expects', async () => {
    const { ask, sample } = await asking(operation)
    for (const name of listIdParameters(operation)) {
      const { [name]: __, ...others } = sample.query ?? {}
      const prefix = prefixes[name]
      for (const value of ['tok_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8', 'x', prefix])
        expect(refusal(await ask(`${name}=${value}`, others))).toEqual(
          expectRefusal(name, 'invalid_id', `Must be an id that begins with \`${prefix}_\`.`),
        )
    }
  })
})

describe.each(lists)('$id', (operation) => {
  it('refuses an invalid page size, and a forged cursor', async () => {
    const { ask } = await asking(operation)
    for (const size of ['abc', '0', '-1', '1.5', '10x']) {
      const reply = await ask(`page_size=${size}`)
      if (!listParameters(operation).includes('page_size')) {
        expect(['listUsers', 'listUserSegments']).toContain(operation.id)
        expect(reply.status).toBe(200)
        continue
      }
      expect(refusal(reply)).toEqual(expectRefusal('page_size', 'invalid', 'Must be a whole number from 1.'))
    }
    for (const cursor of ['x', '%F0%9F%92%A9', btoa('{}'), btoa('{"for":1}'), btoa('{"for":1,"after":[true]}')])
      expect(refusal(await ask(`cursor=${cursor}`))).toEqual(
        expectRefusal('cursor', 'invalid_cursor', 'Use the cursor from `next` unchanged.'),
      )
  })
})

describe('a list with a fixed page size', () => {
  it('ignores other page sizes, even repeated ones', async () => {
    const operation = implemented.find(({ id }) => id === 'listUsers')
    if (!operation) throw new Error('no listUsers')
    const { ask, sample } = await asking(operation)
    const usual = await send(operation, sample, { token: world.people.OA.token })
    for (const more of ['page_size=1', 'page_size=abc&page_size=2', 'page_size=']) {
      const reply = await ask(more)
      expect([reply.status, reply.body.results]).toEqual([200, usual.body.results])
    }
  })
})
