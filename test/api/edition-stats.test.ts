import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { create, get, patch } from '../support/api.ts'
import { revert, scan } from '../support/purchases.ts'
import { expectSalesCounts } from '../support/sales-counts.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { write } from '../support/seeding/rows.ts'
import {
  anOrder,
  givenOrder,
  givenOrders,
  givenTicket,
  importOrders,
  seedShop,
  type Shop,
} from '../support/seeding/sales/orders.ts'
import { undoToEnd } from '../support/undone-imports.ts'

const ask = (shop: Shop, query = '', token?: string) => get(`/v1/editions/${shop.edition_id}/stats?${query}`, token)
const read = async (shop: Shop, query = '') => {
  const { status, body, text } = await ask(shop, query)
  expect([status, text]).toEqual([200, expect.anything()])
  return body
}

interface Group {
  date: string | null
  count: number
}
const countByDay = (groups: readonly Group[]) => groups.map(({ date, count }) => [date, count])

const orderAt = (created: string, change: Record<string, unknown> = {}) => anOrder({ created, ...change })

/** Seeds a count of each status and currency for each of 1051 days. */
async function seedDailyCounts({ edition_id }: Shop, currencies: readonly string[]): Promise<void> {
  await write(
    sql`insert into sales_series (edition_id, kind, product_id, status, currency)
      select ${edition_id}, 'order', '', status.value, currency.value
      from json_each('["pending","completed","cancelled"]') as status
      cross join json_each(${JSON.stringify(currencies)}) as currency`,
    sql`with recursive days (day) as (select 20000 union all select day + 1 from days where day < 21050)
      insert into sales_counts select id, day * 96 + 40, 1, 100, 0, 0, 0 from sales_series cross join days
      where edition_id = ${edition_id}`,
  )
}

/** Sells tickets and tents on both sides of a midnight, uses a ticket, takes a use back, and requests a refund. */
async function givenSales() {
  const shop = await seedShop({ timezone: 'Europe/Copenhagen' })
  const items = [
    { product: 'Day ticket', quantity: 2, unit_price: 100, deposit: 5 },
    { product: 'Tent', quantity: 1, unit_price: 50, handling_fee: 2 },
  ]
  const one = await givenOrder(shop, { created: '2026-06-01T21:59:59Z', items })
  await givenOrder(shop, { created: '2026-06-01T22:00:00Z', items })
  await givenOrder(shop, { created: '2026-06-01T23:00:00Z', status: 'pending' })
  await givenOrder(shop, { created: '2026-06-02T10:00:00Z', currency: 'eur' })
  const [first = '', second = ''] = one.purchases
  expect((await scan(first, { used_at: '2026-06-03T10:00:00Z' })).status).toBe(201)
  await scan(second, { used_at: '2026-06-03T11:00:00Z' })
  await revert(second, (await get(`/v1/purchases/${second}`)).body.uses[0].id)
  await create('/v1/refund-requests', { purchase_id: second, reason: 'customer_request', amount: 20 })
  const { results } = (await get(`/v1/products?edition_id=${shop.edition_id}`)).body
  const findProduct = (name: string) => ({
    api_id: results.find((candidate: { name: string }) => candidate.name === name).id,
    name,
  })
  return { shop, ticket: findProduct('Day ticket'), tent: findProduct('Tent') }
}

