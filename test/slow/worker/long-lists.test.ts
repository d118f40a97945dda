import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { changes } from '../../support/long-lists/changes.ts'
import { checkMovingWalk } from '../../support/long-lists/check-moving-walk.ts'
import { checkRequest } from '../../support/long-lists/check-request.ts'
import { expectedFailures, faults, isExpectedToFail } from '../../support/long-lists/faults.ts'
import { chooseRequest, requestSeed, wholeScope } from '../../support/long-lists/requests.ts'
import { buildListsWorld, type ListsWorld } from '../../support/long-lists/world.ts'
import { dearRuns } from '../../support/property-runs.ts'

const listIds = [
  'listOrders',
  'listPurchases',
  'listUsers',
  'listRefundRequests',
  'listWebhookDeliveries',
  'listOrganizationWebhookDeliveries',
  'listWebhookEvents',
  'listAuditLog',
  'listFiles',
  'listImportRows',
  'listCampaignRecipients',
]

let world: ListsWorld
beforeAll(async () => {
  world = await buildListsWorld()
})

describe.each(listIds)('%s', (id) => {
  it('returns what a filter and a sort of all rows have that the caller sees, by `next` and by number', async () => {
    const lists = world.lists.filter((list) => list.id === id)
    await fc.assert(
      fc.asyncProperty(requestSeed, async (seed) => {
        const request = chooseRequest({ ...world, lists }, seed)
        if (!isExpectedToFail(request)) await checkRequest(world, request, seed.page)
      }),
      { numRuns: dearRuns(200, 40) },
    )
  })
})

describe('a list', () => {
  for (const [name, { title, check }] of Object.entries(faults)) {
    const test = expectedFailures.some((one) => one === name) ? it.fails : it
    test(title, () => check(world))
  }
})

// These tests run last, because they change rows that the world remembers.
describe.each(Object.keys(changes))('a walk of %s while rows change', (id) => {
  it('has each row once that did not change', async () => {
    const lists = world.lists.filter((list) => list.id === id)
    const callers = world.callers.slice(0, 1)
    const ways = fc.array(fc.nat({ max: 1_000_000 }), { minLength: 3, maxLength: 8 })
    let changed = 0
    await fc.assert(
      fc.asyncProperty(requestSeed, ways, async (seed, some) => {
        const chosen = chooseRequest({ ...world, lists, callers }, { ...seed, filters: seed.filters.slice(2) })
        const request = { ...chosen, scope: wholeScope(world, chosen), size: 5 + (seed.page % 30) }
        if (!isExpectedToFail(request)) changed += await checkMovingWalk(world, request, some)
      }),
      { numRuns: dearRuns(20, 3), endOnFailure: true },
    )
    expect(changed).toBeGreaterThan(0)
  })
})
