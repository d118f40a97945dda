import { getTableColumns, type InferSelectModel, type SQL, sql, type Table } from 'drizzle-orm'
import { readInTransaction, type TransactionRead } from '../../db/commit.ts'
import { inList } from '../../db/conditions.ts'
import { isSharedOutside } from '../../db/customers.ts'
import type { Database, NamedRows } from '../../db/database.ts'
import type { OrderRow } from '../../db/rows.ts'
import * as catalog from '../../db/schema/catalog.ts'
import { earlierAddresses, type editionCustomers, users as userTable } from '../../db/schema/customers.ts'
import { orders as orderTable, type transactions } from '../../db/schema/orders.ts'
import { purchases } from '../../db/schema/purchases.ts'
import { decodeAs, type Fields, fromJson, type Query } from '../../db/select.ts'
import type { Channel } from '../../domain/messaging/messaging.ts'
import { hashOrderId, mayContainAddress } from '../../domain/orders/erased-order-ids.ts'
import type { ExternalOrder } from '../../domain/orders/external-orders.ts'
import { fold } from '../../domain/text/fold.ts'
import { hasSuppressionHashes } from '../suppressions/index.ts'

export type ProductRow = typeof catalog.products.$inferInsert
/** A product with the folded name that an order gives it: its own name, or an alias. */
type NamedProductRow = typeof catalog.products.$inferSelect & { matched_name: string }
export type VariantRow = typeof catalog.variants.$inferInsert
export type OptionRow = typeof catalog.options.$inferSelect
export type LocationRow = typeof catalog.locations.$inferSelect
export type PurchaseRow = typeof purchases.$inferSelect
export type TransactionRow = typeof transactions.$inferSelect

export type EditionValues = Pick<
  typeof editionCustomers.$inferSelect,
  'email' | 'phone_number' | 'first_name' | 'last_name' | 'locale' | 'metadata'
>

export interface UserRow extends Omit<typeof userTable.$inferSelect, 'seq'> {
  /** 1 when the customer also belongs to an edition whose customers the caller may not change; otherwise 0. */
  is_protected: number
  /** Null for a customer who is not in the edition. */
  edition_values: EditionValues | null
}

/** Options for reading more than orders, people and catalogue. */
export interface ExtraReads {
  /** Purchases and payments, which an update compares. */
  contents: boolean
  /** True if addresses are suppressed by their hashes, which only an import that writes has to know. */
  hashes: boolean
}

export interface ImportState {
  /** By external id, also orders of erased customers whose external id was replaced by its hash. */
  orders: ReadonlyMap<string, OrderRow>
  /** The key is the id of the order. */
  purchases: ReadonlyMap<string, readonly PurchaseRow[]>
  payments: ReadonlyMap<string, TransactionRow>
  /** By their address, or an earlier one. */
  usersByEmail: ReadonlyMap<string, UserRow>
  usersByPhone: ReadonlyMap<string, UserRow>
  /** Customers and ticket holders of existing orders. */
  orderPeople: readonly UserRow[]
  /** The key is the folded name, or an alias. */
  products: ReadonlyMap<string, ProductRow>
  locations: ReadonlyMap<string, LocationRow>
  /** Names of the edition's products; undefined when new products need no warning. */
  product_names?: readonly string[] | undefined
  /** Names of products and variants by id. */
  names: ReadonlyMap<string, string>
  /** `buildChildKey` builds the keys. */
  variants: ReadonlyMap<string, VariantRow>
  options: ReadonlyMap<string, OptionRow>
  /** False when the organisation has no suppression that is stored by its hash alone. True when this was not read. */
  has_hashes?: boolean | undefined
}

interface EarlierUserRow extends UserRow {
  /** The address by which the customer was found. */
  earlier_address: string
}

interface NamedRow {
  id: string
  name: string
}

export const buildChildKey = (productId: string, name: string): string => `${productId} ${fold(name)}`

export interface LoadScope {
  organization_id: string
  edition_id: string
  source: string
  erasure_key: string
  /** Editions whose customers the import may change; null for all editions of the organisation. */
  changeable: readonly string[] | null
}

/** `statement` has to select all columns. */
const selectAllColumns = <T extends Table>(table: T, statement: SQL): Query<InferSelectModel<T>> =>
  decodeAs<InferSelectModel<T>>(getTableColumns(table), statement as SQL<InferSelectModel<T>>)

