import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { get, patch, post } from '../../support/api.ts'
import { givenConsent } from '../../support/seeding/messaging/consents.ts'
import { db } from '../../support/seeding/rows.ts'
import { anOrder, givenOrders, seedShop, type Shop } from '../../support/seeding/sales/orders.ts'

/** Characters that exports, chats, spreadsheets and attackers leave around and inside texts. */
const blankLetters = '\u034F\u115F\u1160\u17B4\u180E\u206A\u206F\u2800\u3164\uFFA0'
const characters = Array.from(
  blankLetters +
    '\u00AD\u200B\u200C\u200D\u200E\u200F\u202A\u202B\u202C\u202D\u202E\u2060\u2061\u2066\u2067\u2069\uFEFF\u061C',
)
const spaces = Array.from('\u00A0\u1680\u2003\u202F\u3000')

const hide = (text: string, character: string): string =>
  `${character}${text.slice(0, 2)}${character}${text.slice(2)}${character}`

const countRows = async (shop: Shop) => {
  const [row] = await db.all(sql`select
    (select count(*) from orders where edition_id = ${shop.edition_id}) as orders,
    (select count(*) from products where edition_id = ${shop.edition_id}) as products,
    (select count(*) from users where organization_id = ${shop.organization_id}) as users,
    (select count(*) from purchases where edition_id = ${shop.edition_id}) as purchases`)
  return row
}

const externalOrders = (shop: Shop, source: string, orders: unknown[]) =>
  post('/v1/data-imports/external-orders', {
    organization_id: shop.organization_id,
    edition_id: shop.edition_id,
    source,
    orders,
    on_duplicate: 'update',
  })

const person = { email: 'anna@example.dk', phone_number: '+4532123456', first_name: 'Anna', last_name: 'Holm' }

describe('invisible characters', () => {
  it.each([...characters, ...spaces].map((character) => [character.charCodeAt(0).toString(16), character]))(
    'make no second order, product or customer (U+%s)',
    async (_, character) => {
      const shop = await seedShop()
      const isSpace = spaces.includes(character)
      const change = (text: string) => (isSpace ? `${character}${text}${character}` : hide(text, character))
      const item = { product: 'Day ticket', quantity: 1, unit_price: 10 }
      const order = { ...anOrder(), external_id: 'A-1', order_number: 'N-1', customer: person, items: [item] }
      await externalOrders(shop, 'webshop', [order])
      const before = await countRows(shop)
      const changed = {
        ...order,
        external_id: change('A-1'),
        order_number: change('N-1'),
        customer: Object.fromEntries(Object.entries(person).map(([name, text]) => [name, change(text)])),
        items: [{ ...item, product: isSpace ? `Day${character}${character}ticket` : change('Day ticket') }],
      }
      const { status, body } = await externalOrders(shop, change('webshop'), [changed])
      expect([status, body.skipped_orders + body.updated_orders, body.created_orders]).toEqual([201, 1, 0])
      expect(await countRows(shop)).toEqual(before)
    },
  )

  it('are removed before storing, except joiners between letters and emoji', async () => {
    const shop = await seedShop()
    const first_name = 'می\u200Cخواهم'
    const family = '👨\u200D👩\u200D👧'
    const [id] = await givenOrders(shop, [
      anOrder({
        customer: {
          email: 'a@example.dk',
          first_name: `\uFEFF${first_name}\u200C`,
          last_name: 'Ho\u00ADlm\u00A0\u2003 A\u030A',
        },
        items: [{ product: `${family}\u200D ticket\u200B`, quantity: 1, unit_price: 1 }],
        metadata: { note: ' a\u200Bb \u00A0 ' },
      }),
    ])
    const { body } = await get(`/v1/orders/${id}`)
    const { body: customers } = await get(`/v1/user?organization_id=${shop.organization_id}`)
    expect(customers.results).toMatchObject([{ first_name, last_name: 'Holm Å' }])
    expect(body.metadata).toEqual({ note: ' a\u200Bb \u00A0 ' })
    const products = await db.all(sql`select name from products where edition_id = ${shop.edition_id}`)
    expect(products).toEqual([{ name: `${family} ticket` }])
  })

  it('cannot be all of a required id', async () => {
    const shop = await seedShop()
    const { body } = await externalOrders(shop, 'webshop', [anOrder({ external_id: '\u200B\u2060' })])
    expect(body.results[0]).toMatchObject({ action: 'error' })
  })

  it('change no search', async () => {
    const shop = await seedShop()
    const [id] = await givenOrders(shop, [anOrder({ customer: person, order_number: 'N-1234' })])
    for (const needle of [
      'an\u200Bna@exa',
      '\uFEFFN-12',
      'N\u00AD-1234',
      '\u202A+45 32 12\u202C',
      'anna@example.dk\u200B',
    ]) {
      const { body } = await get(`/v1/orders?edition_id=${shop.edition_id}&search=${encodeURIComponent(needle)}`)
      expect(
        body.results.map((order: { id: string }) => order.id),
        JSON.stringify(needle),
      ).toEqual([id])
    }
  })

  it('find nothing as a search, and neither do accents alone', async () => {
    const shop = await seedShop()
    await givenOrders(shop, [anOrder({ customer: person })])
    const lists = [
      (needle: string) => `/v1/user?organization_id=${shop.organization_id}&search=${needle}`,
      (needle: string) => `/v1/orders?edition_id=${shop.edition_id}&search=${needle}`,
      (needle: string) => `/v1/orders?edition_id=${shop.edition_id}&customer_email=${needle}`,
      (needle: string) => `/v1/editions?organization_id=${shop.organization_id}&search=${needle}`,
    ]
    for (const list of lists)
      for (const needle of ['\u0301', '\u0301\u0308\u0327', '\u{E0061}'])
        expect((await get(list(encodeURIComponent(needle)))).body.count, list(needle)).toBe(0)
  })

  it.each(['45', '+45', '%2B45', '(%2B45)'])(
    'a search for a country code alone finds its numbers: search=%s',
    async (needle) => {
      const shop = await seedShop()
      const [id] = await givenOrders(shop, [
        anOrder({ customer: person }),
        anOrder({ customer: { email: 'b@example.dk' } }),
      ])
      const { body: users } = await get(`/v1/user?organization_id=${shop.organization_id}&search=${needle}`)
      expect(users.results.map(({ email }: { email: string }) => email)).toEqual([person.email])
      const { body } = await get(`/v1/orders?edition_id=${shop.edition_id}&search=${needle}`)
      expect(body.results.map((order: { id: string }) => order.id)).toContain(id)
    },
  )

  it('are kept out of an address and name that you send in an update', async () => {
    const shop = await seedShop()
    await givenOrders(shop, [anOrder({ customer: person })])
    const { body } = await get(`/v1/user?organization_id=${shop.organization_id}`)
    const [{ id }] = body.results
    const hidden = Object.fromEntries(Object.entries(person).map(([name, text]) => [name, hide(text, '\u200B')]))
    expect((await patch(`/v1/user/${id}`, hidden)).body).toMatchObject(person)
  })
})

