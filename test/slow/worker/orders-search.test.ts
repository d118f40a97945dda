import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { maxCandidates, maxNewest } from '../../../src/db/search.ts'
import { maxUnitsPerItem } from '../../../src/domain/orders/external-orders.ts'
import { get, rootToken } from '../../support/api.ts'
import { listIds, readAs, walkAs } from '../../support/lists.ts'
import { seedEdition } from '../../support/seeding/editions.ts'
import { givenMember } from '../../support/seeding/members.ts'
import { db, write } from '../../support/seeding/rows.ts'
import { anOrder, givenOrders, seedShop, type Shop } from '../../support/seeding/sales/orders.ts'
import { seedSearchedOrders } from '../../support/seeding/searched-orders.ts'

/** Tells whether an order, or the address of its customer, contains a text. */
const hasText = (text: string) =>
  sql`instr(search_text || char(10) || (select email from users where users.id = user_id), ${text})`

describe('a search of orders', () => {
  let shop: Shop

  beforeAll(async () => {
    shop = await seedShop()
    await seedSearchedOrders(shop, 1, 480)
    // Some keys are equal, some are missing, and some sort differently by UTF-16 than by code point.
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
    'has results in the ordering of the list: %s',
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
        expect(listIds(await readAs(rootToken, `${at}&page=3`))).toEqual(ids.slice(14, 21))
      }
    },
  )
})

