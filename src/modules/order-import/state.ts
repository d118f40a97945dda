import { getTableColumns, type InferSelectModel, type SQL, sql, type Table } from 'drizzle-orm'
import { readInTransaction, type TransactionRead } from '../../db/commit.ts'
import type { Database, NamedRows } from '../../db/database.ts'
import * as catalog from '../../db/schema/sales/catalog.ts'
import * as sales from '../../db/schema/sales/orders.ts'
import { type editionCustomers, users as userTable } from '../../db/schema/users.ts'
import { decodeAs, type Fields, fromJson, type Query } from '../../db/select.ts'
import { isSharedOutside } from '../../db/customers.ts'
import { inList } from '../../db/visibility.ts'
import type { ExternalOrder } from '../../domain/orders/external-orders.ts'
import { fold } from '../../domain/text/fold.ts'
import { hasHashes } from '../suppressions/index.ts'

export type ProductRow = typeof catalog.products.$inferInsert
export type VariantRow = typeof catalog.variants.$inferInsert
export type OptionRow = typeof catalog.options.$inferSelect
export type LocationRow = typeof catalog.locations.$inferSelect
export type PurchaseRow = typeof sales.purchases.$inferSelect
export type TransactionRow = typeof sales.transactions.$inferSelect

/** What imports of an edition said of a customer. */
export type EditionValues = Pick<
  typeof editionCustomers.$inferSelect,
  'email' | 'phone_number' | 'first_name' | 'last_name' | 'locale' | 'metadata'
>

export interface UserRow extends Omit<typeof userTable.$inferSelect, 'seq'> {
  /** The customer belongs to an edition whose customers the caller may not change. */
  is_kept: number
  /** What the imports of this edition said of the customer. Null for a customer who is not in the edition. */
  edition_values: EditionValues | null
}

/** What is read of orders that are known. */
export interface Reads {
  /** Purchases and payment, for an update. */
  contents: boolean
  /** Whether addresses are suppressed by their hashes, for what is written. */
  hashes: boolean
}

/** What a group of orders finds in the database. */
export interface ImportState {
  /** By external id. */
  orders: ReadonlyMap<string, sales.OrderRow>
  /** By order. */
  purchases: ReadonlyMap<string, readonly PurchaseRow[]>
  payments: ReadonlyMap<string, TransactionRow>
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
  /** False where no address of the organisation is suppressed by its hash alone; true where that was not read. */
  has_hashes?: boolean | undefined
}

interface NamedRow {
  id: string
  name: string
}

export const childKey = (productId: string, name: string): string => `${productId} ${fold(name)}`

export interface LoadScope {
  organization_id: string
  edition_id: string
  source: string
  /** Editions whose customers the caller may change; null for all of the organisation. */
  changeable: readonly string[] | null
}

/** Whole rows of a table: `statement` selects all its columns. */
const wholeRows = <T extends Table>(table: T, statement: SQL): Query<InferSelectModel<T>> =>
  decodeAs<InferSelectModel<T>>(getTableColumns(table), statement as SQL<InferSelectModel<T>>)

const unique = (values: (string | null)[]): string[] => [...new Set(values.filter((value) => value !== null))]

/** The values of a row of `edition_customers`, as JSON with its keys in the order of `EditionValues`. */
export const buildEditionValues = (row: SQL): SQL =>
  sql`json_object('email', ${row}.email, 'phone_number', ${row}.phone_number, 'first_name', ${row}.first_name,
    'last_name', ${row}.last_name, 'locale', ${row}.locale, 'metadata', json(${row}.metadata))`

/** The columns of a customer that are stored otherwise than they are read. */
const { is_verified, is_active, metadata } = userTable
const userFields: Fields = {
  is_verified,
  is_active,
  metadata,
  edition_values: fromJson<EditionValues>(sql`edition_values`),
}

/** Parts that several statements share. */
function sourcesOf({ organization_id, edition_id, source, changeable }: LoadScope, group: readonly ExternalOrder[]) {
  const ids = group.map((order) => order.external_id)
  const ordersOf = sql`select * from orders where edition_id = ${edition_id} and external_source = ${source}
    and ${inList(sql`external_id`, ids)}`
  const users = sql`select users.*,
    ${changeable === null ? sql`0` : isSharedOutside(sql`users`, changeable)} as is_kept,
    (select ${buildEditionValues(sql`known`)} from edition_customers as known
      where known.edition_id = ${edition_id} and known.user_seq = users.seq) as edition_values
    from users where organization_id = ${organization_id}`
  const usersOf = (condition: SQL) => decodeAs(userFields, sql<UserRow>`${users} and ${condition}`)
  return { ordersOf, usersOf, bought: sql`purchases where order_id in (select id from (${ordersOf}))` }
}

type Sources = ReturnType<typeof sourcesOf>

