import { type SQL, sql } from 'drizzle-orm'
import { capturedStatuses, paidStatuses } from '../domain/orders/orders.ts'
import { heldStatuses } from '../domain/orders/purchases.ts'
import { type RefundStatus, reservedStatuses } from '../domain/refunds/refunds.ts'
import { inWords } from './conditions.ts'

const countedStatuses: readonly RefundStatus[] = [...reservedStatuses, 'completed']

/** The amount of a payment that can still be refunded, in minor units. 0 unless it was captured. */
export const buildPaymentRemainder = (payment: SQL): SQL =>
  sql`iif(${inWords(sql`${payment}.status`, paidStatuses)},
    max(0, ${payment}.amount_minor - ${payment}.refunded_minor - ${payment}.reserved_minor), 0)`

/** 1 for a purchase that its customer holds, and for one that is cancelled together with its order. */
export const isRefundable = (purchase: SQL): SQL =>
  sql`(${inWords(sql`${purchase}.status`, heldStatuses)} or (${purchase}.status = 'cancelled' and exists (select 1
    from orders as own_order where own_order.id = ${purchase}.order_id and own_order.status = 'cancelled')))`

/**
 * The amount paid for a purchase that is neither refunded nor reserved, without looking at its payment. 0 unless the
 * purchase is refundable. It includes the handling fee if `fees` is 1.
 */
export const buildPurchaseShare = (purchase: SQL, fees: SQL): SQL =>
  sql`iif(${isRefundable(purchase)}, max(0, ${purchase}.price_minor + ${purchase}.deposit_minor
    + ${purchase}.handling_fee_minor * ${fees} - ${purchase}.refunded_minor - ${purchase}.reserved_minor), 0)`

/** The most that can be refunded for a purchase. Responses and guards use this and `buildOrderRemainder`. */
export const buildPurchaseRemainder = (purchase: SQL, payment: SQL, fees: SQL = sql`0`): SQL =>
  sql`min(${buildPurchaseShare(purchase, fees)}, ${buildPaymentRemainder(payment)})`

/**
 * The most that can be refunded for an order or its payment: the remainder of its purchases, but no more than the
 * remainder of the payment. With `fees` it is the whole remainder of the payment.
 */
export const buildOrderRemainder = (orderId: SQL, payment: SQL, fees: SQL = sql`0`): SQL =>
  sql`iif(${fees} = 1, ${buildPaymentRemainder(payment)}, min(${buildPaymentRemainder(payment)},
    (select coalesce(sum(${buildPurchaseShare(sql`order_purchases`, sql`0`)}), 0)
      from purchases as order_purchases where order_purchases.order_id = ${orderId})))`

/**
 * The columns that find a payment of the organisation by its reference. `reference_since` holds the reference until
 * `insertWithLookups` or `buildReferenceSince` replaces it with a time.
 */
export const buildReferenceColumns = (organizationId: string, reference: string | null) => ({
  organization_id: reference === null ? null : organizationId,
  reference_since: reference,
})

/** The time at which a payment got its reference. It is later than that of every payment with the same reference. */
export const buildReferenceSince = (organizationId: string, reference: SQL, now: number): SQL =>
  sql`iif(${reference} is null, null, max(${now}, (select coalesce(max(reference_since), 0) + 1 from transactions
    where organization_id = ${organizationId} and provider_reference = ${reference}
      and reference_since is not null)))`

/** The id of an account, or null when it was deleted since it was read. */
export const selectAccount = (accountId: SQL): SQL => sql`(select id from merchant_accounts where id = ${accountId})`

/** Adds the columns that change with the reference of a payment to its changes. */
export const buildPaymentChanges = <
  Changes extends { provider_reference?: string | null; merchant_account_id?: string | null },
>(
  organizationId: string,
  changes: Changes,
  now: number,
) => {
  const { provider_reference: reference, merchant_account_id } = changes
  const account =
    merchant_account_id === undefined ? {} : { merchant_account_id: selectAccount(sql`${merchant_account_id}`) }
  if (reference === undefined) return { ...changes, ...account }
  const reference_since = buildReferenceSince(organizationId, sql`${reference}`, now)
  return { ...changes, ...account, ...buildReferenceColumns(organizationId, reference), reference_since }
}

