import { sql } from 'drizzle-orm'
import { post } from './api.ts'
import { db, givenEdition, givenOrganisation } from './factories.ts'

export interface Shop {
  organization_id: string
  edition_id: string
}

export async function givenShop(columns: Parameters<typeof givenEdition>[1] = {}): Promise<Shop> {
  const organisation = await givenOrganisation()
  const edition = await givenEdition(organisation, columns)
  return { organization_id: organisation.id, edition_id: edition.id }
}

let made = 0

/** An external order of two day tickets by a customer of its own; `change` replaces fields. */
export function anOrder(change: Record<string, unknown> = {}) {
  made++
  return {
    external_id: `X-${made}`,
    currency: 'dkk',
    customer: { email: `guest-${made}@example.dk`, first_name: 'Ægir', last_name: 'Holm' },
    items: [{ product: 'Day ticket', quantity: 2, unit_price: 225 }],
    ...change,
  }
}

export const importOrders = (shop: Shop, orders: unknown[], options: Record<string, unknown> = {}, token?: string) =>
  post(
    '/v1/data-imports/external-orders',
    { organization_id: shop.organization_id, edition_id: shop.edition_id, source: 'webshop', orders, ...options },
    token,
  )

/** The ids of freshly imported orders. */
export async function givenOrders(shop: Shop, orders: unknown[]): Promise<string[]> {
  const { body } = await importOrders(shop, orders)
  return body.results.map((result: { order_id: string }) => result.order_id)
}

const countOf = async (table: string, shop: Shop): Promise<number> => {
  const scope =
    table === 'users' ? sql`organization_id = ${shop.organization_id}` : sql`edition_id = ${shop.edition_id}`
  const row = await db.first(sql<{ n: number }>`select count(*) as n from ${sql.raw(table)} where ${scope}`)
  return row?.n ?? 0
}

/** How many rows the shop has in each table that imports write. */
export const contentsOf = async (shop: Shop) => ({
  orders: await countOf('orders', shop),
  purchases: await countOf('purchases', shop),
  users: await countOf('users', shop),
  products: await countOf('products', shop),
  data_imports: await countOf('data_imports', shop),
})
