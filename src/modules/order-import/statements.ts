import { sql } from 'drizzle-orm'
import { requireChanges, requireOneChange, abortUnless } from '../../db/commit.ts'
import { inList } from '../../db/conditions.ts'
import { insertEditionCustomers } from '../../db/customers.ts'
import { isSharedOutside } from '../../db/customers.ts'
import type { Statement } from '../../db/database.ts'
import { buildPaymentChanges, buildReferenceColumns, buildReferenceSince, selectAccount } from '../../db/refunds.ts'
import { locations, options, products, variants } from '../../db/schema/catalog.ts'
import { users } from '../../db/schema/customers.ts'
import { orders, transactions } from '../../db/schema/orders.ts'
import { purchases } from '../../db/schema/purchases.ts'
import { rebuildOrderText } from '../../db/search.ts'
import { insertAll, insertWithLookups, isEmpty, splitIntoParameters, update, updateVersion } from '../../db/write.ts'
import { buildSearchColumns } from '../../domain/accounts/users.ts'
import { listStatusesMovedByOrder } from '../../domain/orders/purchases.ts'
import { buildCancelStatements } from '../refunds/index.ts'
import { markHoldersChanged, markPassesChanged } from '../wallet/index.ts'
import type { EditionValues } from './state.ts'
import {
  type EditionCustomerChange,
  listInsertedRows,
  type NewRows,
  type PurchaseDetails,
  type RowChange,
  type Write,
} from './writes.ts'

interface WriteScope {
  organization_id: string
  edition_id: string
  /** Editions whose customers the import may change; null for all editions of the organisation. */
  changeable: readonly string[] | null
  /** Milliseconds UTC. */
  now: number
}

/** Fails if the edition's values have changed since they were read. */
function buildEditionCustomerStatements(
  changes: readonly EditionCustomerChange[],
  { edition_id: editionId, now }: WriteScope,
): Statement[] {
  const values = changes.map(({ user_id, before, after }) => {
    const { phone_digits, search_text } = buildSearchColumns(after)
    return [user_id, ...listEditionValues(after), phone_digits, search_text, ...listEditionValues(before), editionId]
  })
  const nameChanges = changes.filter(
    ({ before, after }) => before.first_name !== after.first_name || before.last_name !== after.last_name,
  )
  const value = (place: number) => sql.raw(`item.value ->> ${place}`)
  return [
    sql`update edition_customers set email = ${value(1)}, phone_number = ${value(2)}, first_name = ${value(3)},
        last_name = ${value(4)}, locale = ${value(5)}, metadata = ${value(6)}, phone_digits = ${value(7)},
        search_text = ${value(8)}
      from json_each(${JSON.stringify(values)}) as item cross join users on users.id = ${value(0)}
      where edition_customers.edition_id = ${value(15)} and edition_customers.user_seq = users.seq
        and edition_customers.email is ${value(9)} and edition_customers.phone_number is ${value(10)}
        and edition_customers.first_name = ${value(11)} and edition_customers.last_name = ${value(12)}
        and edition_customers.locale = ${value(13)} and json(edition_customers.metadata) = json(${value(14)})`,
    requireChanges(changes.length),
    ...(nameChanges.length
      ? [
          markHoldersChanged(
            editionId,
            nameChanges.map(({ user_id }) => user_id),
            now,
          ),
        ]
      : []),
  ]
}

const listEditionValues = ({ email, phone_number, first_name, last_name, locale, metadata }: EditionValues) => [
  email,
  phone_number,
  first_name,
  last_name,
  locale,
  JSON.stringify(metadata),
]

/** Fails if the customer has changed since the read, or belongs to an edition that the caller may not change. */
function buildUserStatements(
  { user, changes }: Extract<RowChange, { write: 'user' }>,
  { changeable }: WriteScope,
): Statement[] {
  const mayChange = changeable === null ? sql`1` : sql`not ${isSharedOutside(sql`users`, changeable)}`
  const where = sql`id = ${user.id} and version = ${user.version} and ${mayChange}`
  return [update(users, { ...changes, version: user.version + 1 }, where), requireOneChange()]
}

const withAccount = (row: NewRows['transactions']) => ({ ...row, merchant_account_id: row.merchant_account_id ?? null })

/** An insert that queries its own table makes SQLite read each row twice, so only payments with a reference do that. */
function insertPayments({ organization_id, now }: WriteScope, writes: readonly Write[]): Statement[] {
  const rows = listInsertedRows(writes, 'transactions')
  const [withReference, others] = [
    rows.filter(({ provider_reference }) => typeof provider_reference === 'string'),
    rows.filter(({ provider_reference }) => typeof provider_reference !== 'string'),
  ]
  return [
    ...insertWithLookups(transactions, others.map(withAccount), { merchant_account_id: selectAccount }),
    ...insertWithLookups(
      transactions,
      withReference.map((row) => ({
        ...withAccount(row),
        ...buildReferenceColumns(organization_id, row.provider_reference ?? null),
      })),
      {
        reference_since: (reference) => buildReferenceSince(organization_id, reference, now),
        merchant_account_id: selectAccount,
      },
    ),
  ]
}

