import { exports } from 'cloudflare:workers'
import { parse } from 'csv-parse/browser/esm/sync'
import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { buildRequest, call, callWith, get } from '../../support/api.ts'
import { listEntries } from '../../support/audit.ts'
import { failStatements, watchDatabase } from '../../support/bindings.ts'
import { scan } from '../../support/purchases.ts'
import { seedEdition } from '../../support/seeding/editions.ts'
import { givenMember } from '../../support/seeding/members.ts'
import { givenOrganization } from '../../support/seeding/organizations.ts'
import { write } from '../../support/seeding/rows.ts'
import { anOrder, givenOrder, importOrders, seedShop, type Shop } from '../../support/seeding/sales/orders.ts'
import { seedTrades } from '../../support/seeding/sales/trades.ts'

type Row = Record<string, unknown>

const readCsv = (text: string): string[][] => parse(text, { bom: true })
const encodeUtf8 = (text: string): number[] => [...new TextEncoder().encode(text)]
const readLines = (text: string): Row[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Row)

const fetchRows = async (path: string, query: object, token?: string): Promise<Row[]> => {
  const parameters = new URLSearchParams({ format: 'ndjson', ...query })
  const reply = await get(`${path}/export?${parameters.toString()}`, token)
  expect([reply.status, reply.text.slice(0, 300)]).toEqual([200, expect.anything()])
  return readLines(reply.text)
}
const fetchIds = async (path: string, query: object, token?: string) =>
  (await fetchRows(path, { columns: 'id', ...query }, token)).map(({ id }) => id)
const listIds = async (path: string, query: object, token?: string) => {
  const parameters = new URLSearchParams({ ordering: 'created', page_size: '500', ...query })
  return (await get(`${path}?${parameters.toString()}`, token)).body.results.map(({ id }: Row) => id)
}

const kinds = [
  { id: 'exportOrders', path: '/v1/orders', name: 'orders', idOf: (trade: { order: string }) => trade.order },
  {
    id: 'exportPurchases',
    path: '/v1/purchases',
    name: 'purchases',
    idOf: (trade: { purchase: string }) => trade.purchase,
  },
] as const

/** An organisation with two editions of many orders, one of a few orders with everything, and one without any. */
async function seedSales() {
  const shop = await seedShop()
  const sibling = await seedEdition({ id: shop.organization_id })
  await seedEdition({ id: shop.organization_id })
  const place = { organization: shop.organization_id, edition: shop.edition_id }
  const trades = await seedTrades(place, 4003)
  await write(sql`update purchases set vendor_code = 'ONE' where edition_id = ${shop.edition_id}`)
  const others = await seedTrades({ ...place, edition: sibling.id }, 5)
  return { shop, sibling: { ...shop, edition_id: sibling.id }, trades, others }
}

let sales: Awaited<ReturnType<typeof seedSales>>
beforeAll(async () => {
  sales = await seedSales()
})

