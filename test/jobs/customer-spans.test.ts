import { sql } from 'drizzle-orm'
import { beforeEach, expect, it } from 'vitest'
import { recountCustomers, settleCustomers } from '../../src/modules/users/jobs.ts'
import { rootToken } from '../support/api.ts'
import { costOf } from '../support/cost.ts'
import { databaseThatNotes } from '../support/intervals.ts'
import { expectPartsToAddUp } from '../support/list-spans.ts'
import { idsOf, readAs } from '../support/lists.ts'
import { db, write } from '../support/seeding/rows.ts'
import { importOrders, anOrder, seedShop, type Shop } from '../support/seeding/sales/orders.ts'

const dayMs = 86_400_000
const count = 6000
const size = 100

let shop: Shop
let now: number
beforeEach(async () => {
  shop = await seedShop()
  now = Date.now()
  await importOrders(shop, [anOrder()])
  // In weeks without a customer and moments with many, with and without a number and a visit.
  const made = Array.from({ length: count }, (_, index) => ({
    key: `${shop.organization_id.slice(-10)}${String((index * 7919) % 100_003).padStart(6, '0')}`,
    phone_number: index % 3 ? null : `+4530${String(index).padStart(6, '0')}`,
    last_seen_at: index % 5 ? null : now,
    created_at: now - 3_600_000 - ((index * 104_729) % 40) * 7 * dayMs - (index % 4 ? (index * 15_485_863) % dayMs : 0),
  }))
  const { user_id } = (await db.first(
    sql<{ user_id: string }>`select user_id from orders where edition_id = ${shop.edition_id}`,
  )) ?? { user_id: '' }
  const columns = (
    await db.all(sql<{ name: string }>`select name from pragma_table_xinfo('users') where hidden = 0 and name <> 'seq'`)
  ).map(({ name }) => name)
  const changed: Record<string, string> = {
    id: "'usr_' || (its.value ->> 'key')",
    email: "(its.value ->> 'key') || '@example.dk'",
    email_folded: "(its.value ->> 'key') || '@example.dk'",
    phone_number: "its.value ->> 'phone_number'",
    last_seen_at: "its.value ->> 'last_seen_at'",
    created_at: "its.value ->> 'created_at'",
    counted_together: '0',
  }
  await write(sql`insert into users (${sql.raw(columns.join(', '))})
    select ${sql.raw(columns.map((name) => changed[name] ?? `users.${name}`).join(', '))}
    from json_each(${JSON.stringify(made)}) as its cross join users where users.id = ${user_id}`)
})

const settle = async (at = now) => {
  for (let minute = 0; minute < 4; minute++) await settleCustomers({ db, now: () => at })
}

/** What spans say, and what counting says. */
async function bothCounts() {
  const [stored, settled] = await Promise.all([
    db.all(sql`select span, total, counts ->> '$.all' as n from list_spans
      where list = 'users' and scope = ${shop.organization_id} and total <> 0 order by span`),
    db.all(sql`select created_at >> 28 as span, count(*) as total, count(*) as n from users
      where organization_id = ${shop.organization_id} and created_at < (select until from settled_lists
        where list = 'users' and scope = ${shop.organization_id}) group by 1 order by 1`),
  ])
  return { stored, settled }
}

async function expectPagesToHold(most = Infinity): Promise<void> {
  for (const ordering of ['date_joined', '-date_joined']) {
    const direction = sql.raw(ordering.startsWith('-') ? 'desc' : 'asc')
    const all = await db.all(sql<{ id: string }>`select id from users where organization_id = ${shop.organization_id}
      order by created_at ${direction}, seq ${direction}`)
    const last = Math.ceil(all.length / size)
    for (const page of [1, 3, 9, 22, 35, 48, 57, last].filter((one) => one <= last)) {
      const reply = await readAs(
        rootToken,
        `/v1/user?organization_id=${shop.organization_id}&ordering=${ordering}&page=${page}`,
      )
      const ids = all.slice(size * (page - 1), size * page).map(({ id }) => id)
      expect([ordering, page, reply.body.count, idsOf(reply)]).toEqual([ordering, page, all.length, ids])
      expect(costOf(reply).rows_read).toBeLessThan(most)
    }
  }
}

it('pages of customers by their number are those of the list, before and after spans count them', async () => {
  await expectPagesToHold()
  await settle()
  const { stored, settled } = await bothCounts()
  expect(stored).toEqual(settled)
  expect(stored.length).toBeGreaterThan(30)
  await expectPagesToHold(700)
})

it('spans stay right when customers come and go', async () => {
  await settle()
  const own = sql`organization_id = ${shop.organization_id}`
  await write(sql`delete from users where ${own} and seq % 7 = 3 and id not in (select user_id from orders)`)
  await importOrders(shop, [anOrder({ customer: { email: 'late@example.dk' } })])
  const { stored, settled } = await bothCounts()
  expect(stored).toEqual(settled)
  expect(await expectPartsToAddUp('users', shop.organization_id)).toBeGreaterThan(30)
  await expectPagesToHold()
  await settle(now + dayMs)
  await expectPartsToAddUp('users', shop.organization_id)
  expect((await bothCounts()).stored).toEqual((await bothCounts()).settled)
  await expectPagesToHold()
})

it('customers of one import, who are in one span, are found by its parts, and before they are counted from the nearer end', async () => {
  await write(sql`update users set created_at = ${now - 3_600_000} - seq % 1000
    where organization_id = ${shop.organization_id} and seq % 20`)
  await expectPagesToHold(3800)
  await settle()
  await expectPagesToHold(700)
  expect(await expectPartsToAddUp('users', shop.organization_id)).toBeGreaterThan(100)
})

it('a step reads about what it counts, however many customers of one import are due', async () => {
  await write(
    sql`update users set created_at = ${now - 3_600_000} + seq % 50000 where organization_id = ${shop.organization_id}`,
  )
  const { database, read } = databaseThatNotes()
  await settleCustomers({ db: database, now: () => now })
  expect(Math.max(...read)).toBeLessThan(45_000)
  const { stored, settled } = await bothCounts()
  expect(stored).toEqual(settled)
})

it('spans are repaired at night', async () => {
  await settle()
  const night = Date.UTC(2026, 5, 1, 3)
  const sweep = async (day: number) => {
    for (let minute = 0; minute < 20; minute++)
      await recountCustomers({ db, now: () => night + day * dayMs + minute * 60_000 })
  }
  await sweep(0)
  await write(sql`update list_spans set total = total + 1, counts = json_set(counts, '$.all', 1)
    where list = 'users' and scope = ${shop.organization_id} and span = (select max(span) from list_spans
      where list = 'users' and scope = ${shop.organization_id})`)
  await expect(sweep(1)).rejects.toThrow(`Counts of users were wrong and are repaired: ${shop.organization_id}`)
  const { stored, settled } = await bothCounts()
  expect(stored).toEqual(settled)
})