const listUnique = (values: readonly (string | null)[]): string[] => [
  ...new Set(values.filter((value) => value !== null)),
]

/** Builds the edition's values of a customer as JSON, with the keys in the order of `EditionValues`. */
export const buildEditionValues = (row: SQL): SQL =>
  sql`json_object('email', ${row}.email, 'phone_number', ${row}.phone_number, 'first_name', ${row}.first_name,
    'last_name', ${row}.last_name, 'locale', ${row}.locale, 'metadata', json(${row}.metadata))`

const { is_verified, is_active, is_of_organization, metadata } = userTable
const userFields: Fields = {
  is_verified,
  is_active,
  is_of_organization,
  metadata,
  edition_values: fromJson<EditionValues>(sql`edition_values`),
}

/** Maps the ids that orders of erased customers would have to the external ids of the group. */
const mapErasedIds = ({ edition_id, erasure_key }: LoadScope, group: readonly ExternalOrder[]): Map<string, string> =>
  new Map(
    group.flatMap(({ external_id }) =>
      mayContainAddress(external_id) ? [[hashOrderId(erasure_key, edition_id, external_id), external_id]] : [],
    ),
  )

interface OrderGroup {
  orders: readonly ExternalOrder[]
  erasedIds: ReadonlyMap<string, string>
}

const buildGroup = (scope: LoadScope, orders: readonly ExternalOrder[]): OrderGroup => ({
  orders,
  erasedIds: mapErasedIds(scope, orders),
})

type PeopleScope = Pick<LoadScope, 'organization_id' | 'edition_id' | 'changeable'>

/** The columns of `UserRow`, in a query that reads `users`. */
const selectUserColumns = ({ edition_id, changeable }: PeopleScope): SQL => sql`users.*,
  ${changeable === null ? sql`0` : isSharedOutside(sql`users`, changeable)} as is_protected,
  (select ${buildEditionValues(sql`edition_contact`)} from edition_customers as edition_contact
    where edition_contact.edition_id = ${edition_id} and edition_contact.user_seq = users.seq) as edition_values`

const queryCustomers = (scope: PeopleScope, condition: SQL): Query<UserRow> =>
  decodeAs(
    userFields,
    sql<UserRow>`select ${selectUserColumns(scope)} from users
      where organization_id = ${scope.organization_id} and ${condition}`,
  )

/** Several customers may have a number. Those without an address come first, then the oldest. */
const isAmongPhones = (phones: readonly string[]): SQL =>
  sql`${inList(sql`phone_number`, phones)} order by email is null desc, seq`

type EarlierAddresses = readonly (readonly [Channel, string])[]

const listEarlier = (emails: readonly (string | null)[], phones: readonly (string | null)[]): EarlierAddresses => [
  ...listUnique(emails).map((email) => ['email', email] as const),
  ...listUnique(phones).map((phone) => ['sms', phone] as const),
]

/** Finds customers by addresses that they had. The customer of the latest merge comes first. */
function queryEarlierCustomers(scope: PeopleScope, addresses: EarlierAddresses) {
  const { organization_id } = scope
  // Most organisations have merged nobody, and read nothing.
  const values = sql`iif(exists (select 1 from earlier_addresses where organization_id = ${organization_id}),
    ${JSON.stringify(addresses)}, '[]')`
  return decodeAs(
    { ...userFields, earlier_address: earlierAddresses.address },
    sql<EarlierUserRow>`select ${selectUserColumns(scope)}, earlier.address as earlier_address
      from earlier_addresses as earlier cross join users on users.id = earlier.user_id
      where earlier.organization_id = ${organization_id}
        and (earlier.channel, earlier.address) in (select value ->> 0, value ->> 1 from json_each(${values}))
      order by earlier.created_at desc, users.seq`,
  )
}

const listByEarlier = (rows: readonly EarlierUserRow[]) =>
  rows.toReversed().map(({ earlier_address, ...user }) => [earlier_address, user] as const)

/** A customer who has an address comes before one who had it. */
const mapByEmail = (rows: readonly UserRow[] = [], earlier: readonly EarlierUserRow[] = []) =>
  new Map([...listByEarlier(earlier), ...rows.map((row) => [row.email ?? '', row] as const)])
