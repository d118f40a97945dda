import { exports } from 'cloudflare:workers'
import { parse } from 'csv-parse/browser/esm/sync'
import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { buildRequest, call, callWith, get } from '../support/api.ts'
import { listEntries } from '../support/audit.ts'
import { failStatements, watchDatabase } from '../support/bindings.ts'
import { scan } from '../support/purchases.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { write } from '../support/seeding/rows.ts'
import { anOrder, givenOrder, importOrders, seedShop, type Shop } from '../support/seeding/sales/orders.ts'
import { seedTrades } from '../support/seeding/sales/trades.ts'

type Row = Record<string, unknown>

const readCsv = (text: string): string[][] => parse(text, { bom: true })
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

  it('refuses to continue after a row that the export does not have', async () => {
    const { shop, sibling, others } = sales
    const foreign = await givenOrder(await seedShop())
    const [other] = others.map(idOf)
    const [foreignId] = path === '/v1/orders' ? [foreign.order] : foreign.purchases
    const { token } = await givenMember({ id: shop.organization_id }, 'admin')
    for (const [edition, after] of [
      [shop.edition_id, other],
      [sibling.edition_id, foreignId],
      [shop.edition_id, 'x'],
    ]) {
      const { status, body } = await get(`${path}/export?edition_id=${edition}&after=${after}`, token)
      expect([status, body.errors]).toMatchObject([400, [{ attr: 'after', code: 'does_not_exist' }]])
    }
  })

  it('names the file, and starts a CSV file with a byte order mark unless a program asks for none', async () => {
    const query = `edition_id=${sales.sibling.edition_id}&columns=id`
    const read = async (more: string) => {
      const response = await exports.default.fetch(buildRequest(`${path}/export?${query}${more}`))
      const bytes = [...new Uint8Array(await response.arrayBuffer())].slice(0, 3)
      return { bytes, headers: response.headers }
    }
    const csv = await read('')
    expect(csv.bytes).toEqual([0xef, 0xbb, 0xbf])
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(csv.headers.get('content-disposition')).toMatch(
      new RegExp(`^attachment; filename="${name}-[a-z0-9-]+-\\d{4}-\\d\\d-\\d\\d\\.csv"$`),
    )
    expect((await read('&bom=false')).bytes).toEqual([...new TextEncoder().encode('id\r')])
    const lines = await read('&format=ndjson')
    expect(lines.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
    expect(lines.headers.get('content-disposition')).toMatch(/\.ndjson"$/)
    expect(lines.bytes).toEqual([...new TextEncoder().encode('{"i')])
  })

  it('writes a header alone when nothing matches', async () => {
    const empty = await seedShop()
    const query = `edition_id=${empty.edition_id}&columns=id,status`
    expect((await get(`${path}/export?${query}`)).text).toBe('id,status\r\n')
    expect((await get(`${path}/export?${query}&format=ndjson`)).text).toBe('')
  })

  it('needs an edition or an organisation, and refuses unknown columns and formats', async () => {
    const reply = await get(`${path}/export?search=anna`)
    expect([reply.status, reply.body.errors]).toMatchObject([400, [{ code: 'required_filter', attr: null }]])
    for (const [query, attr] of [
      ['columns=id,password', 'columns'],
      ['format=xlsx', 'format'],
      ['ordering=created', 'ordering'],
      ['page=2', 'page'],
    ]) {
      const { status, body } = await get(`${path}/export?edition_id=${sales.shop.edition_id}&${query}`)
      expect([status, body.errors]).toMatchObject([400, [{ attr }]])
    }
  })

  it('is for managers and admins, each of their own organisation or edition', async () => {
    const { shop, sibling, others } = sales
    const organization = { id: shop.organization_id }
    const manager = await givenMember(organization, 'manager', sibling.edition_id)
    const viewer = await givenMember(organization, 'viewer')
    const stranger = await givenMember(await givenOrganization(), 'admin')
    const ask = async (query: string, { token }: { token: string }) =>
      (await get(`${path}/export?columns=id&${query}`, token)).status
    const [ofEdition, ofOrganization] = [`edition_id=${shop.edition_id}`, `organization_id=${organization.id}`]
    expect([await ask(ofEdition, viewer), await ask(ofOrganization, viewer)]).toEqual([403, 403])
    expect([await ask(ofEdition, manager), await ask(ofEdition, stranger)]).toEqual([404, 404])
    expect(await ask(ofOrganization, stranger)).toBe(404)
    const admin = await givenMember(organization, 'admin')
    expect(await ask(`${ofEdition}&organization_id=${(await seedShop()).organization_id}`, admin)).toBe(404)
    const ownIds = await fetchIds(path, { organization_id: organization.id }, manager.token)
    expect(ownIds.toSorted()).toEqual(others.map(idOf).toSorted())
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

  it('breaks off when the database fails in the middle, and refuses when it fails before the first row', async () => {
    const { shop } = sales
    const request = `${path}/export?edition_id=${shop.edition_id}&columns=id`
    const isPage = (text: string) => text.includes('with page as')
    await expect(callWith(failStatements(isPage, 2), request)).rejects.toThrow('The database is gone.')
    const reply = await callWith(failStatements(isPage, 0), request)
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

  it('compares a text that most orders have with each of them', async () => {
    const { shop, trades } = sales
    const queries = [
      [{ search: 'example' }, trades.length - Math.ceil((trades.length - 2) / 4)],
      [{ customer_name: 'holm' }, trades.length],
    ] as const
    for (const [query, count] of queries) {
      const ids = await fetchIds('/v1/orders', { edition_id: shop.edition_id, ...query })
      expect([ids.length, new Set(ids).size]).toEqual([count, count])
    }
    await write(sql`update purchases set vendor_code = 'ONE' where edition_id = ${shop.edition_id}`)
    expect(await fetchIds('/v1/orders', { edition_id: shop.edition_id, ticket_code: 'one' })).toHaveLength(4003)
    for (const query of [{ vendor_code: 'one' }, { search: 'on' }])
      expect(await fetchIds('/v1/purchases', { edition_id: shop.edition_id, ...query })).toHaveLength(4003)
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
    const { shop, details } = variety
    const { token } = await givenMember({ id: shop.organization_id }, 'manager', shop.edition_id)
    const customer = details[0].customer.api_id
    await write(sql`update users set email = 'hidden@example.dk', first_name = 'Hidden', phone_number = '+4599999999'
      where id = ${customer}`)
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
    await scan(first.purchases[2].id)
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
    const { text } = await get(
      `/v1/purchases/export?edition_id=${shop.edition_id}&vendor_code==CODE&columns=vendor_code,options`,
    )
    expect(readCsv(text)[1]).toEqual(["'=CODE", 'Lunch; Tent'])
  })
})
