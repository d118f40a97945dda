import * as fc from 'fast-check'
import { beforeAll, describe, it } from 'vitest'
import { checkRequest } from '../support/long-lists/check-request.ts'
import { dearRuns } from '../support/dear-runs.ts'
import { chooseRequest, pathOfRequest, requestSeed } from '../support/long-lists/requests.ts'
import { buildListsWorld, type ListsWorld } from '../support/long-lists/world.ts'

let world: ListsWorld
beforeAll(async () => {
  world = await buildListsWorld()
})

const listIds = ['listOrders', 'listAuditLog']

describe.each(listIds)('%s', (id) => {
  it('answers what a filter and a sort of all rows that the caller sees have, by `next` and by number', async () => {
    const lists = world.lists.filter((list) => list.id === id)
    await fc.assert(
      fc.asyncProperty(requestSeed, async (seed) => {
        const request = chooseRequest({ ...world, lists }, seed)
        try {
          await checkRequest(world, request, seed.page)
        } catch (error) {
          throw new Error(`${request.caller.name}: ${pathOfRequest(request)}&page=${seed.page}`, { cause: error })
        }
      }),
      { numRuns: dearRuns(400, 60) },
    )
  })
})