describe('a search by customers', () => {
  it('finds all orders when more than a hundred belong to one customer', async () => {
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

  it('does not find orders of another organisation or edition with the same customer', async () => {
    const shop = await seedShop()
    const other = { organization_id: buildTwin(shop.organization_id), edition_id: buildTwin(shop.edition_id) }
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
    // A customer joins another edition without contact data, and the caller's edition has the address.
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
    // A member of the other organisation searches in this one.
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

  it('finds none of its rows by operators of the search syntax', async () => {
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
      const ownNumbers = ['zebra*'].includes(text) ? ['lion "OR" zebra*'] : []
      expect([text, status, body.results.map((order: { order_number: string }) => order.order_number)]).toEqual([
        text,
        200,
        ownNumbers,
      ])
    }
  })
})

describe('a text of one or two letters', () => {
  it('searches the newest 10,000 orders', async () => {
    const shop = await seedShop()
    // Every eighth of the newest 10,000 orders has "common-", except five of the 20 that have "rare-".
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
  it('finds each order once, even if the customer has the text too', async () => {
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

/** The other id has the same last three characters, from which search marks are made. */
const buildTwin = (id: string): string => `${id.slice(0, -5)}${id.at(-5) === 'A' ? 'B' : 'A'}${id.slice(-4)}`

describe('a filter of orders by the name of the customer', () => {
  let shop: Shop
  let ids: string[]

  const list = async (query: Record<string, string>, token = rootToken) => {
    const reply = await readAs(
      token,
      `/v1/orders?${new URLSearchParams({ edition_id: shop.edition_id, ...query }).toString()}`,
    )
    expect([reply.status, reply.body.count]).toEqual([200, reply.body.results.length])
    return listIds(reply)
  }

  beforeAll(async () => {
    shop = await seedShop()
    const people = [
      { email: 'bodil@example.dk', first_name: 'Bodil', last_name: 'Ørsted' },
      { email: 'obrien@example.dk', first_name: 'Anne\u2010Marie', last_name: 'O’Brien' },
      { email: 'ng@example.dk', first_name: 'Bo', last_name: 'Ng' },
    ]
    ids = await givenOrders(
      shop,
      people.map((customer) => anOrder({ customer })),
    )
  })

  it('finds parts of names in any order, without case and accents', async () => {
    const [bodil = '', anne = '', bo = ''] = ids
    for (const [customer_name, expectedIds] of [
      ['orsted bodil', [bodil]],
      ['Bodil Ørsted', [bodil]],
      ['ØRSTED, Bod', [bodil]],
      ['bodil holm', []],
      ['bodil@example.dk', []],
      ['example', []],
      ["o'brien", [anne]],
      ['O`Brien anne-marie', [anne]],
      ['anne\u2011marie', [anne]],
      ['anne\u2013marie o\u00B4brien', [anne]],
      ['Ng Bo', [bo]],
      ['bo', [bo, bodil]],
      ['\u0301', []],
      [',', []],
    ] as const)
      expect([customer_name, await list({ customer_name })]).toEqual([customer_name, expectedIds])
    expect(await list({ customer_name: 'bodil', search: 'example.dk', status: 'completed' })).toEqual([bodil])
    expect((await get('/v1/orders?customer_name=bodil')).body.errors).toMatchObject([{ code: 'required_filter' }])
  })

  it('finds nothing in an organisation that the caller does not see', async () => {
    const other = await seedShop()
    const { token } = await givenMember({ id: other.organization_id }, 'viewer')
    for (const filter of ['customer_name=bodil', 'customer_email=bodil', 'customer_phone=4520', 'search=bodil']) {
      const reply = await readAs(token, `/v1/orders?organization_id=${shop.organization_id}&${filter}`)
      expect([filter, reply.status, reply.body.count]).toEqual([filter, 200, 0])
    }
  })

  it('compares ten words of a long text', async () => {
    const words = Array.from({ length: 100 }, (_, at) => String.fromCharCode(97 + (at % 26))).join(' ')
    expect(await list({ customer_name: words })).toEqual([])
    expect(await list({ customer_name: `${'bodil orsted '.repeat(5)}nobody` })).toEqual([ids[0]])
  })

  it('finds customers of an edition by what the edition knows, for roles of the edition', async () => {
    const sibling = { ...shop, edition_id: (await seedEdition({ id: shop.organization_id })).id }
    const { token: editionToken } = await givenMember({ id: shop.organization_id }, 'viewer', shop.edition_id)
    const { token } = await givenMember({ id: shop.organization_id }, 'viewer')
    await givenOrders(shop, [anOrder({ customer: { email: 'secret@example.dk', first_name: 'Freja', last_name: '' } })])
    await givenOrders(sibling, [
      anOrder({ customer: { email: 'secret@example.dk', first_name: 'Freja', last_name: 'Hemmelig' } }),
    ])
    expect(await list({ customer_name: 'freja hemmelig' }, token)).toHaveLength(1)
    expect(await list({ customer_name: 'freja hemmelig' }, editionToken)).toEqual([])
    expect(await list({ customer_name: 'freja' }, editionToken)).toHaveLength(1)
  })
})

describe('a filter of orders by the code of a ticket', () => {
  it('finds the order once, in any case, in an edition, an organisation and for a customer', async () => {
    const shop = await seedShop()
    const sibling = { ...shop, edition_id: (await seedEdition({ id: shop.organization_id })).id }
    const other = await seedShop()
    const buy = async (place: Shop, vendor_code: string) => {
      const [id = ''] = await givenOrders(place, [
        anOrder({ items: [{ product: 'Day ticket', quantity: 2, unit_price: 225, vendor_code }] }),
      ])
      return id
    }
    const order = await buy(shop, 'DAY-4711-1')
    await buy(shop, 'DAY-4711-12')
    const siblingOrder = await buy(sibling, 'day-4711-1')
    await buy(other, 'DAY-4711-1')
    const { body } = await get(`/v1/orders/${order}`)
    const { token } = await givenMember({ id: shop.organization_id }, 'viewer', shop.edition_id)
    const find = async (scope: string, as = rootToken) =>
      listIds(await readAs(as, `/v1/orders?${scope}&ticket_code=Day-4711-1`))
    expect(await find(`edition_id=${shop.edition_id}`)).toEqual([order])
    expect(await find(`organization_id=${shop.organization_id}`)).toEqual([siblingOrder, order])
    expect(await find(`organization_id=${shop.organization_id}`, token)).toEqual([order])
    expect(await find(`edition_id=${sibling.edition_id}`, token)).toEqual([])
    expect(await find(`customer_id=${body.customer.api_id}&edition_id=${shop.edition_id}`)).toEqual([order])
    expect(await find(`edition_id=${shop.edition_id}&customer_name=nobody`)).toEqual([])
    const list = async (code: string) =>
      listIds(
        await readAs(
          rootToken,
          `/v1/orders?${new URLSearchParams({ edition_id: shop.edition_id, ticket_code: code }).toString()}`,
        ),
      )
    expect(await list(' Day-4711-1\u200B ')).toEqual([order])
    for (const code of ['DAY-4711', 'DAY-4711-%', 'DAY_4711_1', '*', '"DAY-4711-1"'])
      expect([code, await list(code)]).toEqual([code, []])
  })

  it('finds nothing in an organisation that the caller does not see', async () => {
    const [shop, other] = [await seedShop(), await seedShop()]
    await givenOrders(shop, [anOrder({ items: [{ product: 'Day ticket', unit_price: 225, vendor_code: 'DAY-1' }] })])
    const viewer = await givenMember({ id: other.organization_id }, 'viewer', other.edition_id)
    const admin = await givenMember({ id: other.organization_id }, 'admin')
    for (const { token } of [viewer, admin])
      for (const scope of [`organization_id=${shop.organization_id}`, `edition_id=${shop.edition_id}`])
        expect(listIds(await readAs(token, `/v1/orders?${scope}&ticket_code=DAY-1`))).toEqual([])
  })

  it('finds all orders whose tickets share a code', async () => {
    const shop = await seedShop()
    await seedSearchedOrders(shop, 1, 8)
    const [order = ''] = await givenOrders(shop, [
      anOrder({ items: [{ product: 'Day ticket', quantity: maxUnitsPerItem, unit_price: 1, vendor_code: 'SHARED' }] }),
    ])
    const at = `/v1/orders?edition_id=${shop.edition_id}&ticket_code=shared`
    expect(listIds(await readAs(rootToken, at))).toEqual([order])
    await write(sql`insert into orders select null, 'ord_shared_' || value, orders.organization_id, orders.edition_id,
        orders.user_id, null, '', null, orders.type, orders.status, 0, orders.currency, 1, 0, null, orders.cart, '{}', null,
        null, null, null, null, 1, orders.created_at, orders.modified_at, ''
      from orders, json_each(${JSON.stringify(Array.from({ length: maxCandidates }, (_, index) => index))})
      where orders.id = ${order}`)
    await write(sql`insert into purchases select 'pur_' || orders.id, purchases.edition_id, orders.id, purchases.user_id,
        purchases.product_id, null, null, '[]', 'Shared', purchases.status, 0, 0, 0, 0, 0, 1, 0, 0, null, '{}', 1,
        purchases.created_at, purchases.modified_at
      from orders, (select * from purchases where order_id = ${order} limit 1) as purchases
      where orders.id like 'ord_shared_%' and orders.edition_id = ${shop.edition_id}`)
    const { body } = await readAs(rootToken, `${at}&page_size=10`)
    expect([body.count, body.results.length]).toEqual([maxCandidates + 1, 10])
    expect((await readAs(rootToken, `${at}&customer_name=nobody`)).body.count).toBe(0)
  })
})
