import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { get, rootToken } from '../support/api.ts'
import { costOf } from '../support/cost.ts'
import { idsOf, readAs, walkAs } from '../support/lists.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { db, write } from '../support/seeding/rows.ts'
import { seedShop, type Shop } from '../support/seeding/sales/orders.ts'
import { seedSearchedOrders } from '../support/seeding/searched-orders.ts'

/** Rows that a page of 50 and its count may read where fewer than 500 are found. */
const most = 1000

const searched = async (path: string) => {
  const reply = await get(path)
  expect(reply.status === 200 || reply.text).toBe(true)
  return { count: reply.body.count as number, rows: costOf(reply).rows_read }
}

describe('a text that fewer than 500 have', () => {
  /** Numbers of orders of which so many are found by each of the texts. */
  const upTo = [
    [840, 101],
    [3600, 440],
    [4072, 499],
  ] as const

  it('is found by a row for each hit, and those of the page', async () => {
    const shop = await seedShop()
    const [edition, organization] = [`edition_id=${shop.edition_id}`, `organization_id=${shop.organization_id}`]
    const paths = {
      'orders of an edition': `/v1/orders?page_size=50&${edition}&search=common-`,
      'orders of an organisation': `/v1/orders?page_size=50&${organization}&search=common-`,
      'by their number': `/v1/orders?page_size=50&${edition}&order_number=common-`,
      'by the address of the customer': `/v1/orders?page_size=50&${edition}&customer_email=often`,
      'by any text, which the customer has': `/v1/orders?page_size=50&${organization}&search=often`,
      'customers of an edition': `/v1/user?page_size=50&${edition}&search=often`,
      'customers of an organisation': `/v1/user?page_size=50&${organization}&search=often`,
    }
    const read: Record<string, number[]> = {}
    let from = 1
    for (const [to, count] of upTo) {
      await seedSearchedOrders(shop, from, to)
      from = to + 1
      for (const [name, path] of Object.entries(paths)) {
        const cost = await searched(path)
        expect([name, cost.count]).toEqual([name, count])
        read[name] = [...(read[name] ?? []), cost.rows]
      }
    }
    expect(Math.max(...Object.values(read).flat())).toBeLessThanOrEqual(most)
    expect(read).toMatchInlineSnapshot(`
      {
        "by any text, which the customer has": [
          257,
          596,
          655,
        ],
        "by the address of the customer": [
          208,
          547,
          606,
        ],
        "by their number": [
          207,
          546,
          605,
        ],
        "customers of an edition": [
          207,
          546,
          605,
        ],
        "customers of an organisation": [
          205,
          544,
          603,
        ],
        "orders of an edition": [
          209,
          548,
          607,
        ],
        "orders of an organisation": [
          257,
          596,
          655,
        ],
      }
    `)
  })
})

describe('a role of an edition', () => {
  it('reads a row for each order that is found by its customer, and finds nothing by what is hidden', async () => {
    const shop = await seedShop()
    await seedSearchedOrders(shop, 1, 840)
    const { token } = await givenMember({ id: shop.organization_id }, 'viewer', shop.edition_id)
    const read = async (filter: string) => {
      const reply = await get(`/v1/orders?page_size=50&edition_id=${shop.edition_id}&${filter}`, token)
      return [reply.body.count as number, costOf(reply).rows_read]
    }
    const filters = ['search=often', 'customer_email=often', 'search=common-']
    expect(await Promise.all(filters.map(read))).toMatchInlineSnapshot(`
      [
        [
          101,
          214,
        ],
        [
          101,
          213,
        ],
        [
          101,
          214,
        ],
      ]
    `)
    // One of the customers joins another edition, which says nothing of them. The caller's said the address.
    const other = await seedEdition({ id: shop.organization_id })
    const joined = sql`(select id from users where email like 'often8@%' and organization_id = ${shop.organization_id})`
    await write(
      sql`insert into edition_customers (edition_short_id, user_seq, created_at)
        select substr(${other.id}, -8), seq, 1 from users where id = ${joined}`,
      sql`update users set email = 'often-hidden@example.test', search = 'ann b' || char(31) || 'often-hidden@example.test',
        email_folded = 'often-hidden@example.test' where id = ${joined}`,
      sql`update orders set search = 'often-hidden@example.test' where user_id = ${joined}`,
    )
    const counts = async (text: string) =>
      (await Promise.all([read(`search=${text}`), read(`customer_email=${text}`)])).map(([count]) => count)
    expect({ hidden: await counts('often-hidden'), all: await counts('often') }).toEqual({
      hidden: [0, 0],
      all: [101, 101],
    })
  })
})