/** Fails if the payment was refunded, or an amount was reserved, since the read. */
function buildPaymentStatements(
  { payment, changes }: Extract<RowChange, { write: 'payment' }>,
  scope: WriteScope,
): Statement[] {
  const { organization_id, now } = scope
  const isAsRead = sql`id = ${payment.id} and status = ${payment.status}
    and refunded_minor = ${payment.refunded_minor} and reserved_minor = ${payment.reserved_minor}`
  return isEmpty(changes)
    ? [abortUnless(sql`exists (select 1 from transactions where ${isAsRead})`)]
    : [update(transactions, buildPaymentChanges(organization_id, changes, now), isAsRead), requireOneChange()]
}

/** Fails if a purchase has changed since it was read. */
export function buildDetailStatements(
  details: readonly (PurchaseDetails & { id: string; version: number })[],
  now: number,
): Statement[] {
  const rows = details.map((row) =>
    JSON.stringify([
      row.id,
      row.version,
      row.user_id,
      row.product_id,
      row.variant_id,
      row.location_id,
      row.options,
      row.vendor_code,
      row.uses_limit,
      Number(row.is_unlimited_use),
      row.valid_until,
      row.price_minor,
      row.deposit_minor,
      row.handling_fee_minor,
      row.status,
    ]),
  )
  return splitIntoParameters(rows).flatMap((part) => [
    sql`update purchases set user_id = item.value ->> 2, product_id = item.value ->> 3,
        variant_id = item.value ->> 4, location_id = item.value ->> 5, options = item.value -> 6,
        vendor_code = item.value ->> 7, uses_limit = item.value ->> 8, is_unlimited_use = item.value ->> 9,
        valid_until = item.value ->> 10, price_minor = item.value ->> 11, deposit_minor = item.value ->> 12,
        handling_fee_minor = item.value ->> 13, status = item.value ->> 14, modified_at = ${now},
        version = purchases.version + 1
      from json_each(${`[${part.join(',')}]`}) as item
      where purchases.id = item.value ->> 0 and purchases.version = item.value ->> 1`,
    requireChanges(part.length),
  ])
}

function buildChangeStatements(change: RowChange, scope: WriteScope): Statement[] {
  const { now } = scope
  switch (change.write) {
    case 'user':
      return buildUserStatements(change, scope)
    case 'edition-customers':
      return buildEditionCustomerStatements(change.changes, scope)
    case 'order':
      return updateVersion(orders, change.order, {
        ...change.changes,
        search_text: rebuildOrderText({ ...change.order, ...change.changes }),
      })
    case 'payment':
      return buildPaymentStatements(change, scope)
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
    case 'purchase-details':
      return buildDetailStatements(
        change.purchases.map(({ purchase, changes }) => ({ ...purchase, ...changes })),
        now,
      )
    case 'passes':
      return [markPassesChanged(change.purchase_ids, now)]
  }
}

/** Fails if a purchase of a cancelled order became valid after it was read, because its use was reverted. */
function requireNoLivePurchase(writes: readonly Write[]): Statement[] {
  const orderIds = writes.flatMap((write) =>
    write.write === 'order' && write.changes.status === 'cancelled' ? [write.order.id] : [],
  )
  if (orderIds.length === 0) return []
  const livePurchases = sql`select 1 from purchases where ${inList(sql`order_id`, orderIds)}
    and status in ('pending', 'active')`
  return [abortUnless(sql`not exists (${livePurchases})`)]
}

/** Builds one insert per table, which takes all new rows as one parameter, and the changes of existing rows. */
export function buildImportStatements(scope: WriteScope, writes: readonly Write[]): Statement[] {
  return [
    ...insertAll(users, listInsertedRows(writes, 'users')),
    ...insertAll(products, listInsertedRows(writes, 'products')),
    ...insertAll(locations, listInsertedRows(writes, 'locations')),
    ...insertAll(variants, listInsertedRows(writes, 'variants')),
    ...insertAll(options, listInsertedRows(writes, 'options')),
    ...writes.flatMap((write) => (write.write === 'insert' ? [] : buildChangeStatements(write, scope))),
    ...insertEditionCustomers(listInsertedRows(writes, 'customers')),
    ...insertAll(orders, listInsertedRows(writes, 'orders')),
    ...insertPayments(scope, writes),
    ...insertAll(purchases, listInsertedRows(writes, 'purchases')),
    ...requireNoLivePurchase(writes),
  ]
}
