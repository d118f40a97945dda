import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { listTables, looseColumns, undeclaredReferences } from '../../scripts/support/verify/references.ts'
import { formatFinding } from '../../scripts/support/verify/verify.ts'
import { patch } from '../support/api.ts'
import { answer } from '../support/consents.ts'
import { makeFreshPng, uploadRaw } from '../support/files.ts'
import { scan } from '../support/purchases.ts'
import { actOnRefund, requestRefund } from '../support/refunds.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenConsent } from '../support/seeding/messaging/consents.ts'
import {
  anOrder,
  type BoughtOrder,
  givenOrder,
  givenOrders,
  seedShop,
  type Shop,
} from '../support/seeding/sales/orders.ts'
import { listFindings, queryDatabase as query } from '../support/verified.ts'

/** Lists the faults of each check that found some. */
const listFaults = async (title?: string, files?: string): Promise<Record<string, string[]>> =>
  Object.fromEntries(
    (await listFindings(title, files === undefined ? {} : { files }))
      .filter(({ faultCount }) => faultCount > 0)
      .map((finding) => [finding.title, finding.faults]),
  )

const filesTitle = 'Files without rows, and rows without files'

let shop: Shop
let order: BoughtOrder
let user: string
let consent: string
let file: string

beforeAll(async () => {
  shop = await seedShop()
  await seedEdition({ id: shop.organization_id })
  await givenOrders(shop, [anOrder(), anOrder(), anOrder(), anOrder()])
  order = await givenOrder(shop, { items: [{ product: 'Camping', quantity: 3, unit_price: 100, deposit: 20 }] })
  await scan(order.purchases[0] ?? '')
  await requestRefund({ purchase_id: order.purchases[1], amount: 50 })
  const refund = await requestRefund({ purchase_id: order.purchases[2], amount: 40 })
  await actOnRefund(refund.body.id, 'approve', {})
  await actOnRefund(refund.body.id, 'settle', { reference: 'By hand' })
  const [buyer] = await query<{ user_id: string }>(`select user_id from orders where id = '${order.order}'`)
  user = buyer?.user_id ?? ''
  consent = (await givenConsent(shop.organization_id)).id
  await answer('give', { user, consent })
  await answer('withdraw', { user, consent })
  file = (await uploadRaw(shop.organization_id, makeFreshPng())).body.id
  const [product] = await query<{ id: string }>('select id from products')
  await patch(`/v1/products/${product?.id}`, { images: [file] })
})

it('verifying finds nothing in a database that the operations made', async () => {
  const findings = await listFindings()
  expect(findings.filter(({ faultCount }) => faultCount > 0)).toEqual([])
  const compared = Object.fromEntries(findings.map((finding) => [finding.title, finding.compared]))
  expect(compared).toMatchObject({
    'Amounts of orders and their carts': 5,
    'Reserved and refunded amounts of purchases': 11,
    'Search index order_search': 5,
    'Hash chains of consents': 2,
    'Files without rows': 1,
    'Rows without files': 1,
  })
})

/** A statement that breaks something, the one that mends it, and what verifying says in between. */
type Break = [title: string, broken: string, mended: string, fault: () => RegExp]

const letters = (table: string, mark: string, offset: number) => `values ('delete',
  (select seq from ${table} limit 1), (select char(unicode(substr(${mark}, -3)) + ${offset},
    unicode(substr(${mark}, -2)) + ${offset}, unicode(substr(${mark}, -1)) + ${offset}) from ${table} limit 1),
  (select search_text from ${table} limit 1))`

const purchase = () => order.purchases[0] ?? ''

/** A purchase of an order that nobody has used, refunded or cancelled in part. */
const untouchedPurchase = `select id from purchases as untouched where not exists
  (select 1 from purchases where order_id = untouched.order_id and status <> 'active') order by id limit 1`

