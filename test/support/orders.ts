import { sql } from 'drizzle-orm'
import { db } from './seeding/rows.ts'
import type { Shop } from './seeding/sales/orders.ts'

const countOf = async (table: string, shop: Shop): Promise<number> => {
  const scope =
    table === 'users' ? sql`organization_id = ${shop.organization_id}` : sql`edition_id = ${shop.edition_id}`
  const row = await db.first(sql<{ n: number }>`select count(*) as n from ${sql.raw(table)} where ${scope}`)
  return row?.n ?? 0
}

/** Counts the shop's rows in each table that imports write. */
export const countContents = async (shop: Shop) => ({
  orders: await countOf('orders', shop),
  purchases: await countOf('purchases', shop),
  users: await countOf('users', shop),
  products: await countOf('products', shop),
  data_imports: await countOf('data_imports', shop),
})
