import { type SQL, sql } from 'drizzle-orm'
import type { OrderStatus } from '../../domain/orders/orders.ts'
import { heldStatuses, type PurchaseStatus } from '../../domain/orders/purchases.ts'
import { inWords } from '../conditions.ts'
import { selectDefinitionId, isCurrentConsent, fromLatestAnswer } from '../consents.ts'
import { failingValue, nullableValue, plainValue, type Value } from './values.ts'

/** The data that an expression can see. */
export interface ExpressionScope {
  organizationId: string
  /** The edition of the segment; null for a segment of the organisation. */
  editionId: string | null
  /** The time zone of this edition. */
  timezone: string | null
  /** The visible editions; null for the whole organisation. */
  editions: readonly string[] | null
  /** Milliseconds since 1970, UTC. */
  now: number
}

export interface BoundScope extends ExpressionScope {
  organization: () => SQL
  text: (value: string) => SQL
  alias: (letter: string) => SQL
}

type Columns = Record<string, (row: SQL) => Value>

const readColumn = (column: string) => (row: SQL) => plainValue(sql`${row}.${sql.raw(column)}`)
/** A unary plus keeps SQLite from using an index of this column instead of the one that finds the person's rows. */
const withoutIndex = (row: SQL, column: string): SQL => sql`+${row}.${sql.raw(column)}`
const readUnindexed = (column: string) => (row: SQL) => plainValue(withoutIndex(row, column))
const readNullable = (column: string) => (row: SQL) => nullableValue(sql`${row}.${sql.raw(column)}`)
const readNullableUnindexed = (column: string) => (row: SQL) => nullableValue(withoutIndex(row, column))
export const userFields: Columns = {
  id: readUnindexed('id'),
  email: readNullableUnindexed('email'),
  phone_number: readNullableUnindexed('phone_number'),
  first_name: readColumn('first_name'),
  last_name: readColumn('last_name'),
  locale: readColumn('locale'),
  is_verified: readColumn('is_verified'),
  is_active: readColumn('is_active'),
  date_joined: readUnindexed('created_at'),
  last_seen: readNullableUnindexed('last_seen_at'),
  has_email: (row) => plainValue(sql`(${withoutIndex(row, 'email')} is not null)`),
  has_phone: (row) => plainValue(sql`(${withoutIndex(row, 'phone_number')} is not null)`),
}

export const orderFields: Columns = {
  id: readColumn('id'),
  status: readColumn('status'),
  type: readColumn('type'),
  amount_minor: readColumn('amount_minor'),
  currency: readColumn('currency'),
  created: readColumn('created_at'),
  edition_id: readUnindexed('edition_id'),
}

/** Purchases have the ids of a product that was merged into another one until they are moved. */
const findMergedId = (row: SQL, column: string, replacement: SQL): SQL =>
  sql`coalesce((select ${replacement} from product_merges where id = ${row}.product_id), ${row}.${sql.raw(column)})`

export const purchaseFields: Columns = {
  product_id: (row) => plainValue(findMergedId(row, 'product_id', sql`into_id`)),
  product_name: (row) => plainValue(sql`(select name from products where id = ${row}.product_id)`),
  variant_id: (row) => nullableValue(findMergedId(row, 'variant_id', sql`ids ->> ${row}.variant_id`)),
  location_id: readNullable('location_id'),
  status: readColumn('status'),
  price_paid_minor: readColumn('price_minor'),
  available_uses: (row) =>
    plainValue(
      sql`(case when ${inWords(sql`${row}.status`, heldStatuses)} then
        iif(${row}.is_unlimited_use = 1, ${row}.uses_limit, max(0, ${row}.uses_limit - ${row}.uses_count)) else 0 end)`,
    ),
  created: readColumn('created_at'),
  edition_id: readUnindexed('edition_id'),
}

export const useFields: Columns = {
  used_at: readColumn('used_at'),
  location_id: readNullableUnindexed('location_id'),
  quantity: readColumn('quantity'),
}

export const messageFields: Columns = {
  campaign_id: readColumn('campaign_id'),
  state: readColumn('state'),
  reason: readNullable('reason'),
  sent_at: readNullable('received_at'),
  delivered_at: readNullable('delivered_at'),
  opened_at: readNullable('opened_at'),
  clicked_at: readNullable('clicked_at'),
  bounced_at: readNullable('bounced_at'),
  complained_at: readNullable('complained_at'),
  unsubscribed_at: readNullable('unsubscribed_at'),
}

/**
 * Tests the product name of a purchase. The subquery does not depend on the person, so SQLite finds the products
 * once for the whole statement. The unary plus keeps it from looking them up again for each person.
 */
export const hasProductName = (row: SQL, buildCondition: (name: SQL) => SQL, scope: BoundScope): Value =>
  plainValue(sql`(+${row}.product_id in (select id from products where ${buildCondition(sql`name`)}
    and edition_id in (select id from editions where organization_id = ${scope.organization()})))`)

