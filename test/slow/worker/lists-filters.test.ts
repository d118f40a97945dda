import { beforeAll, describe, expect, it } from 'vitest'
import type { Operation } from '../../../src/http/operations/operation.ts'
import { type ListedRow, matches, valuesOf } from '../../support/filter-model.ts'
import { listIds, readAs, walkAs } from '../../support/lists.ts'
import { chooseCaller, chooseReader, lists, make, buildPath, getSample } from '../../support/operations.ts'
import type { Sample } from '../../support/samples/sample.ts'
import { type DocumentedFilter, listFilters } from '../../support/schema.ts'
import { buildWorld, type World } from '../../support/world.ts'

const filled = 12

interface CachedList {
  operation: Operation
  sample: Sample
  /** The sample's own filters find these rows. */
  rows: readonly ListedRow[]
}

let world: World
const cachedLists = new Map<string, CachedList>()

const read = (at: string) => readAs(chooseReader(at, world).token, at)

beforeAll(async () => {
  world = await buildWorld()
  for (const operation of lists) {
    const sample = await make(operation, world, chooseCaller(operation, world))
    const { body } = await read(buildPath(operation, sample))
    if (body.count < filled) await getSample(operation).fill?.(world, filled)
    cachedLists.set(operation.id, { operation, sample, rows: [] })
  }
  for (const list of cachedLists.values()) list.rows = (await read(buildPath(list.operation, list.sample))).body.results
})

/** A cursor names a place in the list, and no property of its rows. */
const isCursor = ({ name }: DocumentedFilter): boolean => name === 'after'

const cases = lists.flatMap((operation) =>
  listFilters(operation)
    .filter((filter) => !isCursor(filter))
    .map((filter) => [operation.id, filter.name, filter] as const),
)

/** A filter must find the rows that show its value, in the same order, on each page and in the count. */
async function countWith(
  { operation, sample, rows }: CachedList,
  { name }: DocumentedFilter,
  value: string,
): Promise<number> {
  const buildPathWith = (more: Record<string, string>) =>
    buildPath(operation, { ...sample, query: { ...sample.query, [name]: value, ...more } })
  const unfiltered = await read(buildPathWith({}))
  const what = [operation.id, name, value]
  expect([...what, unfiltered.status]).toEqual([...what, 200])
  const ids = listIds(unfiltered)
  expect([...what, unfiltered.body.count]).toEqual([...what, ids.length])
  const half = Math.max(1, Math.ceil(ids.length / 2))
  const { ids: walked, count } = await walkAs(
    chooseCaller(operation, world).token,
    buildPathWith({ page_size: String(half) }),
  )
  expect([...what, count, walked]).toEqual([...what, ids.length, ids])
  const judged = rows.map((row) => matches(operation.id, name)(row, value))
  if (!judged.includes(null)) {
    const expected = rows.filter((_, index) => judged[index]).map(({ id }) => id)
    expect([...what, ids]).toEqual([...what, expected])
  }
  return ids.length
}

describe.each(cases)('%s with %s', (id, _, filter) => {
  it('returns the rows with each value, and no others', async () => {
    const list = cachedLists.get(id) ?? expect.unreachable()
    const counts = []
    for (const value of valuesOf(filter, list.rows)) counts.push(await countWith(list, filter, value))
    expect(Math.min(...counts)).toBeLessThan(list.rows.length)
  })
})

const timeFilters = cases.filter(([, name]) => /_(before|after)$/.test(name))

describe.each(timeFilters)('%s with %s', (id, name, filter) => {
  const [, field = '', bound] = /^(.+)_(before|after)$/.exec(name) ?? []

  it(`${bound === 'after' ? 'includes' : 'excludes'} its own time, as its description says`, async () => {
    const list = cachedLists.get(id) ?? expect.unreachable()
    const times = list.rows.map((row) => String(row[field]))
    const moment = times[Math.floor(times.length / 2)] ?? expect.unreachable()
    const path = buildPath(list.operation, { ...list.sample, query: { ...list.sample.query, [name]: moment } })
    const isIncluded = (time: string) => (bound === 'after' ? time >= moment : time < moment)
    const { body } = await read(path)
    expect((body.results as ListedRow[]).map((row) => row[field])).toEqual(times.filter(isIncluded))
    expect(filter.description).toMatch(bound === 'after' ? /at or after this time\.$/ : /(?<!or )before this time\.$/)
  })
})

it('eight lists have filters of times', () => {
  expect(new Set(timeFilters.map(([id]) => id))).toEqual(
    new Set([
      'listOrders',
      'listPurchases',
      'listRefundRequests',
      'listAuditLog',
      'listWebhookEvents',
      'listWebhookDeliveries',
      'listOrganizationWebhookDeliveries',
      'listDeadMessages',
    ]),
  )
})
