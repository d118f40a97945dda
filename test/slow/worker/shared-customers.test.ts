import { beforeAll, describe, expect, it } from 'vitest'
import type { Operation } from '../../../src/http/operations/operation.ts'
import type { Reply } from '../../support/api.ts'
import { hidden, hideCustomer, joinSegments, findMarks } from '../../support/hidden-customer.ts'
import { guarded, lists, send, sharedSample } from '../../support/operations.ts'
import type { Sample } from '../../support/samples/sample.ts'
import { listOrderings } from '../../support/schema.ts'
import { buildWorld, type Person, type World } from '../../support/world.ts'

let world: World
let customer: { id: string; seq: number }
beforeAll(async () => {
  world = await buildWorld()
  customer = await hideCustomer(world)
})

const reads = guarded.filter(({ method }) => method === 'get')
const roles = ['EA', 'EM', 'EV'] as const

const joined = new WeakSet<Sample>()

/** Makes the request of a read. A segment that the sample makes has the customer as a member. */
const prepareSample = async (operation: Operation, caller: Person) => {
  const sample = await sharedSample(operation, world, caller)
  if (!joined.has(sample)) await joinSegments(world, customer)
  joined.add(sample)
  return sample
}

/** Returns everything that an answer reveals: its text, headers and location. */
const joinTexts = (reply: Reply): string => `${reply.text}\n${JSON.stringify([...reply.headers])}`

describe.each(reads)('$id', (operation) => {
  it.each(roles)('hides from %s what other editions know of a customer', async (role) => {
    const caller = world.people[role]
    const sample = await prepareSample(operation, caller)
    const plain = await send(operation, sample, { token: caller.token })
    expect([operation.roles.includes(role), plain.status < 400]).toEqual([plain.status < 400, plain.status < 400])
    expect(findMarks(joinTexts(plain))).toEqual([])
    for (const key of listOrderings(operation)) {
      const query = { ...sample.query, ordering: `-${key}` }
      expect(findMarks(joinTexts(await send(operation, { ...sample, query }, { token: caller.token })))).toEqual([])
    }
  })
})

const listParameters = (operation: Operation): string[] =>
  Object.keys((operation.query as unknown as { shape?: object }).shape ?? {})

const needles = [hidden.email, 'hidden.example', hidden.phone_number, '60708090', hidden.first_name, hidden.last_name]

describe.each(lists)('$id', (operation) => {
  it('finds nothing for an edition role by hidden values', async () => {
    const caller = world.people.EM
    const sample = await prepareSample(operation, caller)
    const ask = async (name: string, value: string) => {
      const reply = await send(operation, { ...sample, query: { ...sample.query, [name]: value } }, caller)
      return [reply.status, reply.body.count ?? reply.body.code]
    }
    const before = await send(operation, sample, caller)
    for (const name of listParameters(operation)) {
      if (['ordering', 'page', 'page_size', 'cursor'].includes(name)) continue
      const unmatchedReply = await ask(name, 'qqqq')
      for (const needle of needles)
        expect([name, needle, await ask(name, needle)]).toEqual([name, needle, unmatchedReply])
    }
    expect((await send(operation, sample, caller)).body.count).toBe(before.body.count)
  })
})

/** Operations that show the customer, so that the tests above find something to check. */
const showing = [
  'listOrders',
  'getOrder',
  'getPurchase',
  'listPurchases',
  'listUsers',
  'getUser',
  'exportOrders',
  'exportPurchases',
  'exportSegmentUsers',
  'listSegmentUsers',
  'listCampaignRecipients',
]

describe('operations that show customers', () => {
  it('show an organisation role all values', async () => {
    const caller = world.people.OM
    const operationIds: string[] = []
    for (const operation of reads) {
      const reply = await send(operation, await prepareSample(operation, caller), { token: caller.token })
      if (findMarks(joinTexts(reply)).length) operationIds.push(operation.id)
    }
    expect(operationIds.toSorted()).toEqual(showing.toSorted())
  })

  it('show an edition role the customer with the values that the edition imported', async () => {
    const caller = world.people.EM
    for (const id of showing) {
      const operation = reads.find((candidate) => candidate.id === id)
      if (!operation) throw new Error(`there is no ${id}`)
      const sample = await prepareSample(operation, caller)
      const reply = await send(operation, sample, caller)
      const isShown = [customer.id, world.a.editions[0].order].some((part) => reply.text.includes(part))
      expect([id, isShown]).toEqual([id, true])
    }
  })

  it('do not sort recipients by hidden addresses', async () => {
    const operation = reads.find(({ id }) => id === 'listCampaignRecipients')
    if (!operation) throw new Error('there are no recipients')
    const sample = await prepareSample(operation, world.people.EM)
    for (const ordering of ['address', '-address', 'sent_at,address']) {
      const sortedSample = { ...sample, query: { ordering } }
      const refusal = await send(operation, sortedSample, world.people.EM)
      expect([refusal.status, refusal.body.errors?.[0]?.attr]).toEqual([400, 'ordering'])
      expect((await send(operation, sortedSample, world.people.OM)).status).toBe(200)
    }
  })
})
