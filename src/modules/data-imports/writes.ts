import { sql } from 'drizzle-orm'
import type { Statement } from '../../db/database.ts'
import { growLists } from '../../db/list-sizes.ts'
import { locations, options, products, variants } from '../../db/schema/catalog.ts'
import type { editions } from '../../db/schema/editions.ts'
import { cartItems, carts, orders, purchases, transactions } from '../../db/schema/orders.ts'
import { userEditions, users } from '../../db/schema/users.ts'
import { insertAll } from '../../db/write.ts'
import type { PurchaseStatus } from '../../domain/purchases.ts'
import type { ImportedAnswers } from '../consents/index.ts'
import type { ReceiptOrder } from '../transactional-emails/index.ts'

export type Edition = typeof editions.$inferSelect

/** A purchase that becomes active, or is cancelled, by an import. */
export interface PurchaseTurn {
  purchase: { id: string; vendor_code: string | null; product_id: string; variant_id: string | null }
  action: 'activated' | 'cancelled'
  status: PurchaseStatus
  order: { id: string; order_number: string | null }
  user: { id: string; email: string | null }
}

/** What a group of orders adds, by table, and what it changes. */
export interface Writes {
  users: (typeof users.$inferInsert)[]
  userEditions: (typeof userEditions.$inferInsert)[]
  products: (typeof products.$inferInsert)[]
  locations: (typeof locations.$inferSelect)[]
  variants: (typeof variants.$inferInsert)[]
  options: (typeof options.$inferSelect)[]
  /** Guarded changes of rows that exist; they come first. */
  changes: Statement[]
  orders: (typeof orders.$inferInsert)[]
  carts: (typeof carts.$inferInsert)[]
  cartItems: (typeof cartItems.$inferInsert)[]
  transactions: (typeof transactions.$inferInsert)[]
  purchases: (typeof purchases.$inferInsert)[]
  turns: PurchaseTurn[]
  /** Which lists become longer: whose, and the longest of what has no rows of its own. */
  lists: { users: Set<string>; options: number; user_metadata: number; order_metadata: number }
  /** What the orders say of their customers' consents. */
  answers: ImportedAnswers[]
  /** Orders that are made, and who might be sent a receipt. */
  placed: ReceiptOrder[]
}

export const newWrites = (): Writes => ({
  users: [],
  userEditions: [],
  products: [],
  locations: [],
  variants: [],
  options: [],
  changes: [],
  orders: [],
  carts: [],
  cartItems: [],
  transactions: [],
  purchases: [],
  turns: [],
  lists: { users: new Set(), options: 0, user_metadata: 0, order_metadata: 0 },
  answers: [],
  placed: [],
})

/** Raises the numbers by which expressions of segments are judged. */
function growth(organizationId: string, writes: Writes): Statement[] {
  const people = writes.users.length
  const { users: buyers, ...longest } = writes.lists
  if (!people && !buyers.size && !longest.order_metadata) return []
  const added = { people, orders: writes.orders.length, purchases: writes.purchases.length }
  return [growLists(organizationId, { ...longest, ...added, users: [...buyers] })]
}

/** What an edition says of a customer: the last that it said of each field. */
function givenLast(rows: Writes['userEditions']): Statement[] {
  const said = {
    email: sql`excluded.email is not null`,
    phone_number: sql`excluded.phone_number is not null`,
    name: sql`excluded.first_name || excluded.last_name <> ''`,
    locale: sql`excluded.locale is not null`,
  }
  const fields: [keyof typeof said, string[]][] = [
    ['email', ['email', 'email_folded']],
    ['phone_number', ['phone_number', 'phone_digits']],
    ['name', ['first_name', 'last_name', 'name_folded']],
    ['locale', ['locale']],
  ]
  const columns = fields.flatMap(([field, names]) =>
    names.map((name) => ({ name: sql.raw(name), isSaid: said[field] })),
  )
  const sets = columns.map(({ name, isSaid }) => sql`${name} = iif(${isSaid}, excluded.${name}, user_editions.${name})`)
  const differs = columns.map(({ name, isSaid }) => sql`(${isSaid} and excluded.${name} is not user_editions.${name})`)
  return insertAll(userEditions, rows).map(
    (insert) => sql`${insert} on conflict (edition_id, user_id) do update
      set ${sql.join(sets, sql`, `)} where ${sql.join(differs, sql` or `)}`,
  )
}

/** Few statements however many orders: one a table, its rows as one parameter. */
export function statementsOf(organizationId: string, writes: Writes): Statement[] {
  return [
    ...insertAll(users, writes.users),
    ...insertAll(products, writes.products),
    ...insertAll(locations, writes.locations),
    ...insertAll(variants, writes.variants),
    ...insertAll(options, writes.options),
    ...writes.changes,
    ...givenLast(writes.userEditions),
    ...insertAll(orders, writes.orders),
    ...insertAll(carts, writes.carts),
    ...insertAll(cartItems, writes.cartItems),
    ...insertAll(transactions, writes.transactions),
    ...insertAll(purchases, writes.purchases),
    ...growth(organizationId, writes),
  ]
}