describe.each(kinds)('$id', ({ path, name, idOf }) => {
  it('streams any number of rows in the order of their creation, each once, in pages', async () => {
    const { shop, trades } = sales
    const statements: string[] = []
    const reply = await callWith(
      watchDatabase((text) => statements.push(text)),
      `${path}/export?edition_id=${shop.edition_id}&columns=id,created`,
    )
    const [header, ...rows] = readCsv(reply.text)
    expect(header).toEqual(['id', 'created'])
    const times = rows.map(([, created]) => created)
    expect(times).toEqual(times.toSorted())
    expect(rows.map(([id]) => id).toSorted()).toEqual(trades.map(idOf).toSorted())
    expect(statements.filter((text) => text.includes('with page as'))).toHaveLength(3)
  })

  it('exports an organisation edition after edition', async () => {
    const { shop, trades, others } = sales
    const ids = await fetchIds(path, { organization_id: shop.organization_id })
    expect(ids.slice(0, 4003).toSorted()).toEqual(trades.map(idOf).toSorted())
    expect(ids.slice(4003).toSorted()).toEqual(others.map(idOf).toSorted())
  })

  it('continues after a row, also in another page or edition', async () => {
    const { organization_id } = sales.shop
    const ids = await fetchIds(path, { organization_id })
    for (const index of [0, 1999, 2000, 4001, 4002, 4003, ids.length - 1])
      expect(await fetchIds(path, { organization_id, after: ids[index] })).toEqual(ids.slice(index + 1))
  })

  it.each<[string, () => Promise<[edition: string, after: unknown]>]>([
    ['of another edition', () => Promise.resolve([sales.shop.edition_id, sales.others.map(idOf)[0]])],
    [
      'of another organisation',
      async () => {
        const { order, purchases } = await givenOrder(await seedShop())
        return [sales.sibling.edition_id, name === 'orders' ? order : purchases[0]]
      },
    ],
    ['of nobody', () => Promise.resolve([sales.shop.edition_id, 'x'])],
  ])('refuses to continue after a row %s', async (_, choose) => {
    const [edition, after] = await choose()
    const { token } = await givenMember({ id: sales.shop.organization_id }, 'admin')
    const { status, body } = await get(`${path}/export?edition_id=${edition}&after=${String(after)}`, token)
    expect([status, body.errors]).toMatchObject([400, [{ attr: 'after', code: 'does_not_exist' }]])
  })

  it.each([
    ['a CSV file begins with a byte order mark', '', 'csv', [0xef, 0xbb, 0xbf]],
    ['a CSV file has none for programs', '&bom=false', 'csv', encodeUtf8('id\r')],
    ['NDJSON has none', '&format=ndjson', 'ndjson', encodeUtf8('{"i')],
  ])('names the file and its type: %s', async (_, more, extension, beginning) => {
    const query = `edition_id=${sales.sibling.edition_id}&columns=id${more}`
    const response = await exports.default.fetch(buildRequest(`${path}/export?${query}`))
    expect([...new Uint8Array(await response.arrayBuffer())].slice(0, 3)).toEqual(beginning)
    expect(response.headers.get('content-type')).toBe(
      extension === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson; charset=utf-8',
    )
    expect(response.headers.get('content-disposition')).toMatch(
      new RegExp(`^attachment; filename="${name}-[a-z0-9-]+-\\d{4}-\\d\\d-\\d\\d\\.${extension}"$`),
    )
  })

  it('writes a header alone when nothing matches', async () => {
    const empty = await seedShop()
    const query = `edition_id=${empty.edition_id}&columns=id,status`
    expect((await get(`${path}/export?${query}`)).text).toBe('id,status\r\n')
    expect((await get(`${path}/export?${query}&format=ndjson`)).text).toBe('')
  })

  it('needs an edition or an organisation', async () => {
    const { status, body } = await get(`${path}/export?search=anna`)
    expect([status, body.errors]).toMatchObject([400, [{ code: 'required_filter', attr: null }]])
  })

  it.each([
    ['columns=id,password', 'columns'],
    ['format=xlsx', 'format'],
    ['ordering=created', 'ordering'],
    ['page=2', 'page'],
  ])('refuses what an export does not have: %s', async (query, attr) => {
    const { status, body } = await get(`${path}/export?edition_id=${sales.shop.edition_id}&${query}`)
    expect([status, body.errors]).toMatchObject([400, [{ attr }]])
  })

  const ofEdition = () => `edition_id=${sales.shop.edition_id}`
  const ofOrganization = () => `organization_id=${sales.shop.organization_id}`
  const givenColleague = (role: 'admin' | 'manager' | 'viewer', editionId?: string) =>
    givenMember({ id: sales.shop.organization_id }, role, editionId)
  const givenStranger = async () => givenMember(await givenOrganization(), 'admin')

  it.each([
    ['viewers, of an edition', 403, ofEdition, () => givenColleague('viewer')],
    ['viewers, of an organisation', 403, ofOrganization, () => givenColleague('viewer')],
    ['managers of another edition', 404, ofEdition, () => givenColleague('manager', sales.sibling.edition_id)],
    ['admins of another organisation, of an edition', 404, ofEdition, givenStranger],
    ['admins of another organisation, of an organisation', 404, ofOrganization, givenStranger],
  ])('is not for %s', async (_, status, buildScope, make) => {
    const { token } = await make()
    expect((await get(`${path}/export?columns=id&${buildScope()}`, token)).status).toBe(status)
  })

  it('finds no edition in another organisation', async () => {
    const { token } = await givenColleague('admin')
    const query = `${ofEdition()}&organization_id=${(await seedShop()).organization_id}`
    expect((await get(`${path}/export?columns=id&${query}`, token)).status).toBe(404)
  })

  it('gives a manager of an edition its rows of the organisation', async () => {
    const { sibling, others } = sales
    const { token } = await givenColleague('manager', sibling.edition_id)
    const ids = await fetchIds(path, { organization_id: sibling.organization_id }, token)
    expect(ids.toSorted()).toEqual(others.map(idOf).toSorted())
  })

  it('gives a viewer of the organisation who manages an edition the rows of this edition alone', async () => {
    const { shop, sibling, others } = sales
    const organization = { id: shop.organization_id }
    const viewer = await givenMember(organization, 'viewer')
    await write(sql`insert into members (id, organization_id, edition_id, account_id, role, first_name, last_name, created_at)
      select ${`mem_${viewer.id}`}, organization_id, ${sibling.edition_id}, account_id, 'manager', '', '', 1
      from members where id = ${viewer.id}`)
    const ids = await fetchIds(path, { organization_id: organization.id }, viewer.token)
    expect(ids.toSorted()).toEqual(others.map(idOf).toSorted())
  })

  it('records who exported which columns by which filters, without what they search for', async () => {
    const { sibling } = sales
    const { token, account_id } = await givenMember({ id: sibling.organization_id }, 'manager')
    const reply = await call(
      `${path}/export?edition_id=${sibling.edition_id}&columns=id,status&search=anna@example.dk&format=ndjson`,
      { token },
    )
    const entries = await listEntries(reply)
    expect(entries).toMatchObject([
      {
        action: name === 'orders' ? 'exportOrders' : 'exportPurchases',
        actor_id: account_id,
        organization_id: sibling.organization_id,
        edition_id: sibling.edition_id,
        resource_id: sibling.edition_id,
      },
    ])
    const text = JSON.stringify(entries)
    expect(text).toContain('search')
    expect(text).toContain('ndjson')
    expect(text).not.toContain('anna')
  })

  const isPage = (text: string) => text.includes('with page as')

  it('breaks off when the database fails in the middle', async () => {
    const request = `${path}/export?${ofEdition()}&columns=id`
    await expect(callWith(failStatements(isPage, 2), request)).rejects.toThrow('The database is gone.')
  })

  it('is refused and not recorded when the database fails before the first row', async () => {
    const reply = await callWith(failStatements(isPage, 0), `${path}/export?${ofEdition()}&columns=id`)
    expect([reply.status, await listEntries(reply)]).toEqual([500, []])
  })

  it('does not read or record anything for HEAD', async () => {
    const statements: string[] = []
    const reply = await callWith(
      watchDatabase((text) => statements.push(text)),
      `${path}/export?edition_id=${sales.shop.edition_id}`,
      { method: 'HEAD' },
    )
    expect([reply.status, reply.text]).toEqual([200, ''])
    expect(statements.filter((text) => text.includes('with page as') || text.includes('audit_log'))).toEqual([])
  })
})

