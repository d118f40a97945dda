import { beforeAll, describe, expect, it } from 'vitest'
import { readCost } from '../support/cost.ts'
import { chooseCaller, implemented, make, send } from '../support/operations.ts'
import { buildWorld, type World } from '../support/world.ts'

/** An operation that reads more rows than this in the small world of the tests scans a table. */
const maxRowsRead = 600
/** The context lists the values of every kind, and the rows of the fixed lists count too. */
const maxRowsReadOf: Readonly<Record<string, number>> = { getCelContext: 700 }

/** D1 allows 1,000 queries for an invocation, and each one takes time. */
const maxQueries = 30
/**
 * An erasure changes every place that can hold a person's text in one transaction. A page of segments evaluates the
 * expression of each.
 */
const maxQueriesOf: Readonly<Record<string, number>> = {
  eraseUser: 44,
  listUserSegments: 110,
  mergeProducts: 40,
  mergeUsers: 70,
}

let world: World
beforeAll(async () => {
  world = await buildWorld()
})

describe.each(implemented)('$id', (operation) => {
  it('answers in few statements that read few rows', async () => {
    const caller = chooseCaller(operation, world)
    const reply = await send(operation, await make(operation, world, caller), { token: caller.token })
    expect(reply.status).toBe(operation.status)
    const { queries, rows_read, rows_written } = readCost(reply)
    expect(rows_read).toBeLessThanOrEqual(maxRowsReadOf[operation.id] ?? maxRowsRead)
    expect(queries).toBeLessThanOrEqual(maxQueriesOf[operation.id] ?? maxQueries)
    if (operation.method === 'get' && operation.file === null) expect(rows_written).toBe(0)
  })
})
