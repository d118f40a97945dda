import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { get } from '../support/api.ts'
import { order, describeRefusal, type ShownPurchase, importOrder, buildTicket } from '../support/imported-orders.ts'
import { countContents } from '../support/orders.ts'
import { db, write } from '../support/seeding/rows.ts'
import { anOrder, seedShop, importOrders } from '../support/seeding/sales/orders.ts'
import { seedEndpoint } from '../support/seeding/webhooks.ts'
import { givenTwo, loadCustomer, stranger } from '../support/shared-customers.ts'
import { listPurchaseEvents } from '../support/webhook-rows.ts'

const listEmails = (purchases: readonly ShownPurchase[]) => purchases.map(({ user }) => user.email).toSorted()

describe('items with a holder', () => {
  it('become purchases of that person, who is matched or created by the address', async () => {
    const shop = await seedShop()
    await importOrders(shop, [anOrder({ customer: { email: 'ida@example.dk', last_name: 'Berg' } })])
    const { body, purchases } = await importOrder(shop, {
      items: [
        buildTicket({ quantity: 2, user: { email: ' IDA@example.dk', first_name: 'Ida' } }),
        buildTicket({ user: { email: 'new@example.dk', full_name: 'Maria de la Cruz' } }),
        buildTicket(),
        buildTicket({ user: {} }),
      ],
    })
    expect(purchases.map(({ user }) => [user.email, user.full_name]).toSorted()).toEqual([
      ['buyer@example.dk', 'Ægir Holm'],
      ['buyer@example.dk', 'Ægir Holm'],
      ['ida@example.dk', 'Ida Berg'],
      ['ida@example.dk', 'Ida Berg'],
      ['new@example.dk', 'Maria de la Cruz'],
    ])
    expect([body.customer.email, body.amount]).toEqual(['buyer@example.dk', 500])
    expect(await countContents(shop)).toMatchObject({ users: 3 })
    expect(await loadCustomer(shop, 'new@example.dk')).toMatchObject({ first_name: 'Maria', last_name: 'de la Cruz' })
    const list = await get(`/v1/purchases?edition_id=${shop.edition_id}&search=${body.id}`)
    expect(listEmails(list.body.results)).toEqual(listEmails(purchases))
    for (const { id, user } of purchases) expect((await get(`/v1/purchases/${id}`)).body.user).toEqual(user)
  })

  it('show an edition role only what this edition imported of a holder whom other editions know', async () => {
    const two = await givenTwo()
    const before = await loadCustomer(two.mine, stranger.email)
    const items = [buildTicket({ user: { email: stranger.email, first_name: 'Anna' } })]
    const reply = await importOrders(two.mine, [anOrder({ items })], {}, two.manager)
    const path = `/v1/orders/${reply.body.results[0].order_id}`
    const viewerReply = await get(path, two.viewer)
    expect(viewerReply.body.purchases).toMatchObject([
      { user: { api_id: two.user, full_name: 'Anna', email: stranger.email } },
    ])
    expect(viewerReply.text).not.toMatch(/Hemmelig|32123456/)
    expect((await get(path, two.organizationViewer)).body.purchases).toMatchObject([
      { user: { full_name: 'Hemmelig Holm' } },
    ])
    expect(await loadCustomer(two.mine, stranger.email)).toEqual(before)
    expect((await get(`/v1/user/${two.user}`, two.viewer)).status).toBe(200)
  })

  it('change their holder only by an update that names another one', async () => {
    const shop = await seedShop()
    const first = await importOrder(shop, {
      items: [buildTicket({ user: { email: 'ida@example.dk' } }), buildTicket()],
    })
    const ids = first.purchases.map(({ id }) => id).toSorted()
    const silent = await importOrder(shop, { items: [buildTicket({ quantity: 2 })] })
    expect(listEmails(silent.purchases)).toEqual(['buyer@example.dk', 'ida@example.dk'])
    const moved = await importOrder(shop, { items: [buildTicket({ user: { email: 'bo@example.dk' } }), buildTicket()] })
    expect(listEmails(moved.purchases)).toEqual(['bo@example.dk', 'buyer@example.dk'])
    const sold = await importOrder(shop, {
      customer: { email: 'other@example.dk' },
      items: [buildTicket({ quantity: 2 })],
    })
    expect(listEmails(sold.purchases)).toEqual(['bo@example.dk', 'other@example.dk'])
    expect(sold.purchases.map(({ id }) => id).toSorted()).toEqual(ids)
  })

  it('are announced with their holder', async () => {
    const shop = await seedShop()
    await seedEndpoint({ organization: shop.organization_id, edition: shop.edition_id }, { breaker_until: null })
    await importOrder(shop, { items: [buildTicket({ user: { email: 'ida@example.dk' } })] }, { emit_webhooks: true })
    await importOrder(shop, { status: 'cancelled', items: [buildTicket()] }, { emit_webhooks: true })
    const announced = (await listPurchaseEvents(shop.organization_id)).map(({ payload }) => JSON.parse(payload).data)
    expect(announced.map(({ action, user }) => [action, user.email])).toEqual([
      ['activated', 'ida@example.dk'],
      ['cancelled', 'ida@example.dk'],
    ])
  })

  it('belong to the customer when the holder has no address, with a warning', async () => {
    const shop = await seedShop()
    const { result, purchases } = await importOrder(shop, {
      items: [
        buildTicket(),
        buildTicket({ line_total: 50.01, unit_price: undefined, quantity: 2, user: { full_name: 'Ida Berg' } }),
      ],
    })
    expect(result.warnings).toMatchObject([
      { code: 'holder_without_email', pointer: '#/orders/0/items/1/user/email', attr: 'orders.0.items.1.user.email' },
    ])
    expect(new Set(listEmails(purchases))).toEqual(new Set(['buyer@example.dk']))
    expect(await countContents(shop)).toMatchObject({ users: 1 })
  })
})