describe('blank characters', () => {
  const blanks = Array.from('\u200B\u2060\uFEFF\u00AD\u180E\u034F\u115F\u3164\u2800\u202E')

  it('name no other consent', async () => {
    const shop = await seedShop()
    const { key } = (await givenConsent(shop.organization_id, { key: 'newsletter' })) as { key: string }
    const orders = [...blanks, ...spaces].map((blank) =>
      anOrder({ consents: { [spaces.includes(blank) ? `${blank}${key}${blank}` : hide(key, blank)]: true } }),
    )
    const { body } = await externalOrders(shop, 'webshop', orders)
    expect(body).toMatchObject({ created_orders: orders.length, failed_orders: 0 })
    const [row] = await db.all(sql`select count(*) as count from consent_records
      where organization_id = ${shop.organization_id}`)
    expect(row).toEqual({ count: orders.length })
  })

  it('make no other code of a ticket or coupon, and find them', async () => {
    const shop = await seedShop()
    const item = { product: 'Day ticket', quantity: 1, unit_price: 10 }
    for (const [index, blank] of blanks.entries()) {
      const order = {
        ...anOrder(),
        coupon_code: 'EARLY-10',
        payment: { service: 'import', reference: `REF-${index}` },
        items: [{ ...item, vendor_code: `T-100${index}`, variant: 'Saturday', location: 'North', options: ['Lunch'] }],
      }
      await externalOrders(shop, 'webshop', [order])
      const changed = {
        ...order,
        coupon_code: hide('EARLY-10', blank),
        payment: { service: 'import', reference: hide(`REF-${index}`, blank) },
        items: [
          {
            ...item,
            vendor_code: hide(`T-100${index}`, blank),
            variant: hide('Saturday', blank),
            location: hide('North', blank),
            options: [hide('Lunch', blank)],
          },
        ],
      }
      const { body } = await externalOrders(shop, 'webshop', [changed])
      expect(body, blank.charCodeAt(0).toString(16)).toMatchObject({ skipped_orders: 1, updated_orders: 0 })
      for (const query of [`vendor_code=${encodeURIComponent(hide(`T-100${index}`, blank))}`]) {
        const purchases = await get(`/v1/purchases?edition_id=${shop.edition_id}&${query}`)
        expect(purchases.body.count, query).toBe(1)
      }
    }
  })

  it('are no name', async () => {
    const shop = await seedShop()
    for (const blank of blanks) {
      const item = { product: blank, quantity: 1, unit_price: 1 }
      const { body } = await externalOrders(shop, 'webshop', [anOrder({ items: [item] })])
      expect(body.results[0], blank.charCodeAt(0).toString(16)).toMatchObject({ action: 'error' })
      const named = anOrder({ customer: { email: 'a@example.dk', first_name: blank, full_name: 'Anna Holm' } })
      await externalOrders(shop, 'webshop', [named])
    }
    const { body } = await get(`/v1/user?organization_id=${shop.organization_id}&search=a@example.dk`)
    expect(body.results).toMatchObject([{ first_name: 'Anna', last_name: 'Holm' }])
  })

  it('stay in the texts of a message and in metadata', async () => {
    const shop = await seedShop()
    const text = `a${blanks.join('b')}c`
    const [id] = await givenOrders(shop, [
      anOrder({ metadata: { [text]: text }, customer: { email: 'a@example.dk', metadata: { note: text } } }),
    ])
    expect((await get(`/v1/orders/${id}`)).body.metadata).toEqual({ [text]: text })
    const { body } = await get(`/v1/user?organization_id=${shop.organization_id}`)
    expect(body.results[0].metadata).toEqual({ note: text })
  })
})