const mapByPhone = (rows: readonly UserRow[] = [], earlier: readonly EarlierUserRow[] = []) =>
  new Map([...listByEarlier(earlier), ...rows.toReversed().map((row) => [row.phone_number ?? '', row] as const)])

export type PeopleState = Pick<ImportState, 'usersByEmail' | 'usersByPhone' | 'orderPeople'>

/** Loads the customers who have one of these addresses or numbers. */
export async function loadPeopleState(
  db: Database,
  scope: PeopleScope,
  people: readonly { email: string | null; phone_number: string | null }[],
): Promise<PeopleState> {
  const rows = await db.batchNamed({
    byEmail: queryUnlessEmpty(listUnique(people.map(({ email }) => email)), (emails) =>
      queryCustomers(scope, inList(sql`email`, emails)),
    ),
    byPhone: queryUnlessEmpty(listUnique(people.map(({ phone_number }) => phone_number)), (phones) =>
      queryCustomers(scope, isAmongPhones(phones)),
    ),
    byEarlier: queryUnlessEmpty(
      listEarlier(
        people.map(({ email }) => email),
        people.map(({ phone_number }) => phone_number),
      ),
      (addresses) => queryEarlierCustomers(scope, addresses),
    ),
  })
  return {
    usersByEmail: mapByEmail(rows.byEmail, rows.byEarlier),
    usersByPhone: mapByPhone(rows.byPhone, rows.byEarlier),
    orderPeople: [],
  }
}

function buildSources(scope: LoadScope, group: OrderGroup) {
  const { edition_id, source } = scope
  const ids = [...group.orders.map((order) => order.external_id), ...group.erasedIds.keys()]
  const existingOrders = sql`select * from orders where edition_id = ${edition_id} and external_source = ${source}
    and ${inList(sql`external_id`, ids)}`
  return {
    existingOrders,
    queryUsers: (condition: SQL) => queryCustomers(scope, condition),
    queryUsersByEarlier: (addresses: EarlierAddresses) => queryEarlierCustomers(scope, addresses),
    existingPurchases: sql`purchases where order_id in (select id from (${existingOrders}))`,
  }
}

type Sources = ReturnType<typeof buildSources>

const queryUnlessEmpty = <Value, Statement>(
  values: readonly Value[],
  query: (values: readonly Value[]) => Statement,
): Statement | null => (values.length === 0 ? null : query(values))

function buildNameQueries(edition_id: string, group: readonly ExternalOrder[], sources: Sources) {
  const { queryUsers, queryUsersByEarlier } = sources
  const people = group.flatMap((order) => [order.customer, ...order.items.flatMap((item) => item.holder ?? [])])
  const items = group.flatMap((order) => order.items)
  const names = listUnique(items.map((item) => fold(item.product)))
  const hasName = (values: readonly string[]) => inList(sql`name_folded`, values)
  const isInEdition = sql`edition_id = ${edition_id}`
  const namedProducts = sql`(select id, name_folded as matched_name from products where ${isInEdition} and ${hasName(names)}
    union all select product_id, name_folded from product_aliases where ${isInEdition} and ${hasName(names)})`
  const isOfProducts = sql`product_id in (select id from ${namedProducts})`
  return {
    byEmail: queryUnlessEmpty(listUnique(people.map(({ email }) => email)), (emails) =>
      queryUsers(inList(sql`email`, emails)),
    ),
    byPhone: queryUnlessEmpty(listUnique(group.map((order) => order.customer.phone_number)), (phones) =>
      queryUsers(isAmongPhones(phones)),
    ),
    byEarlier: queryUnlessEmpty(
      listEarlier(
        people.map(({ email }) => email),
        group.map((order) => order.customer.phone_number),
      ),
      queryUsersByEarlier,
    ),
    products: decodeAs(
      getTableColumns(catalog.products),
      sql<NamedProductRow>`select products.*, named.matched_name from ${namedProducts} as named
        cross join products on products.id = named.id`,
    ),
    locations: queryUnlessEmpty(listUnique(items.map((item) => item.location && fold(item.location))), (foldedNames) =>
      selectAllColumns(
        catalog.locations,
        sql`select * from locations where ${isInEdition} and ${hasName(foldedNames)}`,
      ),
    ),
    variants: queryUnlessEmpty(listUnique(items.map((item) => item.variant && fold(item.variant))), (foldedNames) =>
      selectAllColumns(catalog.variants, sql`select * from variants where ${isOfProducts} and ${hasName(foldedNames)}`),
    ),
    options: queryUnlessEmpty(listUnique(items.flatMap((item) => item.options.map(fold))), (foldedNames) =>
      selectAllColumns(catalog.options, sql`select * from options where ${isOfProducts} and ${hasName(foldedNames)}`),
    ),
  }
}

