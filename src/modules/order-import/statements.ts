import { sql } from 'drizzle-orm'
import { insertEditionCustomers, isSharedOutside } from '../../db/customers.ts'
import { requireChanges, requireOneChange, abortUnless } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { growLists } from '../../db/cel/list-sizes.ts'
import { locations, options, products, variants } from '../../db/schema/sales/catalog.ts'
import { orders, purchases, transactions } from '../../db/schema/sales/orders.ts'
import { users } from '../../db/schema/users.ts'
import { rebuildOrderText } from '../../db/search.ts'
import { buildReferenceChange, buildReferenceColumns, buildReferenceSince } from '../../db/refunds.ts'
import { inList } from '../../db/visibility.ts'
import { insertAll, insertWithLookups, isEmpty, update, updateVersion } from '../../db/write.ts'
import { buildSearchColumns } from '../../domain/accounts/users.ts'
import { openPurchaseStatuses, listStatusesMovedByOrder } from '../../domain/orders/purchases.ts'
import { buildCancelStatements } from '../refunds/index.ts'
import { passChanged } from '../wallet/index.ts'
import type { EditionValues } from './state.ts'
import { type EditionCustomerChange, type RowChange, rowsOf, type Write } from './writes.ts'

/** Which lists become longer: whose, and the longest of what has no rows of its own. */
export interface LongerLists {
  users: readonly string[]
  options: number
  user_metadata: number
  order_metadata: number
}

interface WriteScope {
  organization_id: string
  edition_id: string
  /** Editions whose customers the caller may change; null for all. */
  changeable: readonly string[] | null
  /** Milliseconds UTC. */
  now: number
}

/** Of customers who come with these writes: all that they have is in them, unless orders or purchases change hands. */
function newPeople(writes: readonly Write[]): ReadonlySet<string> {
  const isGiven = writes.some(({ write }) => write === 'order' || write === 'purchase-holders')
  return new Set(isGiven ? [] : rowsOf(writes, 'users').map(({ id }) => id))
}

/** The most rows that one of the people has. */
const longestOf = (rows: readonly { user_id: string }[], people: ReadonlySet<string>): number => {
  const lists = Map.groupBy(
    rows.filter(({ user_id }) => people.has(user_id)),
    ({ user_id }) => user_id,
  )
  return Math.max(0, ...[...lists.values()].map(({ length }) => length))
}

/** Raises the numbers by which expressions of segments are judged. */
function growth(organizationId: string, writes: readonly Write[], lists: LongerLists): Statement[] {
  const people = rowsOf(writes, 'users').length
  if (!people && !lists.users.length && !lists.order_metadata) return []
  const [made, bought] = [rowsOf(writes, 'orders'), rowsOf(writes, 'purchases')]
  const isNew = newPeople(writes)
  return [
    growLists(organizationId, {
      ...lists,
      users: lists.users.filter((id) => !isNew.has(id)),
      longest: { orders: longestOf(made, isNew), purchases: longestOf(bought, isNew) },
      people,
      orders: made.length,
      purchases: bought.length,
    }),
  ]
}

/** Changes what an edition says of customers of whom it still says what was read. */
function editionCustomerStatements(changes: readonly EditionCustomerChange[], editionId: string): Statement[] {
  const values = changes.map(({ user_id, before, after }) => {
    const { phone_digits, search_text } = buildSearchColumns(after)
    return [user_id, ...listValues(after), phone_digits, search_text, ...listValues(before)]
  })
  const value = (place: number) => sql.raw(`given.value ->> ${place}`)
  return [
    sql`update edition_customers set email = ${value(1)}, phone_number = ${value(2)}, first_name = ${value(3)},
        last_name = ${value(4)}, locale = ${value(5)}, metadata = ${value(6)}, phone_digits = ${value(7)},
        search_text = ${value(8)}
      from json_each(${JSON.stringify(values)}) as given cross join users on users.id = ${value(0)}
      where edition_customers.edition_id = ${editionId} and edition_customers.user_seq = users.seq
        and edition_customers.email is ${value(9)} and edition_customers.phone_number is ${value(10)}
        and edition_customers.first_name = ${value(11)} and edition_customers.last_name = ${value(12)}
        and edition_customers.locale = ${value(13)} and json(edition_customers.metadata) = json(${value(14)})`,
    requireChanges(changes.length),
  ]
}

const listValues = ({ email, phone_number, first_name, last_name, locale, metadata }: EditionValues) => [
  email,
  phone_number,
  first_name,
  last_name,
  locale,
  JSON.stringify(metadata),
]

