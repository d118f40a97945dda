import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { maxCandidates, maxNewest } from '../../src/db/search.ts'
import { get, rootToken } from '../support/api.ts'
import { idsOf, readAs, walkAs } from '../support/lists.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { db, write } from '../support/seeding/rows.ts'
import { anOrder, givenOrders, seedShop, type Shop } from '../support/seeding/sales/orders.ts'
import { seedSearchedOrders } from '../support/seeding/searched-orders.ts'

/** Whether an order, or the address of its customer, has a text. */
const hasText = (text: string) =>
  sql`instr(search_text || char(10) || (select email from users where users.id = user_id), ${text})`

describe('a search of orders', () => {
  let shop: Shop

  beforeAll(async () => {
    shop = await seedShop()
    await seedSearchedOrders(shop, 1, 480)
    // Keys that are the same, absent, or that UTF-16 orders otherwise than their code points.
    await write(sql`update orders set amount_minor = seq / 16 % 5 * 10, modified_at = seq / 24 * 1000,
        created_at = seq / 40 * 1000, type = iif(seq % 3, 'online', 'imported'), status = iif(seq % 5, status, 'cancelled'),
        number_key = case seq / 8 % 6 when 0 then null when 1 then '🎪' when 2 then '％' when 3 then '🎪a' when 4 then 'z' else '中' end
      where edition_id = ${shop.edition_id}`)
  })

  const keys = {
    created: 'created_at',
    modified: 'modified_at',
    order_number: 'number_key',
    status: 'status',
    type: 'type',
    amount: 'amount_minor',
  }

  it.each(Object.entries(keys).flatMap(([name, column]) => ['', '-'].map((sign) => [`${sign}${name}`, column])))(
    'has its results in the order of the list: %s',
    async (ordering, column) => {
      const direction = sql.raw(ordering.startsWith('-') ? 'desc' : 'asc')
      const key = sql.raw(column)
      for (const search of ['common-', 'often']) {
        const rows = await db.all(sql<{ id: string }>`select id from orders
          where edition_id = ${shop.edition_id} and ${hasText(search)}
          order by ${key} is null, ${key} ${direction}, created_at ${direction}, seq ${direction}`)
        const at = `/v1/orders?edition_id=${shop.edition_id}&search=${search}&ordering=${ordering}&page_size=7`
        const { ids, count } = await walkAs(rootToken, at)
        expect([search, count, ids]).toEqual([search, rows.length, rows.map(({ id }) => id)])
        expect(idsOf(await readAs(rootToken, `${at}&page=3`))).toEqual(ids.slice(14, 21))
      }
    },
  )
})

describe('orders that are found by their customers', () => {
  it('are all found when one customer has more than a hundred', async () => {
    const shop = await seedShop()
    await seedSearchedOrders(shop, 1, 160)
    const buyer = sql`(select id from users where email like 'often8@%' and organization_id = ${shop.organization_id})`
    await write(sql`update orders set user_id = ${buyer}
      where edition_id = ${shop.edition_id}`)
    for (const filter of ['customer_email', 'search'])
      for (const scope of [`edition_id=${shop.edition_id}`, `organization_id=${shop.organization_id}`]) {
        const { ids, count } = await walkAs(rootToken, `/v1/orders?${scope}&${filter}=often8@&page_size=50`)
        expect([filter, count, new Set(ids).size]).toEqual([filter, 160, 160])
      }
    await write(
      sql`insert into refund_requests (id, organization_id, edition_id, order_id, transaction_id, user_id, target, status,
          source, reason, currency, requested_minor, created_at, modified_at)
        select 'rfr_' || printf('%026d', seq), organization_id, edition_id, id, 'trx_' || substr(id, 5), user_id, 'order', 'rejected', 'api',
          'customer_request', 'dkk', 1, seq, seq
        from orders where edition_id = ${shop.edition_id}`,
    )
    for (const scope of [`edition_id=${shop.edition_id}`, `organization_id=${shop.organization_id}`]) {
      const { ids, count } = await walkAs(rootToken, `/v1/refund-requests?${scope}&search=often8@&page_size=50`)
      expect([count, new Set(ids).size]).toEqual([160, 160])
    }
  })

  it('do not include orders of another organisation or edition with the same mark', async () => {
    const shop = await seedShop()
    const other = { organization_id: twinOf(shop.organization_id), edition_id: twinOf(shop.edition_id) }
    await write(
      sql`insert into organizations (id, name, name_key, slug, search, created_at, modified_at)
        select ${other.organization_id}, name, name_key, slug || '-twin', search, 1, 1 from organizations where id = ${shop.organization_id}`,
      sql`insert into editions (id, organization_id, event_id, name, name_key, full_name, slug, timezone, default_country_code,
          default_language, enabled_languages, tax_type, currency, search, created_at, modified_at)
        select ${other.edition_id}, ${other.organization_id}, event_id, name, name_key, full_name, slug, timezone, default_country_code,
          default_language, enabled_languages, tax_type, currency, search, 1, 1 from editions where id = ${shop.edition_id}`,
    )
    await seedSearchedOrders(shop, 1, 80)
    await seedSearchedOrders(other, 81, 120)
    for (const [place, orders, customers] of [
      [shop, 10, 10],
      [other, 5, 5],
    ] as const)
      for (const scope of [`edition_id=${place.edition_id}`, `organization_id=${place.organization_id}`]) {
        const counts = await Promise.all(
          [
            `/v1/orders?${scope}&search=often`,
            `/v1/orders?${scope}&customer_email=often`,
            `/v1/orders?${scope}&search=common-`,
            `/v1/user?${scope}&search=often`,
          ].map(async (path) => (await get(path)).body.count as number),
        )
        expect([scope, counts]).toEqual([scope, [orders, orders, orders, customers]])
      }
  })
})

