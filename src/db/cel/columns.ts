import { type SQL, sql } from 'drizzle-orm'
import type { OrderStatus } from '../../domain/orders/orders.ts'
import { heldStatuses, type PurchaseStatus } from '../../domain/orders/purchases.ts'
import { selectDefinitionId, isCurrentConsent, fromLatestAnswer } from '../consents.ts'
import { inWords } from '../visibility.ts'
import { failing, optional, total, type Value } from './values.ts'

/** Whose data an expression reads, and at what time. */
export interface ExpressionScope {
  organizationId: string
  /** The edition that the expression is about; null when it is about several or about the organisation. */
  editionId: string | null
  /** The editions whose data the expression reads; null for the whole organisation. */
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

const own = (column: string) => (row: SQL) => total(sql`${row}.${sql.raw(column)}`)
/**
 * No index is used for this column: a walk has its people, and a person their own rows, by another one, and they are
 * fewer.
 */
const withoutIndex = (row: SQL, column: string): SQL => sql`+${row}.${sql.raw(column)}`
const unindexed = (column: string) => (row: SQL) => total(withoutIndex(row, column))
const maybe = (column: string) => (row: SQL) => optional(sql`${row}.${sql.raw(column)}`)
const maybeUnindexed = (column: string) => (row: SQL) => optional(withoutIndex(row, column))
export const userColumns: Columns = {
  id: unindexed('id'),
  email: maybeUnindexed('email'),
  phone_number: maybeUnindexed('phone_number'),
  first_name: own('first_name'),
  last_name: own('last_name'),
  locale: own('locale'),
  is_verified: own('is_verified'),
  is_active: own('is_active'),
  date_joined: unindexed('created_at'),
  last_seen: maybeUnindexed('last_seen_at'),
  has_email: (row) => total(sql`(${withoutIndex(row, 'email')} is not null)`),
  has_phone: (row) => total(sql`(${withoutIndex(row, 'phone_number')} is not null)`),
}

export const orderColumns: Columns = {
  id: own('id'),
  status: own('status'),
  type: own('type'),
  amount_minor: own('amount_minor'),
  currency: own('currency'),
  created: own('created_at'),
  edition_id: unindexed('edition_id'),
}

export const purchaseColumns: Columns = {
  product_id: own('product_id'),
  product_name: (row) => total(sql`(select name from products where id = ${row}.product_id)`),
  variant_id: maybe('variant_id'),
  location_id: maybe('location_id'),
  status: own('status'),
  price_paid_minor: own('price_minor'),
  available_uses: (row) =>
    total(
      sql`(case when ${inWords(sql`${row}.status`, heldStatuses)} then iif(${row}.is_unlimited_use = 1, ${row}.uses_limit,
        max(0, ${row}.uses_limit - ${row}.uses_count)) else 0 end)`,
    ),
  created: own('created_at'),
  edition_id: unindexed('edition_id'),
}

/**
 * Whether the product of a purchase has a name for which this holds, and which is the same for all people: such products are
 * found once for a statement, and not one for each purchase. The plus keeps SQLite from looking for each of them at each
 * person.
 */
export const isOfProductNamed = (row: SQL, isNamed: (name: SQL) => SQL, bound: BoundScope): Value =>
  total(sql`(+${row}.product_id in (select id from products where ${isNamed(sql`name`)}
    and edition_id in (select id from editions where organization_id = ${bound.organization()})))`)

/** What belongs to a person is of the person's organisation. The plus keeps SQLite from reading all people of it. */
const ownedBy = (row: SQL, bound: BoundScope): SQL =>
  sql`${row}.user_id = u.id and +u.organization_id = ${bound.organization()}`

/** Holds for rows of the editions that the expression reads. No index is used here either. */
function isSeen(edition: SQL, { editions, text }: BoundScope): SQL {
  const [only] = editions ?? []
  return editions?.length === 1 && only !== undefined
    ? sql`+${edition} = ${text(only)}`
    : sql`+${edition} in (select value from json_each(${text(JSON.stringify(editions))}))`
}

/** The person's orders or purchases that the expression reads. */
export const boughtBy = (row: SQL, bound: BoundScope): SQL =>
  bound.editions === null
    ? ownedBy(row, bound)
    : sql`${ownedBy(row, bound)} and ${isSeen(sql`${row}.edition_id`, bound)}`

/** What the person did with the campaigns that the expression reads. */
export function receivedBy(row: SQL, bound: BoundScope): SQL {
  if (bound.editions === null) return ownedBy(row, bound)
  const campaign = bound.alias('q')
  return sql`${ownedBy(row, bound)} and exists (select 1 from campaigns ${campaign}
    where ${campaign}.id = ${row}.campaign_id and ${isSeen(sql`${campaign}.edition_id`, bound)})`
}

const aggregate = (what: string, table: string, statuses: readonly string[]) => (bound: BoundScope) => {
  const row = bound.alias('s')
  return sql`(select ${sql.raw(what)} from ${sql.raw(table)} ${row} where ${boughtBy(row, bound)} and ${inWords(sql`${row}.status`, statuses)})`
}
const ordersWhere = (what: string) => aggregate(what, 'orders', ['confirmed', 'completed'] satisfies OrderStatus[])
const purchaseCount = aggregate('count(*)', 'purchases', [...heldStatuses, 'expired'] satisfies PurchaseStatus[])

export const statsColumns: Record<string, (bound: BoundScope) => Value> = {
  order_count: (bound) => total(ordersWhere('count(*)')(bound)),
  total_spent_minor: (bound) => total(ordersWhere('coalesce(sum(amount_minor), 0)')(bound)),
  purchase_count: (bound) => total(purchaseCount(bound)),
  first_order_at: (bound) => optional(ordersWhere('min(created_at)')(bound)),
  last_order_at: (bound) => optional(ordersWhere('max(created_at)')(bound)),
}

const editionColumns: Record<string, string> = { id: 'id', start_date: 'start_at', end_date: 'end_at' }

export function editionColumn(name: string, bound: BoundScope): Value {
  const isId = name === 'id'
  if (bound.editionId === null)
    return isId ? failing(sql`null`) : { sql: sql`null`, nullable: true, fails: true, ok: sql`0` }
  const row = bound.alias('e')
  const value = sql`(select ${row}.${sql.raw(editionColumns[name] ?? 'id')} from editions ${row}
    where ${row}.id = ${bound.text(bound.editionId)} and ${row}.organization_id = ${bound.organization()})`
  return isId ? failing(value) : optional(value)
}

/** The latest record of the consent that this key means there. */
function consentRecord(what: (record: SQL, definition: SQL) => SQL, key: string, bound: BoundScope): SQL {
  const c = bound.alias('c')
  const r = bound.alias('r')
  const place = {
    organization_id: bound.organization(),
    edition_id: bound.editionId === null ? null : bound.text(bound.editionId),
  }
  return sql`(select ${what(r, c)} from consents ${c} join ${fromLatestAnswer(r, sql`u.id`, sql`${c}.id`)}
    and ${c}.id = ${selectDefinitionId(bound.text(key), place)})`
}

export const hasConsent = (key: string, bound: BoundScope): Value =>
  total(sql`exists ${consentRecord(() => sql`1`, key, bound)}`)

export function consentColumn(name: string, key: string, bound: BoundScope): Value {
  const value = (what: (record: SQL, definition: SQL) => SQL) => consentRecord(what, key, bound)
  if (name === 'status') return failing(value((record) => sql`${record}.status`))
  if (name === 'is_current') return failing(value((r, c) => isCurrentConsent(r, c, bound.now)))
  const column =
    name === 'given_at'
      ? (r: SQL) => sql`case ${r}.status when 'given' then ${r}.occurred_at end`
      : (r: SQL) => sql`${r}.expires_at`
  return { sql: value(column), nullable: true, fails: true, ok: hasConsent(key, bound).sql }
}