const breaks: Break[] = [
  [
    'Amounts of orders and their carts',
    'update orders set amount_minor = amount_minor + 1 where seq = 2',
    'update orders set amount_minor = amount_minor - 1 where seq = 2',
    () => /^ord_\w+ stores "\[45001,2\]", and its rows say "\[45000,2\]"\.$/,
  ],
  [
    'Carts and their items',
    `update orders set cart = json_set(cart, '$.deposit_minor', 5, '$.discount_minor', 5) where seq = 1`,
    `update orders set cart = json_remove(cart, '$.deposit_minor', '$.discount_minor') where seq = 1`,
    () => /^ord_/,
  ],
  [
    'Amounts of orders and their purchases',
    `update purchases set price_minor = price_minor + 1 where id = (${untouchedPurchase})`,
    `update purchases set price_minor = price_minor - 1 where id = (${untouchedPurchase})`,
    () => /^ord_/,
  ],
  [
    'Customers of editions',
    'update edition_customers set edition_id = (select id from editions where id not in (select edition_id from orders)) where seq = 1',
    'update edition_customers set edition_id = (select edition_id from orders limit 1) where seq = 1',
    () => /^The customer of ord_\w+ is not among the customers of its edition\.$/,
  ],
  [
    'Amounts of payments and their refunds',
    'update transactions set amount_minor = amount_minor - 35000 where reserved_minor = 5000',
    'update transactions set amount_minor = amount_minor + 35000 where reserved_minor = 5000',
    () => new RegExp(`^${order.payment} stores 1000, and its rows say 9000`),
  ],
  [
    'Stored objects and their files',
    `insert into stored_objects (storage_key, organization_id, checksum_sha256, size, created_at)
      select 'objects/left', id, 'left', 1, 1 from organizations limit 1`,
    "delete from stored_objects where storage_key = 'objects/left'",
    () => /^No file names objects\/left\.$/,
  ],
  [
    'Uses of purchases',
    'update purchases set uses_count = 2 where uses_count = 1',
    'update purchases set uses_count = 1 where uses_count = 2',
    () => new RegExp(`^${purchase()} stores 2, and its rows say 1`),
  ],
  [
    'Reserved and refunded amounts of purchases',
    'update purchases set reserved_minor = 4999 where reserved_minor = 5000',
    'update purchases set reserved_minor = 5000 where reserved_minor = 4999',
    () => /stores "\[4999,0\]", and its rows say "\[5000,0\]"/,
  ],
  [
    'Reserved amounts of payments',
    'update transactions set reserved_minor = 1 where reserved_minor = 5000',
    'update transactions set reserved_minor = 5000 where reserved_minor = 1',
    () => new RegExp(`^${order.payment} stores 1, and its rows say 5000`),
  ],
  [
    'Refunded amounts of payments',
    'update transactions set refunded_minor = 1 where refunded_minor = 4000',
    'update transactions set refunded_minor = 4000 where refunded_minor = 1',
    () => new RegExp(`^${order.payment} stores 1, and its rows say 4000`),
  ],
  [
    'Stored bytes of organisations',
    'update organization_storage set used_bytes = used_bytes + 7',
    'update organization_storage set used_bytes = used_bytes - 7',
    () => new RegExp(`^${shop.organization_id} `),
  ],
  [
    'Images of products',
    `insert into product_images (product_id, file_id) select id, (select id from files) from products where images = '[]'`,
    `delete from product_images where product_id in (select id from products where images = '[]')`,
    () => /^prd_/,
  ],
  [
    'Search index order_search',
    `insert into order_search (order_search, rowid, edition, organization, text)
      select 'delete', seq, '', '', search_text from orders where seq = 3`,
    `insert into order_search (rowid, edition, organization, text) select seq, '', '', search_text from orders where seq = 3`,
    () => /^order_search does not have ord_/,
  ],
  [
    'Search index customer_search',
    `insert into customer_search (customer_search, rowid, organization, text) ${letters('users', 'organization_id', 917_728)}`,
    `insert into customer_search (rowid, organization, text) ${letters('users', 'organization_id', 917_728).replace("'delete',", '')}`,
    () => /^customer_search does not have usr_/,
  ],
  [
    'Search index edition_customer_search',
    `insert into edition_customer_search (edition_customer_search, rowid, edition, text)
      ${letters('edition_customers', 'edition_id', 736)}`,
    `insert into edition_customer_search (rowid, edition, text)
      ${letters('edition_customers', 'edition_id', 736).replace("'delete',", '')}`,
    () => new RegExp(`^edition_customer_search does not have ${shop.edition_id} 1`),
  ],
  [
    'Counts of orders by status and type',
    'update order_counts set orders_count = orders_count + 1',
    'update order_counts set orders_count = orders_count - 1',
    () =>
      new RegExp(
        `^\\["${shop.edition_id}","completed","imported"\\] stores \\[\\[6\\]\\], and its rows say \\[\\[5\\]\\]`,
      ),
  ],
  [
    'Counts of sales in the statistics of editions',
    `update sales_counts set items = items + 1 where series_id in (select id from sales_series where kind = 'use')`,
    `update sales_counts set items = items - 1 where series_id in (select id from sales_series where kind = 'use')`,
    () => new RegExp(`"use","prd_\\w+".* stores \\[\\[2,0,0,0,0\\]\\], and its rows say \\[\\[1,0,0,0,0\\]\\]`),
  ],
  [
    'Counts of consents',
    'update consent_stats set given = 1',
    'update consent_stats set given = 0',
    () => new RegExp(`${consent}.* stores \\[\\[2,1,0,1,0\\]\\], and its rows say \\[\\[2,0,0,1,0\\]\\]`),
  ],
  [
    'Hash chains of consents',
    `update consent_records set source = 'x' where number = 2`,
    `update consent_records set source = 'checkout' where number = 2`,
    () => new RegExp(`^Record \\w+ \\(2 of ${user} to ${consent}\\) does not fit: it does not have its hash\\.$`),
  ],
  [
    'References to rows that are gone',
    `update orders set completed_transaction_id = 'trx_gone' where seq = 4`,
    'update orders set completed_transaction_id = (select id from transactions where order_id = orders.id) where seq = 4',
    () => /^orders 4 names completed_transaction_id trx_gone, which is gone\.$/,
  ],
]

