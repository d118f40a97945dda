import { sql } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import type { locations, options, products, variants } from '../../db/schema/catalog.ts'
import type { cartItems, carts, orders, purchases, transactions } from '../../db/schema/orders.ts'
import type { userEditions, users } from '../../db/schema/users.ts'
import { isKnownElsewhere } from '../../db/shared-customers.ts'
import { inList } from '../../db/visibility.ts'
import type { ExternalOrder } from '../../domain/external-orders.ts'
import { fold } from '../../domain/fold.ts'

export type ProductRow = typeof products.$inferInsert
export type VariantRow = typeof variants.$inferInsert
export type OptionRow = typeof options.$inferSelect
export type LocationRow = typeof locations.$inferSelect
export type OrderRow = typeof orders.$inferSelect
export type PurchaseRow = typeof purchases.$inferSelect
export type TransactionRow = typeof transactions.$inferSelect

export type CartRow = typeof carts.$inferSelect
export type CartItemRow = typeof cartItems.$inferSelect

/** What an edition says of a customer. */
export type GivenColumns = Pick<
  typeof userEditions.$inferSelect,
  'email' | 'phone_number' | 'first_name' | 'last_name' | 'locale'
>

export interface UserRow extends Omit<typeof users.$inferSelect, 'seq'> {
  /** Other editions know the customer too. */
  is_shared: number
  /** Editions know the customer whose customers the caller may not change. */
  is_kept: number
  /** As orders of this edition said. */
  given_email: string | null
  /** JSON of `GivenColumns`, null for nothing; only where it is read for an undo. */
  given?: string | null
}

/** What is read of orders that are known. */
export interface Reads {
  /** Purchases and payment, for an update. */
  contents: boolean
  /** What an undo of the update puts back. */
  before: boolean
}

/** What a group of orders finds in the database. */
export interface ImportState {
  /** By external id. */
  orders: ReadonlyMap<string, OrderRow>
  /** By order. */
  purchases: ReadonlyMap<string, readonly PurchaseRow[]>
  payments: ReadonlyMap<string, TransactionRow>
  carts?: ReadonlyMap<string, CartRow>
  cartItems?: ReadonlyMap<string, readonly CartItemRow[]>
  usersByEmail: ReadonlyMap<string, UserRow>
  usersByPhone: ReadonlyMap<string, UserRow>
  /** Who holds the purchases. */
  holders: readonly UserRow[]
  /** By folded name. */
  products: ReadonlyMap<string, ProductRow>
  locations: ReadonlyMap<string, LocationRow>
  /** Of what was bought before, products and variants, by id. */
  names: ReadonlyMap<string, string>
  /** By `childKey`. */
  variants: ReadonlyMap<string, VariantRow>
  options: ReadonlyMap<string, OptionRow>
}

interface Named {
  id: string
  name: string
}

export const childKey = (productId: string, name: string): string => `${productId} ${fold(name)}`

interface Scope {
  organization_id: string
  edition_id: string
  source: string
  /** Editions whose customers the caller may change; null for all of the organisation. */
  changeable: readonly string[] | null
}

const unique = (values: (string | null)[]): string[] => [...new Set(values.filter((value) => value !== null))]

const givenJson = (editionId: string) => sql`, (select json_object('email', email, 'phone_number', phone_number,
    'first_name', first_name, 'last_name', last_name, 'locale', locale)
    from user_editions where edition_id = ${editionId} and user_id = users.id) as given`

