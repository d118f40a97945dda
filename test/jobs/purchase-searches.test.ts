import { type SQL, sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { beforeAll, expect, it, vi } from 'vitest'
import { numberKey } from '../../src/domain/orders/orders.ts'
import { purchaseStatuses } from '../../src/domain/orders/purchases.ts'
import { rootToken } from '../support/api.ts'
import { costOf } from '../support/cost.ts'
import { dearRuns } from '../support/dear-runs.ts'
import { queryOf } from '../support/list-spans.ts'
import { idsOf, readAs, walkAs } from '../support/lists.ts'
import { givenMember } from '../support/seeding/members.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { db, write } from '../support/seeding/rows.ts'
import { givenTicket, seedShop, type Shop } from '../support/seeding/sales/orders.ts'
import { seedSearchedOrders } from '../support/seeding/searched-orders.ts'

const many = 1500
let shop: Shop
let ticket: string
let order: string
let tokens: string[]

const ofEdition = () => sql`edition_id = ${shop.edition_id}`

/** Purchases of the order of the first one, of which most codes begin with `tick`. */
const add = (count: number, from: number): SQL =>
  sql`insert into purchases (id, edition_id, order_id, user_id, product_id, vendor_code, status, price_minor, deposit_minor,
      handling_fee_minor, created_at, modified_at)
    with recursive numbers (i) as (
      select cast(${from} as integer) union all select i + 1 from numbers where i + 1 < cast(${from + count} as integer))
    select 'pur_' || substr(edition_id, -6) || printf('%020d', i * 7919 % 100003), edition_id, order_id, user_id, product_id,
      iif(i % 9, 'Tick-', 'other-') || i, ${JSON.stringify(purchaseStatuses.slice(0, 3))} ->> (i % 3), 0, 0, 0,
      created_at - i * 31 % 977 * 5000000, modified_at from numbers cross join purchases where purchases.id = ${ticket}`

beforeAll(async () => {
  shop = await seedShop()
  ticket = (await givenTicket(shop, { vendor_code: 'SEED' })).id
  order =
    (await db.first(sql<{ order_id: string }>`select order_id from purchases where id = ${ticket}`))?.order_id ?? ''
  await seedSearchedOrders(shop, 1, 40)
  await write(add(many, 0))
  const viewer = await givenMember({ id: shop.organization_id }, 'viewer', shop.edition_id)
  tokens = [rootToken, viewer.token]
})

const some = (part: number) =>
  sql`${ofEdition()} and id <> ${ticket} and cast(substr(id, -6) as integer) % 89 = ${part}`
const first = (status: string) =>
  sql`(select id from purchases where ${ofEdition()} and status = ${status} order by id limit 1)`
let added = many
const changes: Record<string, (part: number) => SQL[]> = {
  'are used': (part) => [
    sql`update purchases set status = iif(status = 'active', 'used', 'active') where ${some(part)}`,
  ],
  'change places': () => [
    sql`update purchases set status = iif(status = 'active', 'pending', 'active') where id in (${first('active')}, ${first('pending')})`,
  ],
  'have another code': (part) => [
    sql`update purchases set vendor_code = iif(vendor_code like 'tick%', 'x', 'tick') || vendor_code where ${some(part)}`,
  ],
  come: (part) => {
    added += 3
    return [add(1 + (part % 3), added)]
  },
  go: (part) => [sql`delete from purchases where ${some(part)}`],
  'come and go': (part) => {
    added += 3
    return [sql`delete from purchases where id = (select max(id) from purchases where ${some(part)})`, add(1, added)]
  },
  'were made at another time': (part) => [sql`update purchases set created_at = created_at + 1 where ${some(part)}`],
  'are of another order': (part) => [
    sql`update purchases set order_id = (select id from orders where ${ofEdition()} and id <> ${order} limit 1) where ${some(part)}`,
  ],
  'have an order with another number': (part) => [
    sql`update orders set order_number = ${`N-${part}`}, number_folded = ${`n-${part}`}, number_key = ${numberKey(`N-${part}`)} where id = ${order}`,
  ],
}

/** All ids of a search, by comparing all purchases. */
async function naive(text: string, status: string | undefined, isDesc: boolean): Promise<string[]> {
  const rows = await db.all(
    sql<{ id: string; created_at: number }>`select id, created_at from purchases where ${ofEdition()}
      and (lower(vendor_code) like ${`${text}%`} or order_id in (select id from orders where ${ofEdition()} and number_folded = ${text}))
      ${status ? sql`and status = ${status}` : sql``}`,
  )
  const direction = isDesc ? -1 : 1
  return rows
    .toSorted((one, other) => direction * (one.created_at - other.created_at || (one.id < other.id ? -1 : 1)))
    .map(({ id }) => id)
}

const costs = async (token: string, at: string) => costOf(await readAs(token, at)).rows_read

const asked = fc.record({
  text: fc.constantFrom('tick', 'n-7'),
  status: fc.constantFrom(undefined, 'active'),
  isDesc: fc.boolean(),
  steps: fc.array(fc.record({ change: fc.constantFrom(...Object.values(changes)), part: fc.nat(88) }), {
    minLength: 1,
    maxLength: 3,
  }),
})

interface Search {
  text: string
  status: string | undefined
  isDesc: boolean
}

const pathOf = ({ text, status, isDesc }: Search) =>
  `/v1/purchases?${queryOf({ edition_id: shop.edition_id, search: text, status, ordering: isDesc ? '-created' : 'created' })}`

/** The first page is that of the naive list. */
async function expectFirstPage(search: Search) {
  const [path, ids] = [pathOf(search), await naive(search.text, search.status, search.isDesc)]
  const { body } = await readAs(rootToken, `${path}&page_size=500`)
  const shown = (body.results as { id: string }[]).map(({ id }) => id)
  expect([path, body.count, shown]).toEqual([path, ids.length, ids.slice(0, 500)])
}

/** So are all pages, for each caller. */
async function expectAll(search: Search) {
  const [path, ids] = [pathOf(search), await naive(search.text, search.status, search.isDesc)]
  for (const token of tokens)
    // What was found is kept from the first request on.
    for (const size of [450, 451]) {
      const walked = await walkAs(token, `${path}&page_size=${size}`)
      expect([path, walked.count, walked.ids]).toEqual([path, ids.length, ids])
    }
  const page = Math.max(1, Math.ceil(ids.length / 50) - 1)
  const reply = await readAs(rootToken, `${path}&page_size=50&page=${page}`)
  expect([path, page, idsOf(reply)]).toEqual([path, page, ids.slice((page - 1) * 50, page * 50)])
}

it('a frequent search of purchases is read by few rows, once it was found in this state, and is of no other caller', async () => {
  const at = `/v1/purchases?edition_id=${shop.edition_id}&search=tick&page_size=50`
  for (const path of [at, `${at}&status=active`, `${at}&ordering=created`]) {
    const { body } = await readAs(rootToken, path)
    expect(body.count).toBeGreaterThan(400)
    await vi.waitUntil(async () => (await costs(rootToken, path)) <= 600)
  }
  const { body } = await readAs(rootToken, `${at}&page=20`)
  for (const page of [at, `${at}&page=20`, String(body.next)])
    expect([page, Math.max(600, await costs(rootToken, page))]).toEqual([page, 600])
  const stranger = await givenMember(await givenOrganization(), 'admin')
  expect((await readAs(stranger.token, at)).body).toMatchObject({ count: 0, results: [] })
})

it('each kind of change of purchases is one of their state', async () => {
  await write(...(changes['have an order with another number']?.(7) ?? []))
  for (const change of Object.values(changes))
    for (const text of ['tick', 'n-7']) {
      const expectSearches = async () => {
        for (const status of [undefined, 'active']) await expectFirstPage({ text, status, isDesc: true })
      }
      await expectSearches()
      await write(...change(7))
      await expectSearches()
    }
}, 120_000)

it('what is kept is what a comparison of all purchases finds, after every change', async () => {
  await fc.assert(
    fc.asyncProperty(asked, async ({ steps, ...list }) => {
      for (const { change, part } of steps) {
        await write(...change(part))
        await expectAll(list)
      }
    }),
    { numRuns: dearRuns(5), endOnFailure: true },
  )
}, 120_000)
