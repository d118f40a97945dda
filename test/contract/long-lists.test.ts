import * as fc from 'fast-check'
import { beforeAll, describe, it } from 'vitest'
import { dearRuns } from '../support/dear-runs.ts'
import { checkRequest } from '../support/long-lists/check-request.ts'
import { exampleOf, expectedFailures, faultNames, faults, isExpectedToFail } from '../support/long-lists/faults.ts'
import { chooseRequest, requestSeed } from '../support/long-lists/requests.ts'
import { buildListsWorld, type ListsWorld } from '../support/long-lists/world.ts'

let world: ListsWorld
beforeAll(async () => {
  world = await buildListsWorld()
})

describe.each(['listOrders', 'listPurchases', 'listUsers', 'listRefundRequests', 'listAuditLog'])('%s', (id) => {
  it('answers what a filter and a sort of all rows that the caller sees have, by `next` and by number', async () => {
    const lists = world.lists.filter((list) => list.id === id)
    await fc.assert(
      fc.asyncProperty(requestSeed, async (seed) => {
        const request = chooseRequest({ ...world, lists }, seed)
        if (!isExpectedToFail(request)) await checkRequest(world, request, seed.page)
      }),
      { numRuns: dearRuns(400, 60) },
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