/** Changes a customer who is as they were read, and belongs to no edition whose customers the caller may not change. */
function userStatements(
  { user, changes }: Extract<RowChange, { write: 'user' }>,
  { changeable }: WriteScope,
): Statement[] {
  const isOurs = changeable === null ? sql`1` : sql`not ${isSharedOutside(sql`users`, changeable)}`
  const where = sql`id = ${user.id} and version = ${user.version} and ${isOurs}`
  return [update(users, { ...changes, version: user.version + 1 }, where), requireOneChange()]
}

/**
 * New payments, which take their references. A query of the table that it writes makes an insert read each row twice.
 */
function insertPayments({ organization_id, now }: WriteScope, writes: readonly Write[]): Statement[] {
  const rows = rowsOf(writes, 'transactions')
  const [withReference, others] = [
    rows.filter(({ provider_reference }) => typeof provider_reference === 'string'),
    rows.filter(({ provider_reference }) => typeof provider_reference !== 'string'),
  ]
  return [
    ...insertAll(transactions, others),
    ...insertWithLookups(
      transactions,
      withReference.map((row) => ({
        ...row,
        ...buildReferenceColumns(organization_id, row.provider_reference ?? null),
      })),
      { reference_since: (reference) => buildReferenceSince(organization_id, reference, now) },
    ),
  ]
}

/** What is refunded meanwhile is decided on anew. */
function paymentStatements(
  { payment, changes }: Extract<RowChange, { write: 'payment' }>,
  scope: WriteScope,
): Statement[] {
  const { organization_id, now } = scope
  const asRead = sql`id = ${payment.id} and status = ${payment.status}
    and refunded_minor = ${payment.refunded_minor} and reserved_minor = ${payment.reserved_minor}`
  return isEmpty(changes)
    ? [abortUnless(sql`exists (select 1 from transactions where ${asRead})`)]
    : [
        update(
          transactions,
          { ...changes, ...buildReferenceChange(organization_id, changes.provider_reference, now) },
          asRead,
        ),
        requireOneChange(),
      ]
}

/** Gives purchases a value each, all of them or none. */
const valueStatements = (column: 'valid_until' | 'user_id', values: readonly [string, unknown][], now: number) => [
  sql`update purchases set ${sql.raw(column)} = given.value ->> 1, modified_at = ${now}, version = version + 1
    from json_each(${JSON.stringify(values)}) as given where purchases.id = given.value ->> 0
      ${column === 'valid_until' ? sql`and ${inList(sql`status`, openPurchaseStatuses)}` : sql``}`,
  requireChanges(values.length),
]

function changeStatements(change: RowChange, scope: WriteScope): Statement[] {
  const { now } = scope
  switch (change.write) {
    case 'user':
      return userStatements(change, scope)
    case 'edition-customers':
      return editionCustomerStatements(change.changes, scope.edition_id)
    case 'order':
      return updateVersion(orders, change.order, {
        ...change.changes,
        search_text: rebuildOrderText({ ...change.order, ...change.changes }),
      })
    case 'payment':
      return paymentStatements(change, scope)
    case 'purchase-status': {
      const { status } = change
      const ids = change.purchases.map(({ id }) => id)
      return [
        sql`update purchases set status = ${status}, modified_at = ${now}, version = version + 1
          where ${inList(sql`id`, ids)} and ${inList(sql`status`, listStatusesMovedByOrder(status))}`,
        requireChanges(ids.length),
        ...(status === 'cancelled' ? buildCancelStatements(ids, now) : []),
      ]
    }
    case 'purchase-validity':
      return valueStatements(
        'valid_until',
        change.purchases.map(({ id, valid_until }) => [id, valid_until]),
        now,
      )
    case 'purchase-holders':
      return valueStatements(
        'user_id',
        change.purchases.map(({ id, user_id }) => [id, user_id]),
        now,
      )
    case 'passes':
      return [passChanged(change.purchase_ids, now)]
  }
}

/** Few statements however many orders: one a table for what is new, its rows as one parameter. */
export function statementsOf(scope: WriteScope, writes: readonly Write[], lists: LongerLists): Statement[] {
  return [
    ...insertAll(users, rowsOf(writes, 'users')),
    ...insertAll(products, rowsOf(writes, 'products')),
    ...insertAll(locations, rowsOf(writes, 'locations')),
    ...insertAll(variants, rowsOf(writes, 'variants')),
    ...insertAll(options, rowsOf(writes, 'options')),
    ...writes.flatMap((one) => (one.write === 'insert' ? [] : changeStatements(one, scope))),
    ...insertEditionCustomers(rowsOf(writes, 'customers')),
    ...insertAll(orders, rowsOf(writes, 'orders')),
    ...insertPayments(scope, writes),
    ...insertAll(purchases, rowsOf(writes, 'purchases')),
    ...growth(scope.organization_id, writes, lists),
  ]
}
