import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { Database } from '../../src/db/database.ts'
import { type ListSource, nullable, type Owners, type OldSortKey } from '../../src/db/lists/list-source.ts'
import { orderKeysOf } from '../../src/db/lists/order-keys.ts'
import { paginate } from '../../src/db/lists/paginate.ts'
import { newMeter } from '../../src/domain/meter.ts'
import type { Page } from '../../src/domain/page.ts'
import { compareKeys } from '../../src/domain/text/compare-keys.ts'

const owners = ['one', 'two', 'three']
const kinds = ['x', 'y']

interface Row {
  owner: string
  kind: string
  number: number
  text: string
  may_be_null: string | number | null
}
type Made = Row & { seq: number }

const meter = newMeter()
const db = new Database(env.DB, meter)

beforeAll(async () => {
  for (const statement of [
    `create table owned_rows (seq integer primary key, owner text not null, kind text not null, number integer not null,
      text text not null, may_be_null)`,
    'create index merged_number on owned_rows (owner, number)',
    'create index merged_text on owned_rows (owner, text, number)',
    'create index merged_null on owned_rows (owner, kind, may_be_null)',
    'create index merged_kind on owned_rows (owner, kind, number)',
  ])
    await env.DB.prepare(statement).run()
})
beforeEach(() => db.all(sql`delete from owned_rows`))

async function add(rows: readonly Row[]): Promise<Made[]> {
  await db.all(sql`insert into owned_rows select key + 1, value ->> 'owner', value ->> 'kind', value ->> 'number',
    value ->> 'text', value ->> 'may_be_null' from json_each(${JSON.stringify(rows)})`)
  return rows.map((row, index) => ({ ...row, seq: index + 1 }))
}

/** An order of the list, and the values that a row has for its keys. */
interface Order {
  sort: (desc: boolean) => OldSortKey[]
  keys: (row: Made) => (string | number)[]
  ranges?: ListSource['ranges']
}

const [number, text, kind] = [sql`owned_rows.number`, sql`owned_rows.text`, sql`owned_rows.kind`]
const ofKinds = { columns: [kind], values: kinds.map((one) => [one]), areWords: true }
const ofNull = ({ may_be_null }: Row) => (may_be_null === null ? [1, 0] : [0, may_be_null])

const orders: Record<string, Order> = {
  'a number': { sort: (desc) => [{ by: number, desc }], keys: (row) => [row.number] },
  'a number in ranges': { sort: (desc) => [{ by: number, desc }], keys: (row) => [row.number], ranges: ofKinds },
  'a text and a number': {
    sort: (desc) => [
      { by: text, desc },
      { by: number, desc },
    ],
    keys: (row) => [row.text, row.number],
  },
  'two ways': {
    sort: (desc) => [
      { by: text, desc },
      { by: number, desc: !desc },
    ],
    keys: (row) => [row.text, row.number],
  },
  'values, then rows without one': {
    sort: (desc) => [{ by: nullable(sql`owned_rows.may_be_null`, { indexed: true, ranges: ofKinds }), desc }],
    keys: ofNull,
  },
  'one kind after the other': {
    sort: (desc) => [
      { by: { listed: kind, values: kinds }, desc },
      { by: number, desc },
    ],
    keys: (row) => [row.kind, row.number],
  },
}

interface Shown {
  seq: number
  owner: string
  of: string
}

const merged: Owners = {
  column: sql`owned_rows.owner`,
  ids: sql`select value as id, 'of ' || value as shown from json_each(${JSON.stringify([...owners, 'nobody'])})`,
  isOrdered: true,
  areShown: true,
}

const sourceOf = ({ sort, ranges }: Order, desc: boolean): ListSource => ({
  from: sql`owned_rows`,
  key: sql`owned_rows.seq`,
  where: [],
  owners: merged,
  ranges,
  sort: sort(desc),
  columns: sql`owned_rows.seq as seq, owned_rows.owner as owner, shown as "of"`,
  joins: sql`join owned_rows on owned_rows.seq = page.key`,
})

/** The list of one owner, whose pages are read with their rows. */
const ofOne = (source: ListSource): ListSource => ({
  ...source,
  owners: undefined,
  where: [sql`owned_rows.owner = 'one'`],
  shown: sql`(select 'of ' || 'one')`,
  read: { table: sql`owned_rows`, joins: sql`` },
})

/** As `sourceOf`, of owners that are known, each of which is a range. */
function ofKnown({ sort, ranges }: Order, desc: boolean): ListSource {
  const { columns = [], values = [[]] } = ranges ?? {}
  return {
    ...sourceOf({ sort, keys: () => [] }, desc),
    owners: undefined,
    ranges: {
      columns: [sql`owned_rows.owner`, ...columns],
      values: [...owners, 'nobody'].flatMap((owner) => values.map((ofRange) => [owner, ...ofRange])),
      areWords: true,
    },
    carried: sql`owned_rows.owner`,
    shown: sql`'of ' || owner`,
  }
}

