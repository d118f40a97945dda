import { type SQL, sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import {
  deleteOldHits,
  type HitKeys,
  idKeys,
  type ListState,
  mostParts,
  numberKeys,
} from '../../src/db/lists/list-hits.ts'
import { paginateKept } from '../../src/db/lists/paginate-kept.ts'
import { dearRuns } from '../support/dear-runs.ts'
import { seedShop } from '../support/seeding/sales/orders.ts'
import { db, write } from '../support/seeding/rows.ts'
import { seedSearchedOrders } from '../support/seeding/searched-orders.ts'

/** Nothing is found. */
const none = sql`0`

/** Five parts of seven keys. */
const short = (keys: HitKeys): HitKeys => ({ ...keys, aPart: 7, parts: 5 })
const kinds = {
  number: { key: sql`orders.seq`, keys: short(numberKeys) },
  id: { key: sql`orders.id`, keys: short(idKeys) },
}

let stored: { seq: number; id: string }[] = []
beforeAll(async () => {
  await seedSearchedOrders(await seedShop(), 1, 60)
  // Of the length of other ids.
  await write(sql`update orders set id = 'ord_' || printf('%026d', seq * 7919 % 1000)`)
  stored = await db.all(sql<{ seq: number; id: string }>`select seq, id from orders`)
})

interface Asked {
  kind: keyof typeof kinds
  total: number
  size: number
  desc: boolean
  version: number
  rows?: number
}

type Keys = readonly (string | number)[]

/** A list of the first orders, what it keeps, and whether anything is looked for. */
function listOf({ kind, total, desc, size, version, rows = 1000 }: Asked) {
  const { key, keys } = kinds[kind]
  const known = stored.slice(0, total)
  const source = {
    from: sql`orders`,
    key,
    sort: [{ by: key, desc }],
    columns: { id: sql<string>`orders.id` },
    joins: sql`join orders on ${key} = page.key`,
  }
  const works: (() => Promise<unknown>)[] = []
  const state: ListState = {
    asked: { kind, total, desc },
    keys,
    version: sql`${version}`,
    rows: sql`${rows}`,
    keepsOrder: true,
    now: () => 1_000_000_000,
    afterCommit: (work) => works.push(work),
  }
  const search = sql`seq in (select value from json_each(${JSON.stringify(known.map(({ seq }) => seq))}))`
  const page = async (where: SQL, at: { page: number } | { after: Keys }) => {
    const request = { page: 1, size, after: null, ...at }
    const {
      rows: shown,
      count,
      after,
    } = await paginateKept(db, request, { source: { ...source, where: [where] }, state })
    return { ids: shown.map((row) => row.id), count, next: after }
  }
  const ids = known
    .toSorted((a, b) => (kind === 'id' ? (a.id < b.id ? -1 : 1) : a.seq - b.seq) * (desc ? -1 : 1))
    .map(({ id }) => id)
  return { search, page, ids, keep: () => Promise.all(works.splice(0).map((work) => work())) }
}

const asked = fc.record({
  kind: fc.constantFrom('number' as const, 'id' as const),
  total: fc.nat(42),
  // A page is shorter than a part.
  size: fc.integer({ min: 1, max: 6 }),
  desc: fc.boolean(),
  version: fc.nat(3),
})

it('pages of what is kept in parts are those of the list, by number and by next, while it is found and later', async () => {
  await fc.assert(
    fc.asyncProperty(asked, async (list) => {
      const { search, page, ids, keep } = listOf(list)
      const last = Math.max(1, Math.ceil(ids.length / list.size))
      // Nothing is found later: pages come from what is kept. More than are kept are counted and walked.
      for (const where of [search, ids.length > 35 ? search : none]) {
        let next: Keys | null = null
        for (let number = 1; number <= last; number++) {
          const expected = { ids: ids.slice((number - 1) * list.size, number * list.size), count: ids.length }
          const { next: _, ...numbered } = await page(where, { page: number })
          expect([number, numbered]).toEqual([number, expected])
          const linked: Awaited<ReturnType<typeof page>> = await page(where, next ? { after: next } : { page: 1 })
          expect([number, linked.ids]).toEqual([number, expected.ids])
          next = linked.next as Keys | null
        }
        expect(next).toBeNull()
        await expect(page(where, { page: last + 1 })).rejects.toMatchObject({ code: 'invalid_page' })
        await keep()
      }
    }),
    { numRuns: dearRuns(15, 5), endOnFailure: true },
  )
})

it('is found whole where more came than the list had, and not kept where the list is short', async () => {
  for (const total of [5, 7, 8, 30, 40]) {
    const { search, page, ids, keep } = listOf({ kind: 'id', total, size: 5, desc: false, version: 9, rows: 7 })
    for (const number of [1, Math.ceil(total / 5)]) {
      const { ids: found, count } = await page(search, { page: number })
      expect([total, number, found, count]).toEqual([total, number, ids.slice(5 * (number - 1), 5 * number), total])
    }
    await keep()
    expect((await page(none, { page: 1 })).count).toBe(0)
  }
})

it('a page is found anew where another search has taken the place of one of its parts', async () => {
  const list = listOf({ kind: 'id', total: 30, size: 6, desc: false, version: 1 })
  await list.page(list.search, { page: 1 })
  await list.keep()
  await write(sql`delete from list_counts where slot / 64 = 1`)
  const pages = [await list.page(list.search, { page: 2 }), await list.page(list.search, { page: 3 })]
  expect(pages.map(({ ids }) => ids)).toEqual([list.ids.slice(6, 12), list.ids.slice(12, 18)])
})

it('a state that changed has nothing kept, and all parts are deleted a day later', async () => {
  const list: Asked = { kind: 'id', total: 30, size: 10, desc: false, version: 7 }
  const first = listOf(list)
  await first.page(first.search, { page: 1 })
  await first.keep()
  const changed = listOf({ ...list, version: 8 })
  expect(await changed.page(none, { page: 1 })).toMatchObject({ ids: [], count: 0 })
  const kept = () => db.all(sql<{ slot: number }>`select slot from list_counts where slot >= 64`)
  expect((await kept()).length).toBeGreaterThanOrEqual(4)
  for (let minute = 0; minute < mostParts * 64; minute++)
    await deleteOldHits(db, 1_000_000_000 + 86_400_001 + minute * 60_000)
  expect(await kept()).toEqual([])
})