describe('a role of an edition', () => {
  it('finds nothing by contact data that only other editions have', async () => {
    const shop = await seedShop()
    await seedSearchedOrders(shop, 1, 80)
    const { token } = await givenMember({ id: shop.organization_id }, 'viewer', shop.edition_id)
    const read = async (filter: string) =>
      (await get(`/v1/orders?edition_id=${shop.edition_id}&${filter}`, token)).body.count as number
    // One of the customers joins another edition, which says nothing of them. The caller's said the address.
    const other = await seedEdition({ id: shop.organization_id })
    const joined = sql`(select id from users where email like 'often8@%' and organization_id = ${shop.organization_id})`
    await write(
      sql`insert into edition_customers (edition_id, user_seq, created_at, locale)
        select ${other.id}, seq, 1, 'en' from users where id = ${joined}`,
      sql`update users set email = 'often-hidden@example.test',
        search_text = 'ann b' || char(10) || 'often-hidden@example.test' || char(10) where id = ${joined}`,
    )
    const counts = async (text: string) => Promise.all([read(`search=${text}`), read(`customer_email=${text}`)])
    expect({ hidden: await counts('often-hidden'), all: await counts('often') }).toEqual({
      hidden: [0, 0],
      all: [10, 10],
    })
  })
})

describe('a search of another organisation', () => {
  it('finds no rows of this organisation', async () => {
    const [mine, other] = [await seedShop(), await seedShop()]
    await givenOrders(mine, [anOrder({ order_number: 'zebra-1', customer: { email: 'zebra@example.dk' } })])
    for (const [list, id] of [
      ['orders', `edition_id=${other.edition_id}`],
      ['orders', `organization_id=${other.organization_id}`],
      ['user', `organization_id=${other.organization_id}`],
    ]) {
      expect((await get(`/v1/${list}?${id}&search=zebra`)).body.count).toBe(0)
    }
    // A member of the other organisation who names this one.
    const { token } = await givenMember({ id: other.organization_id }, 'admin')
    for (const path of [
      `/v1/orders?edition_id=${mine.edition_id}`,
      `/v1/orders?organization_id=${mine.organization_id}`,
      `/v1/user?organization_id=${mine.organization_id}`,
      `/v1/user?edition_id=${mine.edition_id}`,
    ]) {
      const reply = await get(`${path}&search=zebra`, token)
      expect(reply.status, reply.text).toBeLessThan(500)
      expect(reply.body.count ?? 0).toBe(0)
    }
  })

  it('cannot find them by operators of the search syntax', async () => {
    const [mine, other] = [await seedShop(), await seedShop()]
    await givenOrders(mine, [anOrder({ order_number: 'zebra-1' })])
    await givenOrders(other, [anOrder({ order_number: 'lion "OR" zebra*' })])
    for (const text of [
      'lion" OR "zebra',
      'lion") OR ("zebra',
      'NEAR(zebra lion)',
      'text: zebra',
      '^zebra',
      'zebra*',
      '- zebra',
      '"""',
      "zebra'--",
      'zebra" AND NOT "lion',
    ]) {
      const { status, body } = await get(`/v1/orders?edition_id=${other.edition_id}&search=${encodeURIComponent(text)}`)
      const own = ['zebra*'].includes(text) ? ['lion "OR" zebra*'] : []
      expect([text, status, body.results.map((order: { order_number: string }) => order.order_number)]).toEqual([
        text,
        200,
        own,
      ])
    }
  })
})

describe('a text of one or two letters', () => {
  it('is searched in the newest 10,000 orders', async () => {
    const shop = await seedShop()
    // Of the newest 10,000 orders every eighth has "common-", but for 5 of the 20 that have "rare-".
    const common = maxNewest / 8 - 5
    await seedSearchedOrders(shop, 1, maxNewest + 1000)
    const count = async (query: string) =>
      (await get(`/v1/orders?edition_id=${shop.edition_id}&${query}`)).body.count as number
    expect(await count('search=re')).toBe(20)
    expect(await count('search=mm')).toBe(common)
    expect(await count('search=mm&status=pending')).toBe(common)
    expect(await count('search=mm&status=completed')).toBe(0)
  })
})

describe('a text that most orders have', () => {
  it('finds each order once, even if its customer also has the text', async () => {
    const shop = await seedShop()
    await seedSearchedOrders(shop, 1, 2600)
    await write(sql`update orders set search_text = 'often-' || seq
      where edition_id = ${shop.edition_id} and order_number like 'common-%'`)
    for (const search of ['often', 'example'])
      for (const ordering of ['created', '-order_number']) {
        const [by, direction] = ordering === 'created' ? ['created_at', 'asc'] : ['number_key', 'desc']
        const rows = await db.all(sql<{ id: string }>`select id from orders
          where edition_id = ${shop.edition_id} and ${hasText(search)}
          order by ${sql.raw(`${by} is null, ${by} ${direction}, created_at ${direction}, seq ${direction}`)}`)
        expect(rows.length).toBeGreaterThan(search === 'example' ? maxCandidates : 300)
        for (const scope of [`edition_id=${shop.edition_id}`, `organization_id=${shop.organization_id}`]) {
          const at = `/v1/orders?${scope}&search=${search}&ordering=${ordering}&page_size=100`
          const { ids, count } = await walkAs(rootToken, at)
          expect([at, count]).toEqual([at, rows.length])
          expect(ids).toEqual(rows.map(({ id }) => id))
        }
      }
  })
})

/** Another id with the same last three characters, of which marks are made. */
const twinOf = (id: string): string => `${id.slice(0, -5)}${id.at(-5) === 'A' ? 'B' : 'A'}${id.slice(-4)}`