function naive(rows: readonly Made[], { sort, keys }: Order, desc: boolean): Shown[] {
  const whole = sort(desc)
  const order = orderKeysOf([...whole, { by: sql`owned_rows.seq`, desc: whole.at(-1)?.desc ?? false }])
  return rows
    .toSorted((a, b) => compareKeys([...keys(a), a.seq], [...keys(b), b.seq], order))
    .map(({ seq, owner }) => ({ seq, owner, of: `of ${owner}` }))
}

const plain = (rows: readonly Shown[]): Shown[] => rows.map(({ seq, owner, of }) => ({ seq, owner, of }))

async function walked(source: ListSource, size: number): Promise<Shown[]> {
  const rows: Shown[] = []
  for (let after: (string | number)[] | null = null, first = true; first || after; first = false) {
    const page: Page<Shown> = await paginate<Shown>(db, { page: 1, size, after }, source)
    rows.push(...page.rows)
    after = page.after as (string | number)[] | null
  }
  return plain(rows)
}

async function expectList(source: ListSource, size: number, all: readonly Shown[]): Promise<void> {
  expect(await walked(source, size)).toEqual(all)
  for (let page = 1; page === 1 || (page - 1) * size < all.length; page++) {
    const found = await paginate<Shown>(db, { page, size, after: null }, source)
    expect([plain(found.rows), found.count]).toEqual([all.slice((page - 1) * size, page * size), all.length])
  }
}

const texts = ['', '9', '10', 'a', 'A', 'é', '\u{1F600}', '\u{FFFD}', '"quoted" \\ [0]', 'null', 'long '.repeat(2000)]
const rowsOf = fc.array(
  fc.record({
    owner: fc.constantFrom(...owners),
    kind: fc.constantFrom(...kinds),
    number: fc.constantFrom(-5, 0, 1, 2, 10, Number.MAX_SAFE_INTEGER),
    text: fc.constantFrom(...texts),
    may_be_null: fc.constantFrom(null, 0, 7, ...texts),
  }),
  { maxLength: 30 },
)

it.each(Object.keys(orders))('a list of several owners is the naive list, in an order by %s', async (name) => {
  const order = orders[name] ?? expect.unreachable()
  await fc.assert(
    fc.asyncProperty(rowsOf, fc.boolean(), fc.integer({ min: 1, max: 12 }), async (rows, desc, size) => {
      await db.all(sql`delete from owned_rows`)
      const made = await add(rows)
      const source = sourceOf(order, desc)
      await expectList(source, size, naive(made, order, desc))
      if (name !== 'values, then rows without one') {
        await expectList(ofKnown(order, desc), size, naive(made, order, desc))
        const whole = { table: sql`owned_rows`, joins: sql`` }
        await expectList({ ...ofKnown(order, desc), read: whole }, size, naive(made, order, desc))
      }
      const own = made.filter(({ owner }) => owner === 'one')
      await expectList(ofOne(source), size, naive(own, order, desc))
    }),
    { numRuns: 12 },
  )
})

it('integers that JavaScript does not tell apart keep their order', async () => {
  const rows = [3, 1, 0, 2].map((more, index) => ({ seq: index + 1, more, owner: owners[index % 2] ?? '' }))
  for (const { seq, more, owner } of rows)
    await db.all(
      sql`insert into owned_rows values (${seq}, ${owner}, 'x', 9007199254740992 + ${sql.raw(String(more))}, '', null)`,
    )
  const order = orders['a number'] ?? expect.unreachable()
  const page = await paginate<Shown>(db, { page: 1, size: 10, after: null }, sourceOf(order, false))
  expect(page.rows.map(({ seq }) => seq)).toEqual([3, 2, 4, 1])
})

it('a page of one owner among many reads two and a half rows for each, beside that itself', async () => {
  const row = { kind: 'x', text: '', may_be_null: null }
  const all = [...Array(200).keys()].map((index) => ({ ...row, owner: 'one', number: index }))
  await add([...all, { ...row, owner: 'two', number: 1000 }])
  const order = orders['a number'] ?? expect.unreachable()
  const costs = async (source: ListSource) => {
    const before = meter.rows_read
    await paginate<Shown>(db, { page: 1, size: 50, after: null }, { ...source, count: 201 })
    return meter.rows_read - before
  }
  // The row itself; four owners; the first row of an owner has an entry more.
  expect(await costs(sourceOf(order, false))).toBeLessThanOrEqual(51 + 51 * 2.5 + 4 * 2 + 4)
  expect(await costs(ofOne(sourceOf(order, false)))).toBe(51)
})
