import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Database } from '../../src/db/database.ts'
import { gramsOf } from '../../src/domain/text/trigrams.ts'
import { newMeter } from '../../src/domain/meter.ts'
import { checkOrderTexts } from '../../src/modules/orders/jobs.ts'
import { checkCustomerTexts } from '../../src/modules/users/jobs.ts'
import { get } from '../support/api.ts'
import { databaseThatNotes } from '../support/intervals.ts'
import {
  columnsOf,
  dayMs,
  indexes,
  type LostPart,
  namedAtNight,
  namedBy,
  namedIn,
  nextNight,
  type Sweep,
  takeOut,
} from '../support/missing-texts.ts'
import { act, change, make, person } from '../support/searched-people.ts'
import { givenKnown } from '../support/personal-data.ts'
import { seedSearchedOrders } from '../support/seeding/searched-orders.ts'
import { anOrder, givenOrders, seedShop } from '../support/seeding/sales/orders.ts'
import { db, write } from '../support/seeding/rows.ts'

const listed = async (path: string): Promise<string[]> => {
  const reply = await get(path)
  expect(reply.status, reply.text).toBe(200)
  const ids = reply.body.results.map(({ id }: { id: string }) => id) as string[]
  expect(reply.body.count).toBeGreaterThanOrEqual(ids.length)
  return ids
}

const fault = 'Texts of orders were missing from the index and are put in: '

describe('what searches find by', () => {
  it('is complete after any writes, and what is missing comes back at night, and is named', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(person, { minLength: 3, maxLength: 6 }),
        fc.array(act, { maxLength: 8 }),
        fc.array(
          fc.record({
            ofOrder: fc.boolean(),
            of: fc.nat(),
            part: fc.constantFrom<LostPart>('all', 'a sequence', 'the end', 'a mark'),
          }),
          { minLength: 1, maxLength: 3 },
        ),
        async (people, acts, losses) => {
          const made = await make(people)
          for (const one of acts) await change(made, one)
          expect(await namedAtNight()).toEqual([])
          const lost = new Set<string>()
          for (const { ofOrder, of, part } of losses) {
            const table = ofOrder ? 'orders' : 'users'
            const rows = await db.all(
              sql<{
                id: string
              }>`select id from ${sql.raw(table)} where organization_id = ${made.organization} order by seq`,
            )
            const id = rows[of % Math.max(1, rows.length)]?.id
            if (!id) continue
            await takeOut(table, id, part)
            lost.add(id)
          }
          expect(await namedAtNight()).toEqual([...lost].toSorted())
          expect(await namedAtNight()).toEqual([])
        },
      ),
      { numRuns: 8, endOnFailure: true },
    )
  })

  it('is found again by lists of orders and customers, and not by those of others', async () => {
    const [shop, other] = [await seedShop(), await seedShop()]
    const known = { order_number: 'zebra-1', customer: { email: 'giraffe@example.dk' } }
    const [order = ''] = await givenOrders(shop, [anOrder(known)])
    const [theirs = ''] = await givenOrders(other, [anOrder(known)])
    const customers = await db.all(sql<{ id: string }>`select user_id as id from orders where id = ${order}`)
    const paths = (place: typeof shop) => [
      `/v1/orders?edition_id=${place.edition_id}&search=zebra`,
      `/v1/orders?organization_id=${place.organization_id}&search=giraffe`,
      `/v1/user?organization_id=${place.organization_id}&search=giraffe`,
    ]
    const all = async (place: typeof shop) => Promise.all(paths(place).map(listed))
    const before = [await all(shop), await all(other)]
    expect(before).toEqual([
      [[order], [order], customers.map(({ id }) => id)],
      [[theirs], [theirs], [expect.any(String)]],
    ])
    const changesOf = () =>
      db.all(sql`select changes from order_counts where edition_id = ${other.edition_id}
        union all select customer_changes from list_sizes where organization_id = ${other.organization_id}`)
    const changes = await changesOf()
    await takeOut('orders', order)
    await takeOut('users', customers[0]?.id ?? '')
    expect([await all(shop), await all(other)]).toEqual([[[], [], []], before[1]])
    expect(await namedBy(checkOrderTexts)).toEqual([order])
    expect(await namedBy(checkCustomerTexts)).toEqual(customers.map(({ id }) => id))
    expect([await all(shop), await all(other)]).toEqual(before)
    expect(await changesOf()).toEqual(changes)
  })

  it('is what editions were given, too', async () => {
    const known = await givenKnown()
    const row = () => db.first(sql<{ text: string }>`select search_given as text from users where id = ${known.id}`)
    await namedAtNight()
    const before = await row()
    expect(before?.text).toContain('NAME')
    await write(sql`update users set search_given = 'other text' where id = ${known.id}`)
    expect(await namedBy(checkCustomerTexts)).toEqual([known.id])
    expect(await row()).toEqual(before)
    expect(await namedBy(checkCustomerTexts)).toEqual([])
  })

  it('is found again by lists that kept what they found', async () => {
    const shop = await seedShop()
    await seedSearchedOrders(shop, 1, 4800)
    const path = `/v1/orders?edition_id=${shop.edition_id}&page_size=1&search=common`
    const count = async () => (await get(path)).body.count
    const row = await db.first(
      sql<{ id: string }>`select id from orders where edition_id = ${shop.edition_id} and order_number = 'common-8'`,
    )
    await takeOut('orders', row?.id ?? '')
    // Every eighth, without the rare ones among them, and the one that was taken out.
    const kept = [await count(), await count()]
    expect(kept).toEqual([589, 589])
    expect(await namedBy(checkOrderTexts)).toEqual([row?.id])
    expect(await count()).toBe(590)
  })

  it('may be too much: that is found by no list', async () => {
    const shop = await seedShop()
    await seedSearchedOrders(shop, 1, 700)
    const edition = `edition_id=${shop.edition_id}`
    const organization = `organization_id=${shop.organization_id}`
    const found = async (text: string) =>
      Promise.all(
        [
          `orders?${edition}`,
          `orders?${organization}`,
          `refund-requests?${edition}`,
          `user?${organization}`,
          `user?${edition}`,
        ].map(async (list) => (await get(`/v1/${list}&search=${text}`)).body.count),
      )
    const none = [0, 0, 0, 0, 0]
    /** Entries of 700 rows, or of each hundredth. */
    const add = async (text: string, rowid: string, isEach = sql`1`) => {
      for (const table of ['orders', 'users'] as const)
        await write(sql`insert into ${sql.raw(indexes[table])} (rowid, organization, text${sql.raw(table === 'orders' ? ', edition' : '')})
          select ${sql.raw(rowid)}, organization, ${text} ${sql.raw(table === 'orders' ? ', edition' : '')}
          from (select ${sql.raw(columnsOf[table])} from ${sql.raw(table)} where organization_id = ${shop.organization_id}) where ${isEach}`)
    }
    await add('superfluous', 'seq', sql`seq % 100 = 0`)
    await add('overmuch', 'seq')
    // Of rows that are gone.
    await add('forgotten', 'seq + 1000000', sql`seq % 100 = 0`)
    await add('deserted', 'seq + 2000000')
    for (const text of ['superfluous', 'overmuch', 'forgotten', 'deserted'])
      expect([text, await found(text)]).toEqual([text, none])
    expect(await namedAtNight()).toEqual([])
  })
})