/** Null where there is nothing to look for. */
const unlessEmpty = <Value, Statement>(
  values: readonly Value[],
  query: (values: readonly Value[]) => Statement,
): Statement | null => (values.length === 0 ? null : query(values))

/** Customers and products that the orders name; null for what they do not name. */
function namedIn(edition_id: string, group: readonly ExternalOrder[], { usersOf }: Sources) {
  const people = group.flatMap((order) => [order.customer, ...order.items.flatMap((item) => item.holder ?? [])])
  const items = group.flatMap((order) => order.items)
  const names = unique(items.map((item) => fold(item.product)))
  const named = (values: readonly string[]) => inList(sql`name_folded`, values)
  const ofEdition = sql`edition_id = ${edition_id}`
  const ofProducts = sql`product_id in (select id from products where ${ofEdition} and ${named(names)})`
  return {
    byEmail: unlessEmpty(unique(people.map(({ email }) => email)), (emails) => usersOf(inList(sql`email`, emails))),
    byPhone: unlessEmpty(unique(group.map((order) => order.customer.phone_number)), (phones) =>
      // A number may be several customers'; one without an address is meant before others, then the oldest.
      usersOf(sql`${inList(sql`phone_number`, phones)} order by email is null desc, seq`),
    ),
    products: wholeRows(catalog.products, sql`select * from products where ${ofEdition} and ${named(names)}`),
    locations: unlessEmpty(unique(items.map((item) => item.location && fold(item.location))), (some) =>
      wholeRows(catalog.locations, sql`select * from locations where ${ofEdition} and ${named(some)}`),
    ),
    variants: unlessEmpty(unique(items.map((item) => item.variant && fold(item.variant))), (some) =>
      wholeRows(catalog.variants, sql`select * from variants where ${ofProducts} and ${named(some)}`),
    ),
    options: unlessEmpty(unique(items.flatMap((item) => item.options.map(fold))), (some) =>
      wholeRows(catalog.options, sql`select * from options where ${ofProducts} and ${named(some)}`),
    ),
  }
}

/** What the known orders have: purchases, payments, holders, and names of products and variants. */
const contentsOf = ({ ordersOf, usersOf, bought }: Sources) => ({
  bought: wholeRows(sales.purchases, sql`select * from ${bought} order by id`),
  payments: sql<TransactionRow>`select * from transactions where type = 'payment'
    and order_id in (select id from (${ordersOf}))`,
  holders: usersOf(sql`id in (select user_id from ${bought})`),
  named: sql<NamedRow>`select id, name from products where id in (select product_id from ${bought})
    union all select id, name from variants where id in (select variant_id from ${bought})`,
})

const hashesOf = ({ organization_id }: LoadScope) => ({
  hashes: sql<{ has_hashes: number }>`select ${hasHashes(organization_id)} as has_hashes`,
})

function stateStatements(scope: LoadScope, group: readonly ExternalOrder[], reads: Reads) {
  const sources = sourcesOf(scope, group)
  return {
    ...(reads.hashes ? hashesOf(scope) : {}),
    orders: wholeRows(sales.orders, sources.ordersOf),
    ...namedIn(scope.edition_id, group, sources),
    ...(reads.contents ? contentsOf(sources) : {}),
  }
}

function stateOf(found: NamedRows<ReturnType<typeof stateStatements>>): ImportState {
  const { hashes, products = [], locations = [], variants = [], options = [] } = found
  return {
    has_hashes: hashes?.[0]?.has_hashes !== 0,
    orders: new Map(found.orders?.map((row) => [row.external_id ?? '', row])),
    purchases: Map.groupBy(found.bought ?? [], (row) => row.order_id),
    payments: new Map(found.payments?.map((row) => [row.order_id, row])),
    holders: found.holders ?? [],
    names: new Map(found.named?.map(({ id, name }) => [id, name])),
    usersByEmail: new Map(found.byEmail?.map((row) => [row.email ?? '', row])),
    usersByPhone: new Map(found.byPhone?.toReversed().map((row) => [row.phone_number ?? '', row])),
    products: new Map(products.map((row) => [row.name_folded, row])),
    locations: new Map(locations.map((row) => [row.name_folded, row])),
    variants: new Map(variants.map((row) => [childKey(row.product_id, row.name), row])),
    options: new Map(options.map((row) => [childKey(row.product_id, row.name), row])),
  }
}

/** Reads in one round trip what an import decides over. */
export const loadState = async (
  db: Database,
  scope: LoadScope,
  group: readonly ExternalOrder[],
  reads: Reads,
): Promise<ImportState> => stateOf(await db.batchNamed(stateStatements(scope, group, reads)))

/** As `loadState`, at the end of a transaction that writes. */
export function readStateWithin(
  scope: LoadScope,
  group: readonly ExternalOrder[],
  reads: Reads,
): TransactionRead<ImportState> {
  const { statements, rows } = readInTransaction(stateStatements(scope, group, reads))
  return { statements, rows: () => stateOf(rows()) }
}
