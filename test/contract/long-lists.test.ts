import * as fc from 'fast-check'
import { beforeAll, describe, it } from 'vitest'
import { dearRuns } from '../support/dear-runs.ts'
import { changes } from '../support/long-lists/changes.ts'
import { checkMovingWalk } from '../support/long-lists/check-moving-walk.ts'
import { checkRequest } from '../support/long-lists/check-request.ts'
import { exampleOf, expectedFailures, faultNames, faults, isExpectedToFail } from '../support/long-lists/faults.ts'
import { chooseRequest, requestSeed } from '../support/long-lists/requests.ts'
import { buildListsWorld, type ListsWorld } from '../support/long-lists/world.ts'

const listIds = [
  'listOrders',
  'listPurchases',
  'listUsers',
  'listRefundRequests',
  'listWebhookDeliveries',
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
  it('answers what a filter and a sort of all rows that the caller sees have, by `next` and by number', async () => {
    const lists = world.lists.filter((list) => list.id === id)
    await fc.assert(
      fc.asyncProperty(requestSeed, async (seed) => {
        const request = chooseRequest({ ...world, lists }, seed)
        if (!isExpectedToFail(request)) await checkRequest(world, request, seed.page)
      }),
      { numRuns: dearRuns(400, 30) },
    )
  })
})

describe('a list', () => {
  for (const name of faultNames) {
    const isExpected = expectedFailures.includes(name)
    const test = isExpected ? it.fails : it
    test(faults[name].title, () => checkRequest(world, exampleOf(world, faults[name]), 0))
  }
})

// They come last: what the world knows of its rows is not true any more then.
describe.each(Object.keys(changes))('a walk of %s while rows change', (id) => {
  it('has each row that did not change once', async () => {
    const lists = world.lists.filter((list) => list.id === id)
    const callers = world.callers.slice(0, 1)
    await fc.assert(
      fc.asyncProperty(
        requestSeed,
        fc.array(fc.nat({ max: 1_000_000 }), { minLength: 3, maxLength: 8 }),
        async (seed, ways) => {
          const request = chooseRequest({ ...world, lists, callers }, { ...seed, filters: seed.filters.slice(2) })
          if (!isExpectedToFail(request)) await checkMovingWalk(world, { ...request, size: 5 + (seed.page % 30) }, ways)
        },
      ),
      { numRuns: dearRuns(30, 3), endOnFailure: true },
    )
  })
})