const hostile = { first_name: '=HYPERLINK("https://evil.example";"x")', last_name: 'Holm' }

async function seedVariety() {
  const shop = await seedShop()
  const items = [
    {
      product: 'Day ticket',
      variant: 'Late',
      quantity: 2,
      unit_price: 100.5,
      vendor_code: '=CODE',
      options: ['Lunch', 'Tent'],
    },
    { product: 'Tent', quantity: 1, unit_price: 20, handling_fee: 1, deposit: 2 },
  ]
  const created = await importOrders(shop, [
    anOrder({
      items,
      order_number: '=1+1',
      service_fee: 5,
      discount: 10,
      coupon_code: '+SPRING',
      customer: { email: 'eve@example.dk', phone_number: '+4532123456', ...hostile },
    }),
    anOrder({ created: '2026-01-02T10:00:00Z', status: 'pending' }),
    anOrder({ created: '2026-01-03T10:00:00Z', status: 'cancelled', currency: 'eur' }),
    anOrder({ created: '2026-01-04T10:00:00Z', payment: { service: 'stripe', reference: 'pi_1' } }),
  ])
  await importOrders(shop, [anOrder({ created: '2026-01-05T10:00:00Z' })], { source: 'kiosk' })
  const orders = created.body.results.map(({ order_id }: Row) => order_id) as string[]
  const [first = ''] = orders
  expect((await scan((await get(`/v1/orders/${first}`)).body.purchases[2].id)).status).toBe(201)
  const details = await Promise.all(orders.map(async (id) => (await get(`/v1/orders/${id}`)).body))
  return { shop, details, importId: created.body.id as string }
}