describe('the order of what is found', () => {
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
    'is that of all lists: %s',
    async (ordering, column) => {
      const direction = sql.raw(ordering.startsWith('-') ? 'desc' : 'asc')
      const key = sql.raw(column)
      for (const search of ['common-', 'often']) {
        const rows = await db.all(sql<{ id: string }>`select id from orders
          where edition_id = ${shop.edition_id} and instr(search_text, ${search})
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
  it('are all found where one customer has more than a hundred', async () => {
    const shop = await seedShop()
    await seedSearchedOrders(shop, 1, 160)
    const buyer = sql`(select id from users where email like 'often8@%' and organization_id = ${shop.organization_id})`
    await write(sql`update orders set user_id = ${buyer}, search = 'often8@example.test'
      where edition_id = ${shop.edition_id}`)
    for (const filter of ['customer_email', 'search'])
      for (const scope of [`edition_id=${shop.edition_id}`, `organization_id=${shop.organization_id}`]) {
        const { ids, count } = await walkAs(rootToken, `/v1/orders?${scope}&${filter}=often8@&page_size=50`)
        expect([filter, count, new Set(ids).size]).toEqual([filter, 160, 160])
      }
    await write(
      sql`insert into refund_requests (id, organization_id, edition_id, order_id, transaction_id, user_id, target, status,
          source, reason, currency, requested_minor, created_at, modified_at)
        select 'rfr_' || printf('%026d', seq), organization_id, edition_id, id, 'trx_1', user_id, 'order', 'rejected', 'api',
          'customer_request', 'dkk', 1, seq, seq
        from orders where edition_id = ${shop.edition_id}`,
    )
    for (const scope of [`edition_id=${shop.edition_id}`, `organization_id=${shop.organization_id}`]) {
      const { ids, count } = await walkAs(rootToken, `/v1/refund-requests?${scope}&search=often8@&page_size=50`)
      expect([count, new Set(ids).size]).toEqual([160, 160])
    }
  })

  it('are no more to read where other customers have the text as something else', async () => {
    const shop = await seedShop()
    await seedSearchedOrders(shop, 1, 4800)
    const ours = sql`organization_id = ${shop.organization_id}`
    await write(
      sql`update users set phone_number = '+45990077' || (10 + seq % 90), phone_digits = '45990077' || (10 + seq % 90)
        where ${ours} and email like 'often%'`,
      sql`update users set email = 'x990077-' || seq || '@example.test', email_folded = 'x990077-' || seq || '@example.test'
        where ${ours} and email like 'seldom%'`,
      sql`update orders set search = (select address_folded || iif(phone_digits = '', '', char(31) || phone_digits) from users
        where id = user_id) where ${ours}`,
    )
    const at = `organization_id=${shop.organization_id}&page_size=50`
    const [emails, phones] = [
      await searched(`/v1/orders?${at}&customer_email=990077`),
      await searched(`/v1/orders?${at}&customer_phone=990077`),
    ]
    expect([emails.count, phones.count]).toEqual([40, 590])
    // Those that have it as a number are passed in the index.
    expect(emails.rows).toBeLessThan(40 + 590 + 4 * 40 + 60)
  })

  it('are none of another organisation or edition with the same mark', async () => {
    const shop = await seedShop()
    const other = { organization_id: twinOf(shop.organization_id), edition_id: twinOf(shop.edition_id) }
    await write(
      sql`insert into organizations (id, name, slug, search, created_at, modified_at)
        select ${other.organization_id}, name, slug || '-twin', search, 1, 1 from organizations where id = ${shop.organization_id}`,
      sql`insert into editions (id, organization_id, event_id, name, full_name, slug, timezone, default_country_code,
          default_language, enabled_languages, tax_type, currency, search, created_at, modified_at)
        select ${other.edition_id}, ${other.organization_id}, event_id, name, full_name, slug, timezone, default_country_code,
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
          ].map(async (path) => (await searched(path)).count),
        )
        expect([scope, counts]).toEqual([scope, [orders, orders, orders, customers]])
      }
  })
})

describe('a text that more than 500 have', () => {
  it('finds each order once, also where its customer has the text too, or almost all have it', async () => {
    const shop = await seedShop()
    await seedSearchedOrders(shop, 1, 5600)
    await write(sql`update orders set search_own = 'often-' || seq
      where edition_id = ${shop.edition_id} and order_number like 'common-%'`)
    const found = sql`edition_id = ${shop.edition_id} and instr(search_text, `
    for (const search of ['often', 'example'])
      for (const ordering of ['created', '-order_number']) {
        const [by, direction] = ordering === 'created' ? ['created_at', 'asc'] : ['number_key', 'desc']
        const rows = await db.all(sql<{ id: string }>`select id from orders where ${found} ${search})
          order by ${sql.raw(`${by} is null, ${by} ${direction}, created_at ${direction}, seq ${direction}`)}`)
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