it.for(breaks)('verifying names what is wrong: %s', async ([title, broken, mended, fault]) => {
  await env.DB.prepare(broken).run()
  const faults = await listFaults(title)
  await env.DB.prepare(mended).run()
  expect(Object.keys(faults)).toEqual([title])
  expect(faults[title]?.some((text) => fault().test(text))).toBe(true)
  expect(await listFaults(title)).toEqual({})
})

describe('verifying the files', () => {
  it('names a file without a row, of each kind', async () => {
    const keys = ['objects/none', 'derived/objects/none/large', 'imports/imp_none/part']
    for (const key of keys) await env.FILES.put(key, 'x')
    const faults = await listFaults(filesTitle)
    await env.FILES.delete(keys)
    expect(faults).toEqual({ 'Files without rows': keys.map((key) => `No row names ${key}.`) })
  })

  it('names a row without a file, and without a list of the files what the service has noted', async () => {
    const [{ storage_key: key } = { storage_key: '' }] = await query<{ storage_key: string }>(
      'select storage_key from stored_objects',
    )
    const bytes = await (await env.FILES.get(key))?.arrayBuffer()
    await env.FILES.delete(key)
    const faults = await listFaults(filesTitle)
    await env.DB.prepare('update stored_objects set is_missing = 1').run()
    const notedFaults = await listFaults(filesTitle, 'The files are not listed.')
    await env.DB.prepare('update stored_objects set is_missing = 0').run()
    await env.FILES.put(key, bytes ?? '')
    expect(faults).toEqual({ 'Rows without files': [`${key} of ${shop.organization_id} is not in the store.`] })
    expect(notedFaults['Rows without files']?.[0]).toContain('as the service has noted')
    expect(await listFaults()).toEqual({})
  })
})

describe('the lines of a check', () => {
  it('have the first ten faults, and say how many more there are', async () => {
    const columns = 'update purchases set uses_limit = uses_limit, uses_count = uses_count'
    await env.DB.prepare(`${columns} + 3`).run()
    const [finding] = await listFindings('Uses of purchases')
    await env.DB.prepare(`${columns} - 3`).run()
    if (!finding) throw new Error('The check is missing.')
    const lines = formatFinding(finding)
    expect(lines).toHaveLength(12)
    expect(lines[0]).toBe('FAULT Uses of purchases: 11 purchases, 11 faults')
    expect(lines.at(-1)).toBe('        … and 1 more')
  })
})

it('each column that names a row is checked, or is known to outlive the row', async () => {
  const isName = (column: string) => /_(?:id|seq)$/.test(column)
  const open = (await listTables(query)).flatMap(({ table, columns, references }) =>
    columns
      .filter(isName)
      .filter((column) => !references.some((reference) => reference.column === column))
      .filter((column) => !undeclaredReferences[table]?.some((reference) => reference.column === column))
      .map((column) => `${table}.${column}`),
  )
  expect(open.toSorted()).toEqual(looseColumns)
})