describe('a night', () => {
  /** Orders and customers in parts of 1,000. Answers orders of the first, the second and the last part. */
  async function seedParts() {
    const shop = await seedShop()
    await seedSearchedOrders(shop, 1, 2600)
    await namedAtNight()
    const rows = await db.all(sql<{ id: string }>`select id from orders order by seq`)
    return { shop, rows, ids: [rows[10], rows[1100], rows.at(-1)].map((row) => row?.id ?? '') }
  }

  it('goes round all rows in sweeps of a few, once', async () => {
    const { ids, rows } = await seedParts()
    for (const id of ids) await takeOut('orders', id)
    const begin = nextNight()
    const named: string[][] = []
    const sweepAt = (ms: number) => namedIn(() => checkOrderTexts({ db, now: () => begin + ms }))
    // Not by day.
    expect([await sweepAt(-1), await sweepAt(3_600_000)]).toEqual([[], []])
    for (let minute = 0; minute < 15; minute++) named.push(await sweepAt(minute * 60_000))
    const last = Math.floor((rows.length - 1) / 2000)
    expect(named).toEqual(
      named.map((_, minute) => (minute === 0 ? ids.slice(0, 2) : minute === last ? ids.slice(2) : [])),
    )
    await takeOut('orders', ids[0] ?? '')
    expect(await sweepAt(20 * 60_000)).toEqual([])
    expect(await sweepAt(dayMs)).toEqual(ids.slice(0, 1))
  })

  it('goes on after the last part that it repaired, and names what it repaired before it failed', async () => {
    const { ids } = await seedParts()
    for (const id of ids) await takeOut('orders', id)
    const begin = nextNight()
    const failing = new Database(env.DB, newMeter())
    const batch = failing.batch.bind(failing)
    // What repairs a part has several statements. The first part is repaired, and then the database is gone.
    let isRepaired = false
    failing.batch = (statements) => {
      if (isRepaired) return Promise.reject(new Error('gone'))
      isRepaired = statements.length > 1
      return batch(statements)
    }
    const sweep = checkOrderTexts({ db: failing, now: () => begin })
    await expect(sweep).rejects.toThrow(`${fault}${ids[0]}`)
    await expect(sweep).rejects.toMatchObject({ cause: new Error('gone') })
    // Behind the part: this waits for the next round.
    await takeOut('orders', ids[0] ?? '')
    expect(await namedBy(checkOrderTexts, begin + 60_000)).toEqual(ids.slice(1).toSorted())
    expect(await namedBy(checkOrderTexts)).toEqual([ids[0]])
  })

  it('undoes no write between its reading and its repair', async () => {
    const shop = await seedShop()
    const ids = await givenOrders(
      shop,
      ['lost-1', 'kept-1', 'gone-1', 'gone-2', 'lost-2', 'kept-2'].map((order_number) => anOrder({ order_number })),
    )
    const [renamed = '', kept = '', deleted = '', alone = '', lost = '', early = ''] = ids
    await namedAtNight()
    for (const id of [renamed, deleted, lost]) await takeOut('orders', id)
    const rows = sql`(${renamed}, ${kept}, ${deleted}, ${alone})`
    const gone = sql`(${deleted}, ${alone})`
    const changing = new Database(env.DB, newMeter())
    const batch = changing.batch.bind(changing)
    const seqs = await db.all(sql<{ seq: number }>`select seq from orders where id in ${rows} order by seq`)
    let isWritten = false
    const renameTo = (name: string, id: string) =>
      sql`update orders set order_number = ${name}, number_folded = ${name} where id = ${id}`
    changing.batch = async (statements) => {
      // What the index is looked through for is the former text of this one.
      if (!isWritten) await write(renameTo('other-2', early))
      const answer = await batch(statements)
      // The first batch reads the index. What is missing is put in by the next one.
      if (!isWritten)
        await write(
          renameTo('other-1', renamed),
          renameTo('other-1', kept),
          sql`delete from purchases where order_id in ${gone}`,
          sql`delete from transactions where order_id in ${gone}`,
          sql`delete from orders where id in ${gone}`,
        )
      isWritten = true
      return answer
    }
    const begin = nextNight()
    await write(sql`insert into storage_sweeps (name, after_key, begun_at) values ('check order_search', ${(seqs[0]?.seq ?? 0) - 1}, ${begin})
      on conflict (name) do update set after_key = excluded.after_key, begun_at = excluded.begun_at`)
    // The number of the renamed one alone is in the index again: its trigger writes texts, and no marks.
    expect(await namedBy(checkOrderTexts, begin, changing)).toEqual([renamed, lost].toSorted())
    const search = async (text: string) =>
      (await listed(`/v1/orders?edition_id=${shop.edition_id}&search=${text}`)).toSorted()
    expect([await search('other'), await search('lost-'), await search('kept-'), await search('gone-')]).toEqual([
      [renamed, kept, early].toSorted(),
      [lost],
      [],
      [],
    ])
    const entries = await db.all(sql`select rowid from order_search
      where order_search match '"gon" OR "los"' and rowid in (${seqs[0]?.seq}, ${seqs[2]?.seq}, ${seqs[3]?.seq})`)
    expect(entries).toEqual([])
    expect(await namedAtNight()).toEqual([])
  })

  it('reads a row for each entry of a row, and few others', async () => {
    const { rows } = await seedParts()
    const entries = async (table: 'orders' | 'users', text: string) =>
      (await db.all(sql<{ text: string }>`select ${sql.raw(text)} as text from ${sql.raw(table)}`)).reduce(
        (sum, row) => sum + gramsOf(row.text).length + 2,
        0,
      )
    const { database, read } = databaseThatNotes()
    const readBy = async (sweep: Sweep) => {
      read.length = 0
      expect(await namedBy(sweep, nextNight(), database)).toEqual([])
      return read.reduce((sum, one) => sum + one, 0)
    }
    const most = async (table: 'orders' | 'users', text: string) => (await entries(table, text)) + 8 * rows.length
    expect(await readBy(checkOrderTexts)).toBeLessThan(await most('orders', 'own_search_text'))
    expect(await readBy(checkCustomerTexts)).toBeLessThan(await most('users', 'search_text'))
  })
})