/** The unary plus keeps SQLite from reading all people of the organisation. */
const isOfPerson = (row: SQL, scope: BoundScope): SQL =>
  sql`${row}.user_id = u.id and +u.organization_id = ${scope.organization()}`

function isInScope(edition: SQL, { editions, text }: BoundScope): SQL {
  const [only] = editions ?? []
  return editions?.length === 1 && only !== undefined
    ? sql`+${edition} = ${text(only)}`
    : sql`+${edition} in (select value from json_each(${text(JSON.stringify(editions))}))`
}

/** Holds for the person's orders or purchases in the visible editions. */
export const isBoughtByPerson = (row: SQL, scope: BoundScope): SQL =>
  scope.editions === null
    ? isOfPerson(row, scope)
    : sql`${isOfPerson(row, scope)} and ${isInScope(sql`${row}.edition_id`, scope)}`

/** Holds for rows of `campaign_receipts` about the person and campaigns of the visible editions. */
export function isReceivedByPerson(row: SQL, scope: BoundScope): SQL {
  if (scope.editions === null) return isOfPerson(row, scope)
  const campaign = scope.alias('q')
  return sql`${isOfPerson(row, scope)} and exists (select 1 from campaigns ${campaign}
    where ${campaign}.id = ${row}.campaign_id and ${isInScope(sql`${campaign}.edition_id`, scope)})`
}

const buildAggregate = (aggregate: string, table: string, statuses: readonly string[]) => (scope: BoundScope) => {
  const row = scope.alias('s')
  return sql`(select ${sql.raw(aggregate)} from ${sql.raw(table)} ${row}
    where ${isBoughtByPerson(row, scope)} and ${inWords(sql`${row}.status`, statuses)})`
}
const aggregateOrders = (aggregate: string) =>
  buildAggregate(aggregate, 'orders', ['confirmed', 'completed'] satisfies OrderStatus[])
const countPurchases = buildAggregate('count(*)', 'purchases', [...heldStatuses, 'expired'] satisfies PurchaseStatus[])

export const statsFields: Record<string, (scope: BoundScope) => Value> = {
  order_count: (scope) => plainValue(aggregateOrders('count(*)')(scope)),
  total_spent_minor: (scope) => plainValue(aggregateOrders('coalesce(sum(amount_minor), 0)')(scope)),
  purchase_count: (scope) => plainValue(countPurchases(scope)),
  first_order_at: (scope) => nullableValue(aggregateOrders('min(created_at)')(scope)),
  last_order_at: (scope) => nullableValue(aggregateOrders('max(created_at)')(scope)),
}

const editionColumns: Record<string, string> = {
  id: 'id',
  timezone: 'timezone',
  start_date: 'start_at',
  end_date: 'end_at',
}

export function lowerEditionField(name: string, scope: BoundScope): Value {
  const isRequired = name === 'id' || name === 'timezone'
  if (scope.editionId === null)
    return isRequired ? failingValue(sql`null`) : { sql: sql`null`, nullable: true, fails: true, ok: sql`0` }
  const row = scope.alias('e')
  const value = sql`(select ${row}.${sql.raw(editionColumns[name] ?? 'id')} from editions ${row}
    where ${row}.id = ${scope.text(scope.editionId)} and ${row}.organization_id = ${scope.organization()})`
  return isRequired ? failingValue(value) : nullableValue(value)
}

/** Selects from the person's latest answer to the consent with this key. */
function selectConsentRecord(column: (record: SQL, definition: SQL) => SQL, key: string, scope: BoundScope): SQL {
  const c = scope.alias('c')
  const r = scope.alias('r')
  const place = {
    organization_id: scope.organization(),
    edition_id: scope.editionId === null ? null : scope.text(scope.editionId),
  }
  return sql`(select ${column(r, c)} from consents ${c} join ${fromLatestAnswer(r, sql`u.id`, sql`${c}.id`)}
    and ${c}.id = ${selectDefinitionId(scope.text(key), place)})`
}

export const hasConsent = (key: string, scope: BoundScope): Value =>
  plainValue(sql`exists ${selectConsentRecord(() => sql`1`, key, scope)}`)

export function lowerConsentField(name: string, key: string, scope: BoundScope): Value {
  const select = (buildColumn: (record: SQL, definition: SQL) => SQL) => selectConsentRecord(buildColumn, key, scope)
  if (name === 'status') return failingValue(select((record) => sql`${record}.status`))
  if (name === 'is_current') return failingValue(select((r, c) => isCurrentConsent(r, c, scope.now)))
  const column =
    name === 'given_at'
      ? (r: SQL) => sql`case ${r}.status when 'given' then ${r}.occurred_at end`
      : (r: SQL) => sql`${r}.expires_at`
  return { sql: select(column), nullable: true, fails: true, ok: hasConsent(key, scope).sql }
}