/**
 * 1 if another edition of the organisation has an order whose payment has one of these references. `references` is a
 * JSON array.
 */
export const isPaymentOfOtherEdition = (organizationId: SQL, editionId: SQL, references: SQL): SQL =>
  sql`exists (select 1 from json_each(${references}) as reference
    cross join transactions as payment on payment.organization_id = ${organizationId}
      and payment.provider_reference = reference.value and payment.reference_since is not null
    cross join orders as other_order on other_order.id = payment.order_id
    where other_order.edition_id <> ${editionId})`

/** If more payments match a prefix, the result is 1 without looking further. */
const maxComparedPayments = 1000

/** The first text after all texts with this prefix. */
const computePrefixEnd = (prefix: string): string =>
  prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)

/** 1 if another edition of the organisation may have a payment whose reference begins with one of these prefixes. */
export const mayBePaymentOfOtherEdition = (organizationId: string, editionId: SQL, prefixes: readonly string[]): SQL =>
  prefixes.length === 0
    ? sql`0`
    : sql.join(
        prefixes.map(
          (
            prefix,
          ) => sql`(select coalesce(max(other_order.edition_id <> ${editionId}), 0) or count(*) = ${maxComparedPayments}
    from (select order_id from transactions where organization_id = ${organizationId}
      and provider_reference >= ${prefix} and provider_reference < ${computePrefixEnd(prefix)}
      and reference_since is not null limit ${maxComparedPayments}) as payment
    cross join orders as other_order on other_order.id = payment.order_id)`,
        ),
        sql` or `,
      )

/**
 * The edition in which a refund that was made at the provider is recorded: the one for which a role of the organisation
 * approved a refund of the payment, otherwise the one of the order that has had one of its references longest. Null if no
 * order has one. `references` is a JSON array.
 */
export const selectRecordingEdition = (organizationId: string, references: SQL): SQL =>
  sql`(select orders.edition_id from json_each(${references}) as reference
    cross join transactions as payment on payment.organization_id = ${organizationId}
      and payment.provider_reference = reference.value and payment.reference_since is not null
    cross join orders on orders.id = payment.order_id
    order by exists (select 1 from refund_requests where refund_requests.transaction_id = payment.id
      and payment_check = 'own' and is_approved_by_organization = 1) desc, payment.reference_since, payment.order_id
    limit 1)`

/** The amount that is refunded or reserved of all payments of the organisation that have the reference of a payment. */
export const buildReferenceTotal = (payment: SQL): SQL =>
  sql`iif(${payment}.reference_since is null, ${payment}.refunded_minor + ${payment}.reserved_minor,
    (select sum(sharing.refunded_minor + sharing.reserved_minor) from transactions as sharing
      where sharing.organization_id = ${payment}.organization_id
        and sharing.provider_reference = ${payment}.provider_reference and sharing.reference_since is not null))`

/**
 * The remainder of a payment that several orders of the edition share by its reference: the sum of their amounts minus
 * what is refunded or reserved, and minus what the provider refunded beyond the amount of an order. Null for a payment
 * without a reference.
 */
export const buildSharedRemainder = (payment: SQL, editionId: SQL): SQL =>
  sql`(select sum(sharing.amount_minor - sharing.refunded_minor - sharing.reserved_minor
      - coalesce((select sum(requested_minor - approved_minor) from refund_requests
        where transaction_id = sharing.id and source = 'provider'
          and currency = sharing.currency and ${inWords(sql`status`, countedStatuses)}), 0))
    from transactions as sharing cross join orders as sharer on sharer.id = sharing.order_id
    where sharing.organization_id = ${payment}.organization_id
      and sharing.provider_reference = ${payment}.provider_reference and sharing.reference_since is not null
      and sharing.currency = ${payment}.currency and sharer.edition_id = ${editionId}
      and ${inWords(sql`sharing.status`, capturedStatuses)})`