describe('items with a status', () => {
  it('are cancelled in a live order, and count for the amount only if they were paid', async () => {
    const shop = await seedShop()
    const items = [
      buildTicket({ quantity: 2 }),
      buildTicket({ product: 'Poster', unit_price: 50, status: 'cancelled' }),
    ]
    const cases: [Record<string, unknown>, number, string[]][] = [
      [{}, 200, []],
      [{ amount: 200 }, 200, []],
      [{ amount: 250 }, 250, []],
      [{ amount: 230 }, 200, ['amount_mismatch']],
      [{ refunded_amount: 50 }, 250, []],
      [{ refunded_amount: 50, amount: 200 }, 200, []],
    ]
    for (const [change, amount, codes] of cases) {
      const { body, purchases, result } = await importOrder(shop, {
        external_id: JSON.stringify(change),
        items,
        ...change,
      })
      expect([body.amount, body.cart.total, body.transactions[0].amount]).toEqual([amount, amount, amount])
      const inCart = body.cart.items.reduce((sum: number, item: { quantity: number }) => sum + item.quantity, 0)
      expect(inCart).toBe(amount === 250 ? 3 : 2)
      expect(purchases.map(({ status }) => status).toSorted()).toEqual(['active', 'active', 'cancelled'])
      expect(result.warnings.map(({ code }: { code: string }) => code)).toEqual(codes)
    }
  })

  it('cancel the unused one of two equal tickets in an update, and the same update again changes nothing', async () => {
    const shop = await seedShop()
    const first = await importOrder(shop, { items: [buildTicket({ quantity: 2 })] })
    const used = first.purchases[0]?.id ?? ''
    await write(sql`update purchases set status = 'used', uses_count = 1 where id = ${used}`)
    const items = [buildTicket({ status: 'cancelled' }), buildTicket()]
    const once = await importOrder(shop, { items })
    expect(once.purchases.find(({ id }) => id === used)?.status).toBe('used')
    expect(once.purchases.map(({ status }) => status).toSorted()).toEqual(['cancelled', 'used'])
    expect(once.body.amount).toBe(100)
    const twice = await importOrder(shop, { items })
    expect(twice.purchases).toEqual(once.purchases)
  })

  it('are pending or active as the item says, and cancelled with their order', async () => {
    const shop = await seedShop()
    const items = [
      buildTicket({ status: 'pending' }),
      buildTicket({ product: 'Poster', status: 'active' }),
      buildTicket({ product: 'Cup' }),
    ]
    const statuses = async (status: string) =>
      (await importOrder(shop, { status, items })).purchases.map((purchase) => purchase.status).toSorted()
    expect(await statuses('pending')).toEqual(['active', 'pending', 'pending'])
    expect(await statuses('completed')).toEqual(['active', 'active', 'pending'])
    expect(await statuses('cancelled')).toEqual(['cancelled', 'cancelled', 'cancelled'])
  })
})