export async function loadState(
  db: Database,
  scope: Scope,
  group: readonly ExternalOrder[],
  reads: Reads,
): Promise<ImportState> {
  const { organization_id, edition_id, source, changeable } = scope
  const people = group.flatMap((order) => [order.customer, ...order.items.flatMap((item) => item.holder ?? [])])
  const phones = unique(group.map((order) => order.customer.phone_number))
  const items = group.flatMap((order) => order.items)
  const names = unique(items.map((item) => fold(item.product)))
  const ofProducts = sql`product_id in (select id from products where edition_id = ${edition_id} and ${inList(sql`name_folded`, names)})`
  const known = sql`select * from orders where edition_id = ${edition_id} and external_source = ${source}
    and ${inList(
      sql`external_id`,
      group.map((order) => order.external_id),
    )}`
  const knownIds = sql`order_id in (select id from (${known}))`
  const users = sql`select users.*, ${isKnownElsewhere(sql`users`, [edition_id])} as is_shared,
    ${changeable === null ? sql`0` : isKnownElsewhere(sql`users`, changeable)} as is_kept,
    (select email from user_editions where edition_id = ${edition_id} and user_id = users.id) as given_email
    ${reads.before ? givenJson(edition_id) : sql``}
    from users where organization_id = ${organization_id}`
  const found = await db.batch([
    sql<OrderRow>`${known}`,
    sql<UserRow>`${users} and ${inList(sql`email`, unique(people.map(({ email }) => email)))}`,
    // A number may be several customers'; one without an address is meant before others, then the oldest.
    sql<UserRow>`${users} and phone_number in (select value from json_each(${JSON.stringify(phones)}))
      order by email is null desc, seq`,
    sql<ProductRow>`select * from products where edition_id = ${edition_id} and ${inList(sql`name_folded`, names)}`,
    sql<LocationRow>`select * from locations where edition_id = ${edition_id}
      and ${inList(sql`name_folded`, unique(items.map((item) => item.location && fold(item.location))))}`,
    sql<VariantRow>`select * from variants where ${ofProducts}
      and ${inList(sql`name_folded`, unique(items.map((item) => item.variant && fold(item.variant))))}`,
    sql<OptionRow>`select * from options where ${ofProducts}
      and ${inList(sql`name_folded`, unique(items.flatMap((item) => item.options.map(fold))))}`,
    ...(reads.contents
      ? [
          sql<PurchaseRow>`select * from purchases where ${knownIds} order by id`,
          sql<TransactionRow>`select * from transactions where type = 'payment' and ${knownIds}`,
          sql<UserRow>`${users} and id in (select user_id from purchases where ${knownIds})`,
          sql<Named>`select id, name from products where id in (select product_id from purchases where ${knownIds})
            union all select id, name from variants where id in (select variant_id from purchases where ${knownIds})`,
        ]
      : []),
    ...(reads.contents && reads.before
      ? [
          sql<CartRow>`select * from carts where ${knownIds}`,
          sql<CartItemRow>`select * from cart_items where ${knownIds} order by order_id, position`,
        ]
      : []),
  ])
  const [
    orderRows,
    byEmail,
    byPhone,
    productRows,
    locationRows,
    variantRows,
    optionRows,
    purchaseRows,
    payments,
    holders,
    named,
    cartRows,
    cartItemRows,
  ] = found as [
    OrderRow[],
    UserRow[],
    UserRow[],
    ProductRow[],
    LocationRow[],
    VariantRow[],
    OptionRow[],
    PurchaseRow[]?,
    TransactionRow[]?,
    UserRow[]?,
    Named[]?,
    CartRow[]?,
    CartItemRow[]?,
  ]
  return {
    orders: new Map(orderRows.map((row) => [row.external_id ?? '', row])),
    purchases: Map.groupBy(purchaseRows ?? [], (row) => row.order_id),
    payments: new Map((payments ?? []).map((row) => [row.order_id, row])),
    carts: new Map((cartRows ?? []).map((row) => [row.order_id, row])),
    cartItems: Map.groupBy(cartItemRows ?? [], (row) => row.order_id),
    holders: holders ?? [],
    names: new Map((named ?? []).map(({ id, name }) => [id, name])),
    usersByEmail: new Map(byEmail.map((row) => [row.email ?? '', row])),
    usersByPhone: new Map(byPhone.toReversed().map((row) => [row.phone_number ?? '', row])),
    products: new Map(productRows.map((row) => [row.name_folded, row])),
    locations: new Map(locationRows.map((row) => [row.name_folded, row])),
    variants: new Map(variantRows.map((row) => [childKey(row.product_id, row.name), row])),
    options: new Map(optionRows.map((row) => [childKey(row.product_id, row.name), row])),
  }
}
