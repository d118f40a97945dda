import { beforeAll, describe, expect, it } from 'vitest'
import type { Operation } from '../../src/http/operations/operation.ts'
import { type ListedRow, matches, valuesOf } from '../support/filter-model.ts'
import { idsOf, readAs, walkAs } from '../support/lists.ts'
import { lists, make, pathOf, sampleOf } from '../support/operations.ts'
import type { Sample } from '../support/samples/sample.ts'
import { type DocumentedFilter, filtersOf } from '../support/schema.ts'
import { buildWorld, type World } from '../support/world.ts'

const filled = 12

interface Asked {
  operation: Operation
  sample: Sample
  /** The rows of the sample's own filters. */
  rows: readonly ListedRow[]
}

let world: World
const asked = new Map<string, Asked>()

const read = (at: string) => readAs(world.people.OA.token, at)

beforeAll(async () => {
  world = await buildWorld()
  for (const operation of lists) {
    const sample = await make(operation, world, world.people.OA)
    const { body } = await read(pathOf(operation, sample))
    if (body.count < filled) await sampleOf(operation).fill?.(world, filled)
    asked.set(operation.id, { operation, sample, rows: [] })
  }
  for (const one of asked.values()) one.rows = (await read(pathOf(one.operation, one.sample))).body.results
})

const cases = lists.flatMap((operation) =>
  filtersOf(operation).map((filter) => [operation.id, filter.name, filter] as const),
)

/** The rows of a filter are those that show its value, in the same order, as its count and its pages say. */
async function countWith(
  { operation, sample, rows }: Asked,
  { name }: DocumentedFilter,
  value: string,
): Promise<number> {
  const pathWith = (more: Record<string, string>) =>
    pathOf(operation, { ...sample, query: { ...sample.query, [name]: value, ...more } })
  const whole = await read(pathWith({}))
  const what = [operation.id, name, value]
  expect([...what, whole.status]).toEqual([...what, 200])
  const ids = idsOf(whole)
  expect([...what, whole.body.count]).toEqual([...what, ids.length])
  const half = Math.max(1, Math.ceil(ids.length / 2))
  const { ids: walked, count } = await walkAs(world.people.OA.token, pathWith({ page_size: String(half) }))
  expect([...what, count, walked]).toEqual([...what, ids.length, ids])
  const judged = rows.map((row) => matches(operation.id, name)(row, value))
  if (!judged.includes(null)) {
    const expected = rows.filter((_, index) => judged[index]).map(({ id }) => id)
    expect([...what, ids]).toEqual([...what, expected])
  }
  return ids.length
}

describe.each(cases)('%s with %s', (id, _, filter) => {
  it('has the rows of each value, and leaves others out', async () => {
    const list = asked.get(id) ?? expect.unreachable()
    const counts = []
    for (const value of valuesOf(filter, list.rows)) counts.push(await countWith(list, filter, value))
    expect(Math.min(...counts)).toBeLessThan(list.rows.length)
  })
})

const moments = cases.filter(([, name]) => /_(before|after)$/.test(name))

describe.each(moments)('%s with %s', (id, name, filter) => {
  const [, field = '', bound] = /^(.+)_(before|after)$/.exec(name) ?? []

  it(`${bound === 'after' ? 'includes' : 'excludes'} its own moment, as its description says`, async () => {
    const list = asked.get(id) ?? expect.unreachable()
    const times = list.rows.map((row) => String(row[field]))
    const moment = times[Math.floor(times.length / 2)] ?? expect.unreachable()
    const path = pathOf(list.operation, { ...list.sample, query: { ...list.sample.query, [name]: moment } })
    const isIncluded = (time: string) => (bound === 'after' ? time >= moment : time < moment)
    const { body } = await read(path)
    expect((body.results as ListedRow[]).map((row) => row[field])).toEqual(times.filter(isIncluded))
    expect(filter.description).toMatch(bound === 'after' ? /at or after this time\.$/ : /(?<!or )before this time\.$/)
  })
})

it('compares moments in the orders, the refund requests and the audit log', () => {
  expect(new Set(moments.map(([id]) => id))).toEqual(new Set(['listOrders', 'listRefundRequests', 'listAuditLog']))
})