const buildContentQueries = ({ existingOrders, queryUsers, existingPurchases }: Sources) => ({
  existingPurchases: selectAllColumns(purchases, sql`select * from ${existingPurchases} order by id`),
  payments: sql<TransactionRow>`select * from transactions where type = 'payment'
    and order_id in (select id from (${existingOrders}))`,
  orderPeople: queryUsers(sql`id in (select user_id from (${existingOrders})
    union select user_id from ${existingPurchases})`),
  namedRows: sql<NamedRow>`select id, name from products where id in (select product_id from ${existingPurchases})
    union all select id, name from variants where id in (select variant_id from ${existingPurchases})`,
})

const buildHashQuery = ({ organization_id }: LoadScope) => ({
  hashes: sql<{ has_hashes: number }>`select ${hasSuppressionHashes(organization_id)} as has_hashes`,
})

function buildStateQueries(scope: LoadScope, group: OrderGroup, reads: ExtraReads) {
  const sources = buildSources(scope, group)
  return {
    ...(reads.hashes ? buildHashQuery(scope) : {}),
    orders: selectAllColumns(orderTable, sources.existingOrders),
    ...buildNameQueries(scope.edition_id, group.orders, sources),
    ...(reads.contents ? buildContentQueries(sources) : {}),
  }
}

/** An order that has its id comes before one whose id was replaced by the hash of the same id. */
const mapOrders = (rows: readonly OrderRow[], { erasedIds }: OrderGroup): Map<string, OrderRow> =>
  new Map([
    ...rows.flatMap((row) => {
      const externalId = erasedIds.get(row.external_id ?? '')
      return externalId === undefined ? [] : [[externalId, row] as const]
    }),
    ...rows.map((row) => [row.external_id ?? '', row] as const),
  ])

function buildState(rows: NamedRows<ReturnType<typeof buildStateQueries>>, group: OrderGroup): ImportState {
  const { hashes, products = [], locations = [], variants = [], options = [] } = rows
  return {
    has_hashes: hashes?.[0]?.has_hashes !== 0,
    orders: mapOrders(rows.orders ?? [], group),
    purchases: Map.groupBy(rows.existingPurchases ?? [], (row) => row.order_id),
    payments: new Map(rows.payments?.map((row) => [row.order_id, row])),
    orderPeople: rows.orderPeople ?? [],
    names: new Map(rows.namedRows?.map(({ id, name }) => [id, name])),
    usersByEmail: mapByEmail(rows.byEmail, rows.byEarlier),
    usersByPhone: mapByPhone(rows.byPhone, rows.byEarlier),
    products: new Map(products.map((row) => [row.matched_name, row])),
    locations: new Map(locations.map((row) => [row.name_folded, row])),
    variants: new Map(variants.map((row) => [buildChildKey(row.product_id, row.name), row])),
    options: new Map(options.map((row) => [buildChildKey(row.product_id, row.name), row])),
  }
}

export async function loadImportState(
  db: Database,
  scope: LoadScope,
  orders: readonly ExternalOrder[],
  reads: ExtraReads,
): Promise<ImportState> {
  const group = buildGroup(scope, orders)
  return buildState(await db.batchNamed(buildStateQueries(scope, group, reads)), group)
}

/** Reads the state at the end of a transaction, after its writes. */
export function readImportStateInTransaction(
  scope: LoadScope,
  orders: readonly ExternalOrder[],
  reads: ExtraReads,
): TransactionRead<ImportState> {
  const group = buildGroup(scope, orders)
  const { statements, rows } = readInTransaction(buildStateQueries(scope, group, reads))
  return { statements, rows: () => buildState(rows(), group) }
}