describe('customers of another system', () => {
  const others = ['de', 'nb', 'nb-NO', 'zh_Hant_TW', '', 'Klingon!', 'German', 'fr_FR.UTF-8', 'de-DE,de;q=0.9', '??']

  it.each(others)('get the language of the edition instead of %j', async (locale) => {
    const shop = await seedShop()
    for (const [place, pointer] of [
      [{ customer: { email: 'a@example.dk', locale } }, '#/orders/0/customer/locale'],
      [{ customer: { email: 'b@example.dk' }, locale }, '#/orders/0/locale'],
    ] as const) {
      const { body } = await importOrders(shop, [anOrder(place)])
      expect(body.results).toMatchObject([{ action: 'created', warnings: [{ code: 'unsupported_language', pointer }] }])
      expect((await loadCustomer(shop, place.customer.email)).locale).toBe('en')
    }
    const { body } = await importOrders(shop, [anOrder({ customer: { email: 'c@example.dk', locale }, locale: 'pl' })])
    expect([body.results[0].warnings.length, (await loadCustomer(shop, 'c@example.dk')).locale]).toEqual([1, 'pl'])
  })

  it.each(['da_DK.UTF-8', 'da-DK,da;q=0.9,en;q=0.8', 'DA', 'da@euro', '\u200Bda\u00A0'])(
    'get the language Danish from %j',
    async (locale) => {
      const shop = await seedShop()
      const { body } = await importOrders(shop, [anOrder({ customer: { email: 'a@example.dk', locale } })])
      expect(body.results).toMatchObject([{ action: 'created', warnings: [] }])
      expect((await loadCustomer(shop, 'a@example.dk')).locale).toBe('da')
    },
  )

  it('get the names and language of the order, and the most specific field wins', async () => {
    const shop = await seedShop()
    const customer = { email: 'a@example.dk', first_name: 'Anna Maria', full_name: 'Holm, Anna' }
    await importOrder(shop, { customer, locale: 'da-DK', items: [buildTicket({ user: { email: 'b@example.dk' } })] })
    const [anna, other] = [await loadCustomer(shop, 'a@example.dk'), await loadCustomer(shop, 'b@example.dk')]
    expect(anna).toMatchObject({ first_name: 'Anna Maria', last_name: 'Holm', locale: 'da' })
    expect(other.locale).toBe('da')
    await importOrder(shop, { external_id: '2', customer: { email: 'c@example.dk', locale: 'pl' }, locale: 'da' })
    expect((await loadCustomer(shop, 'c@example.dk')).locale).toBe('pl')
    const long = { email: 'a@example.dk', full_name: `${'x'.repeat(81)} y` }
    expect(await describeRefusal(shop, { customer: long })).toEqual(['max_length #/orders/0/customer/full_name'])
  })
})

describe('a dry run', () => {
  it('answers a repeated id as the real import does, and writes nothing', async () => {
    for (const on_duplicate of ['skip', 'update', 'error']) {
      const shop = await seedShop()
      const orders = [order({ status: 'confirmed' }), order({ status: 'pending' }), order({ status: 'completed' })]
      const dry = await importOrders(shop, orders, { on_duplicate, dry_run: true })
      expect(await countContents(shop)).toMatchObject({ orders: 0, users: 0, data_imports: 0 })
      const real = await importOrders(shop, orders, { on_duplicate })
      const describeOutcome = (reply: typeof real) =>
        reply.body.results.map(({ action, errors, warnings }: Record<string, unknown>) => ({
          action,
          errors,
          warnings,
        }))
      expect(describeOutcome(dry)).toEqual(describeOutcome(real))
      const ids = dry.body.results.map(({ order_id }: { order_id: string | null }) => order_id)
      expect(ids).toEqual([null, null, null])
      const rows = await db.all(sql`select id from purchases where edition_id = ${shop.edition_id}`)
      expect(rows).toHaveLength(2)
    }
  })
})

describe('an order that its source writes differently', () => {
  const customer = {
    email: 'ane@example.dk',
    phone_number: '+4520123456',
    full_name: 'Åse Holm',
    locale: 'da',
    metadata: { a: 1, b: { c: 2, d: 3 } },
  }
  const item = {
    product: 'Day ticket',
    variant: 'Saturday',
    quantity: 2,
    unit_price: 100,
    user: { email: 'b@example.dk' },
  }
  const base = { created: '2026-01-01T10:00:00Z', customer, items: [item], discount: 10, metadata: { z: 1, y: [1, 2] } }
  const writings: [string, Record<string, unknown>][] = [
    ['phone number', { customer: { ...customer, phone_number: '0045 20\u00A012 34 56' } }],
    ['e-mail address', { customer: { ...customer, email: '"ANE"@Example.DK.' } }],
    ['accents', { customer: { ...customer, full_name: 'A\u030Ase  Holm' } }],
    ['names', { customer: { ...customer, full_name: undefined, first_name: 'Åse', last_name: 'Holm' } }],
    ['language', { customer: { ...customer, locale: 'da_DK.UTF-8' } }],
    [
      'order of keys',
      { customer: { ...customer, metadata: { b: { d: 3, c: 2 }, a: 1 } }, metadata: { y: [1, 2], z: 1 } },
    ],
    ['product', { items: [{ ...item, product: 'DAY  ticket', variant: 'saturday' }] }],
    ['price', { items: [{ ...item, unit_price: undefined, line_total: 200 }], amount: 190 }],
    ['time', { created: '2026-01-01T11:00:00+01:00' }],
    [
      'blank values',
      { coupon_code: '', order_number: '\u3164', items: [{ ...item, location: null, vendor_code: null }] },
    ],
  ]

  it.each(writings)('is unchanged: %s', async (_, change) => {
    const shop = await seedShop()
    await importOrder(shop, base)
    expect((await importOrder(shop, { ...base, ...change })).result).toMatchObject({ action: 'skipped', warnings: [] })
  })
})