let variety: Awaited<ReturnType<typeof seedVariety>>
beforeAll(async () => {
  variety = await seedVariety()
})

const expectSame = async (path: string, shop: Shop, queries: readonly object[]) => {
  for (const query of queries) {
    const scope = { edition_id: shop.edition_id, ...query }
    const ids = await listIds(path, scope)
    expect(ids.length, `${JSON.stringify(query)} finds something`).toBeGreaterThan(0)
    expect([query, await fetchIds(path, scope)]).toEqual([query, ids])
  }
}

describe('exportOrders', () => {
  it('has the orders that the list has with the same filters', async () => {
    const { shop, details, importId } = variety
    const [first, second, , paid] = details
    await expectSame('/v1/orders', shop, [
      {},
      { organization_id: shop.organization_id },
      { status: 'pending' },
      { type: 'imported' },
      { source: 'kiosk' },
      { data_import_id: importId },
      { data_import_id: importId, status: 'completed' },
      { product_id: first.purchases[0].product.api_id },
      { customer_id: second.customer.api_id },
      { transaction_id: paid.transactions[0].id },
      { external_id: paid.external_id },
      { order_number: '1+1' },
      { customer_name: 'hyperlink' },
      { customer_email: 'eve@' },
      { customer_phone: '3212' },
      { ticket_code: '=code' },
      { search: 'eve@example' },
      { search: 'ev' },
      { created_after: '2026-01-03T00:00:00Z', created_before: '2026-01-05T00:00:00Z' },
      { product_id: first.purchases[0].product.api_id, search: 'eve@example' },
    ])
  })

  it.each([
    ['/v1/orders', { search: 'example' }, 4003 - Math.ceil(4001 / 4)],
    ['/v1/orders', { customer_name: 'holm' }, 4003],
    ['/v1/orders', { ticket_code: 'one' }, 4003],
    ['/v1/purchases', { vendor_code: 'one' }, 4003],
    ['/v1/purchases', { search: 'on' }, 4003],
  ])('compares a text that most rows have with each of them: %s %j', async (path, query, count) => {
    const ids = await fetchIds(path, { edition_id: sales.shop.edition_id, ...query })
    expect([ids.length, new Set(ids).size]).toEqual([count, count])
  })

  it('shows amounts, the payment and the customer of each order', async () => {
    const { shop, details } = variety
    const rows = await fetchRows('/v1/orders', { edition_id: shop.edition_id })
    const [first, , , paid] = details
    const find = (id: string) => rows.find((row) => row['id'] === id)
    expect(find(first.id)).toMatchObject({
      order_number: '=1+1',
      source: 'webshop',
      edition_id: shop.edition_id,
      amount: first.amount,
      currency: 'dkk',
      refunded_amount: 0,
      items_count: 3,
      has_payment: true,
      coupon_code: '+SPRING',
      service_fee: 5,
      discount: 10,
      customer_id: first.customer.api_id,
      customer_name: first.customer.full_name,
      customer_email: 'eve@example.dk',
      customer_phone: '+4532123456',
      created: first.created,
      modified: first.modified,
    })
    expect(find(paid.id)).toMatchObject({ payment_service: 'stripe', payment_reference: 'pi_1', order_number: null })
  })

  it('escapes what a spreadsheet would compute, and keeps it in NDJSON', async () => {
    const { shop } = variety
    const query = `edition_id=${shop.edition_id}&customer_email=eve@&columns=order_number,coupon_code,customer_name,customer_phone`
    const { text } = await get(`/v1/orders/export?${query}`)
    const [, row] = readCsv(text)
    expect(row).toEqual(["'=1+1", "'+SPRING", expect.stringMatching(/^'=HYPERLINK/), '+4532123456'])
    const [line] = readLines((await get(`/v1/orders/export?${query}&format=ndjson`)).text)
    expect(line).toMatchObject({ order_number: '=1+1', coupon_code: '+SPRING' })
  })

  it('shows a role of an edition what its edition knows of a customer', async () => {
    const shop = await seedShop()
    const { order } = await givenOrder(shop, { customer: { email: 'eve@example.dk', phone_number: '+4532123456' } })
    const customer = (await get(`/v1/orders/${order}`)).body.customer.api_id
    await write(sql`update users set email = 'hidden@example.dk', first_name = 'Hidden', phone_number = '+4599999999'
      where id = ${customer}`)
    const { token } = await givenMember({ id: shop.organization_id }, 'manager', shop.edition_id)
    const query = { edition_id: shop.edition_id, customer_id: customer }
    const [seen] = await fetchRows('/v1/orders', query, token)
    const { body } = await get(`/v1/orders?${new URLSearchParams(query).toString()}`, token)
    expect(seen).toMatchObject({ customer_email: 'eve@example.dk', customer_phone: '+4532123456' })
    expect(seen).toMatchObject({ customer_name: body.results[0].customer_name })
    expect(await fetchIds('/v1/orders', { edition_id: shop.edition_id, search: 'hidden@example' }, token)).toEqual([])
    expect((await fetchRows('/v1/orders', query))[0]).toMatchObject({ customer_email: 'hidden@example.dk' })
  })
})

describe('exportPurchases', () => {
  it('has the purchases that the list has with the same filters', async () => {
    const { shop, details } = variety
    const [first] = details
    await expectSame('/v1/purchases', shop, [
      {},
      { organization_id: shop.organization_id },
      { status: 'cancelled' },
      { product_id: first.purchases[0].product.api_id },
      { user_id: first.customer.api_id },
      { vendor_code: '=code' },
      { has_vendor_code: 'false' },
      { is_used: 'true' },
      { search: '=co' },
      { search: '=1+1' },
      { search: first.id },
      { search: first.purchases[1].id },
      { search: '=co', user_id: first.customer.api_id },
      { created_after: '2026-01-02T00:00:00Z', created_before: '2026-01-04T00:00:00Z' },
    ])
  })

  it('shows product, options, holder and amounts of each purchase', async () => {
    const { shop, details } = variety
    const [first] = details
    const rows = await fetchRows('/v1/purchases', { edition_id: shop.edition_id, search: first.id })
    for (const purchase of first.purchases) {
      expect(rows.find((row) => row['id'] === purchase.id)).toMatchObject({
        vendor_code: purchase.vendor_code,
        order_id: first.id,
        order_number: '=1+1',
        product_name: purchase.product.name,
        variant_name: purchase.variant?.name ?? null,
        options: purchase.options.map(({ name }: { name: string }) => name),
        user_id: purchase.user.api_id,
        price_paid: purchase.price_paid,
        deposit_paid: purchase.deposit_paid,
        handling_fee_paid: purchase.handling_fee_paid,
        currency: 'dkk',
        created: purchase.created,
      })
    }
  })

  it('escapes what a spreadsheet would compute, and joins options', async () => {
    const { shop } = variety
    const { text } = await get(
      `/v1/purchases/export?edition_id=${shop.edition_id}&vendor_code==CODE&columns=vendor_code,options`,
    )
    expect(readCsv(text)[1]).toEqual(["'=CODE", 'Lunch; Tent'])
  })
})