describe('getEditionStats', () => {
  describe('of an edition with sales, uses and refunds', () => {
    let sales: Awaited<ReturnType<typeof givenSales>>
    beforeAll(async () => {
      sales = await givenSales()
    })

    it('counts the days of all time in the time zone of the edition', async () => {
      const { shop } = sales
      expect(await read(shop)).toMatchObject({
        edition_id: shop.edition_id,
        timezone: 'Europe/Copenhagen',
        from: null,
        to: null,
      })
      await expectSalesCounts()
    })

    it('adds up orders by day, status and currency', async () => {
      expect((await read(sales.shop)).orders).toEqual([
        { date: '2026-06-01', status: 'completed', currency: 'dkk', count: 1, amount: 262 },
        { date: '2026-06-02', status: 'completed', currency: 'dkk', count: 1, amount: 262 },
        { date: '2026-06-02', status: 'completed', currency: 'eur', count: 1, amount: 450 },
        { date: '2026-06-02', status: 'pending', currency: 'dkk', count: 1, amount: 450 },
      ])
    })

    it('adds up purchases by day, product, status and currency', async () => {
      const { shop, ticket, tent } = sales
      const amounts = (count: number, price_paid: number, deposit_paid: number, handling_fee_paid: number) => ({
        count,
        price_paid,
        deposit_paid,
        handling_fee_paid,
      })
      expect((await read(shop)).purchases).toEqual([
        { date: '2026-06-01', product: ticket, status: 'active', currency: 'dkk', ...amounts(1, 100, 5, 0) },
        { date: '2026-06-01', product: ticket, status: 'used', currency: 'dkk', ...amounts(1, 100, 5, 0) },
        { date: '2026-06-01', product: tent, status: 'active', currency: 'dkk', ...amounts(1, 50, 0, 2) },
        { date: '2026-06-02', product: ticket, status: 'active', currency: 'dkk', ...amounts(2, 200, 10, 0) },
        { date: '2026-06-02', product: ticket, status: 'active', currency: 'eur', ...amounts(2, 450, 0, 0) },
        { date: '2026-06-02', product: ticket, status: 'pending', currency: 'dkk', ...amounts(2, 450, 0, 0) },
        { date: '2026-06-02', product: tent, status: 'active', currency: 'dkk', ...amounts(1, 50, 0, 2) },
      ])
    })

    it('counts uses that were not taken back by day and product', async () => {
      const { shop, ticket } = sales
      expect((await read(shop)).uses).toEqual([{ date: '2026-06-03', product: ticket, count: 1 }])
    })

    it('adds up refunds by status and currency', async () => {
      expect((await read(sales.shop)).refunds).toMatchObject([
        { status: 'pending', currency: 'dkk', count: 1, requested_amount: 20, refunded_amount: 0 },
      ])
    })
  })

  describe('of an edition with two currencies', () => {
    let shop: Shop
    beforeAll(async () => {
      shop = await seedShop()
      await givenOrders(shop, [
        orderAt('2026-06-01T10:00:00Z'),
        orderAt('2026-06-02T10:00:00Z', { status: 'pending' }),
        orderAt('2026-06-03T10:00:00Z', { currency: 'eur' }),
      ])
    })

    const group = (count: number, currency: string, others: object = {}) => ({
      date: null,
      status: null,
      currency,
      count,
      amount: count * 450,
      ...others,
    })
    it.each([
      ['product', [group(2, 'dkk'), group(1, 'eur')]],
      [
        'status',
        [
          group(1, 'dkk', { status: 'completed' }),
          group(1, 'eur', { status: 'completed' }),
          group(1, 'dkk', { status: 'pending' }),
        ],
      ],
      [
        'day',
        [
          group(1, 'dkk', { date: '2026-06-01' }),
          group(1, 'dkk', { date: '2026-06-02' }),
          group(1, 'eur', { date: '2026-06-03' }),
        ],
      ],
    ])('groups orders by %s, and never adds amounts of different currencies', async (groups, expected) => {
      expect((await read(shop, `group_by=${groups}`)).orders).toEqual(expected)
    })

    it('names no product when it groups by status', async () => {
      expect((await read(shop, 'group_by=status')).purchases[0]).toMatchObject({ product: null, count: 2 })
    })
  })

  describe('of a range of days', () => {
    let shop: Shop
    beforeAll(async () => {
      shop = await seedShop({ timezone: 'America/St_Johns' })
      await givenOrders(shop, [
        orderAt('2026-06-01T02:29:59Z'),
        orderAt('2026-06-01T02:30:00Z'),
        orderAt('2026-06-03T02:29:59Z'),
        orderAt('2026-06-03T02:30:00Z'),
      ])
    })

    it.each(['day', 'status'])('counts from the first to the last day, both included, by %s', async (groups) => {
      const stats = await read(shop, `from=2026-06-01&to=2026-06-02&group_by=${groups}`)
      expect([stats.from, stats.to]).toEqual(['2026-06-01', '2026-06-02'])
      expect(stats.orders.reduce((sum: number, { count }: Group) => sum + count, 0)).toBe(2)
    })

    it.each([
      ['from=2026-06-03', '2026-06-03', null],
      ['to=2026-05-31', null, '2026-05-31'],
    ])('may have one end: %s', async (query, from, to) => {
      const stats = await read(shop, `${query}&group_by=status`)
      expect([stats.from, stats.to, stats.orders[0].count]).toEqual([from, to, 1])
    })

    it.each(['from=2027-01-01', 'from=2026-06-02&to=2026-06-01', 'to=0001-01-01', 'from=9999-12-31'])(
      'is empty where nothing was sold: %s',
      async (query) => {
        expect((await read(shop, query)).orders).toEqual([])
      },
    )

    it('may be all days that there are', async () => {
      expect((await read(shop, 'from=0000-01-01&to=9999-12-31')).orders).toHaveLength(4)
    })
  })

  it.each([
    // Clocks go forward in the night to 29 March, and back in the night to 25 October.
    [
      'Europe/Copenhagen',
      ['2026-03-28T22:59:59Z', '2026-03-28T23:00:00Z', '2026-03-29T21:59:59Z', '2026-03-29T22:00:00Z'],
      [
        ['2026-03-28', 1],
        ['2026-03-29', 2],
        ['2026-03-30', 1],
      ],
    ],
    [
      'Europe/Copenhagen',
      ['2026-10-24T22:00:00Z', '2026-10-25T22:59:59Z', '2026-10-25T23:00:00Z'],
      [
        ['2026-10-25', 2],
        ['2026-10-26', 1],
      ],
    ],
    [
      'Asia/Kolkata',
      ['2026-06-01T18:29:59Z', '2026-06-01T18:30:00Z'],
      [
        ['2026-06-01', 1],
        ['2026-06-02', 1],
      ],
    ],
    [
      'Asia/Kathmandu',
      ['2026-06-01T18:14:59Z', '2026-06-01T18:15:00Z'],
      [
        ['2026-06-01', 1],
        ['2026-06-02', 1],
      ],
    ],
    // The clocks of Lord Howe move by half an hour.
    [
      'Australia/Lord_Howe',
      ['2026-04-04T12:59:59Z', '2026-04-04T13:00:00Z', '2026-04-05T13:29:59Z', '2026-04-05T13:30:00Z'],
      [
        ['2026-04-04', 1],
        ['2026-04-05', 2],
        ['2026-04-06', 1],
      ],
    ],
    // Clocks skip midnight.
    [
      'America/Santiago',
      ['2026-09-06T03:59:59Z', '2026-09-06T04:00:00Z'],
      [
        ['2026-09-05', 1],
        ['2026-09-06', 1],
      ],
    ],
    // Clocks show the hour before midnight twice.
    [
      'America/Santiago',
      ['2026-04-05T02:30:00Z', '2026-04-05T03:30:00Z', '2026-04-05T04:00:00Z'],
      [
        ['2026-04-04', 2],
        ['2026-04-05', 1],
      ],
    ],
    // Samoa had no 30 December 2011.
    [
      'Pacific/Apia',
      ['2011-12-30T09:59:59Z', '2011-12-30T10:00:00Z'],
      [
        ['2011-12-29', 1],
        ['2011-12-31', 1],
      ],
    ],
    [
      'Pacific/Kiritimati',
      ['2026-06-01T09:59:59Z', '2026-06-01T10:00:00Z'],
      [
        ['2026-06-01', 1],
        ['2026-06-02', 1],
      ],
    ],
  ] as const)('begins days in %s as its clocks do: %s', async (timezone, times, days) => {
    const shop = await seedShop({ timezone })
    await givenOrders(
      shop,
      times.map((created) => orderAt(created)),
    )
    expect(countByDay((await read(shop, 'group_by=day')).orders)).toEqual(days)
  })

  it('counts in the days of another time zone at once when the edition gets it', async () => {
    const shop = await seedShop({ timezone: 'Europe/Copenhagen' })
    await givenOrders(shop, [orderAt('2026-06-01T21:00:00Z'), orderAt('2026-06-01T22:00:00Z')])
    expect((await read(shop, 'group_by=day')).orders).toHaveLength(2)
    await patch(`/v1/editions/${shop.edition_id}`, { timezone: 'Asia/Kathmandu' })
    const { orders, timezone } = await read(shop, 'group_by=day')
    expect([timezone, countByDay(orders)]).toEqual(['Asia/Kathmandu', [['2026-06-02', 2]]])
  })

  it('follows updates, cancellations and the undo of an import', async () => {
    const shop = await seedShop()
    const ticket = await givenTicket(shop, {}, { created: '2026-06-01T10:00:00Z' })
    const imported = await importOrders(shop, [orderAt('2026-06-01T10:00:00Z'), orderAt('2026-06-02T10:00:00Z')])
    await ticket.again({ status: 'cancelled' })
    expect((await read(shop, 'group_by=status')).orders).toMatchObject([
      { status: 'cancelled', count: 1, amount: 225 },
      { status: 'completed', count: 2, amount: 900 },
    ])
    await undoToEnd(imported.body.id)
    const stats = await read(shop)
    expect(stats.orders).toMatchObject([{ date: '2026-06-01', status: 'cancelled', count: 1 }])
    expect(stats.purchases).toMatchObject([{ date: '2026-06-01', status: 'cancelled', count: 1 }])
    await expectSalesCounts()
  })

  it('counts the purchases and uses of a merged product as those of the other one', async () => {
    const shop = await seedShop()
    const [day, night] = [
      await givenTicket(shop, { product: 'Day ticket' }),
      await givenTicket(shop, { product: 'Dayticket' }),
    ]
    for (const { id } of [day, night]) await scan(id)
    const [into, from] = await Promise.all(
      [day, night].map(async ({ id }) => (await get(`/v1/purchases/${id}`)).body.product.api_id),
    )
    await write(sql`update products set merged_into_id = ${into} where id = ${from}`)
    const expected = [{ product: { api_id: into, name: 'Day ticket' }, count: 2 }]
    const query = 'group_by=product'
    expect(await read(shop, query)).toMatchObject({ purchases: expected, uses: expected })
    await write(sql`update purchases set product_id = ${into} where product_id = ${from}`)
    expect(await read(shop, query)).toMatchObject({ purchases: expected, uses: expected })
    await expectSalesCounts()
  })

  it('counts orders of long ago', async () => {
    const shop = await seedShop({ timezone: 'Europe/Copenhagen' })
    const times = ['0000-01-01T10:00:00Z', '1899-12-31T23:10:00Z', '1969-12-31T22:59:59Z', '1969-12-31T23:00:00Z']
    await givenOrders(
      shop,
      times.map((created) => orderAt(created)),
    )
    const stats = await read(shop, 'group_by=day')
    expect(countByDay(stats.orders)).toEqual([
      ['0000-01-01', 1],
      ['1900-01-01', 1],
      ['1969-12-31', 1],
      ['1970-01-01', 1],
    ])
    await expectSalesCounts()
  })

  it.each(['Europe/Copenhagen', 'UTC'])(
    'reads the clocks of %s a few times when dates are wrong by millennia',
    async (timezone) => {
      const shop = await seedShop({ timezone })
      const created = ['0001-01-01T10:00:00Z', '1970-01-01T00:00:00Z', '2026-06-01T10:00:00Z', '2026-06-02T10:00:00Z']
      const ids = await givenOrders(
        shop,
        created.map((at) => orderAt(at)),
      )
      // Files may date orders ahead.
      const ahead = Date.parse('9999-12-31T10:00:00Z')
      await write(
        sql`update orders set created_at = ${ahead} where id = ${ids[3]}`,
        sql`update purchases set created_at = ${ahead} where order_id = ${ids[3]}`,
      )
      const readClock = vi.spyOn(Intl.DateTimeFormat.prototype, 'formatToParts')
      const stats = await read(shop, 'group_by=day')
      expect(readClock.mock.calls.length).toBeLessThan(15_000)
      readClock.mockRestore()
      expect(countByDay(stats.orders)).toEqual([
        ['0001-01-01', 1],
        ['1970-01-01', 1],
        ['2026-06-01', 1],
        ['9999-12-31', 1],
      ])
      expect((await read(shop, 'group_by=day&from=9999-12-01')).orders).toHaveLength(1)
      await expectSalesCounts()
    },
  )

  it('is empty for an edition that has sold nothing', async () => {
    const shop = await seedShop({ timezone: 'UTC' })
    expect(await read(shop)).toEqual({
      edition_id: shop.edition_id,
      timezone: 'UTC',
      from: null,
      to: null,
      orders: [],
      purchases: [],
      uses: [],
      refunds: [],
    })
  })

  it.each([
    ['from=2026-02-30', 'from', 'invalid_date'],
    ['to=2026-01-01T00:00:00Z', 'to', 'invalid_date'],
    ['group_by=week', 'group_by', 'invalid_choice'],
  ])('refuses days and groups that do not exist: %s', async (query, attr, code) => {
    const reply = await ask(await seedShop(), query)
    expect([reply.status, reply.body.errors]).toMatchObject([400, [{ attr, code }]])
  })

  describe('of thousands of groups', () => {
    let few: Shop
    let many: Shop
    beforeAll(async () => {
      few = await seedShop()
      many = await seedShop()
      await seedDailyCounts(few, ['dkk'])
      await seedDailyCounts(many, ['dkk', 'eur', 'usd', 'gbp'])
    })
    afterAll(async () => {
      for (const { edition_id } of [few, many])
        await write(
          sql`delete from sales_counts where series_id in (select id from sales_series where edition_id = ${edition_id})`,
        )
    })

    it('answers as many as an answer has', async () => {
      expect((await read(few)).orders).toHaveLength(3153)
    })

    it('refuses more', async () => {
      const { status, body } = await ask(many)
      expect([status, body.errors]).toMatchObject([400, [{ attr: 'group_by', code: 'too_many_groups' }]])
    })

    it('answers fewer groups of the same numbers', async () => {
      expect((await read(many, 'group_by=status')).orders).toHaveLength(12)
    })
  })

  it('is for every role of the edition or its organisation, and for nobody else', async () => {
    const shop = await seedShop()
    const sibling = await seedEdition({ id: shop.organization_id })
    await givenOrders(shop, [orderAt('2026-06-01T10:00:00Z')])
    const statuses = await Promise.all(
      [
        givenMember({ id: shop.organization_id }, 'viewer'),
        givenMember({ id: shop.organization_id }, 'viewer', shop.edition_id),
        givenMember({ id: shop.organization_id }, 'admin', sibling.id),
        givenMember(await givenOrganization(), 'admin'),
      ].map(async (member) => (await ask(shop, '', (await member).token)).status),
    )
    expect(statuses).toEqual([200, 200, 404, 404])
  })
})
