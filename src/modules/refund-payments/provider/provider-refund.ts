import { and, asc, eq, isNotNull, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { abortUnless } from '../../../db/commit.ts'
import { inList } from '../../../db/conditions.ts'
import { selectRecordingEdition } from '../../../db/refunds.ts'
import type { RefundRow } from '../../../db/rows.ts'
import { orders, transactions } from '../../../db/schema/orders.ts'
import { refundRequests } from '../../../db/schema/refunds.ts'
import { type RowOf, select } from '../../../db/select.ts'
import { insert } from '../../../db/write.ts'
import { toMajor } from '../../../domain/money.ts'
import { computeNextCheck, computeNextRecheck } from '../../../domain/refunds/refund-payments.ts'
import type { ProviderRefund } from '../../../gateways/payments/payments.ts'
import type { DecryptedAccount } from '../../merchant-accounts/index.ts'
import { movePayment } from '../amounts.ts'
import { buildTransaction, type RefundChanges } from '../complete.ts'
import { buildRefundAudit, buildRefundEvent, untriedPaymentColumns } from '../refund.ts'

const paymentFields = {
  id: transactions.id,
  order_id: transactions.order_id,
  user_id: orders.user_id,
  edition_id: orders.edition_id,
  amount_minor: transactions.amount_minor,
  refunded_minor: transactions.refunded_minor,
  currency: transactions.currency,
}

type PaymentRow = RowOf<typeof paymentFields>

/**
 * Finds the payment of a refund by any of its references. Its status does not matter: a refund proves that the provider
 * took the money, even if the order was cancelled since or its source has not reported the payment yet. The payment
 * is one of the edition that `selectRecordingEdition` chooses. Of orders that share it, the first with enough left counts.
 */
function loadPayment({ db }: JobCtx, account: DecryptedAccount, refund: ProviderRefund) {
  const edition = selectRecordingEdition(account.organization_id, sql`${JSON.stringify(refund.payments)}`)
  return db.first(
    select(paymentFields)
      .from(transactions)
      .innerJoin(orders, eq(orders.id, transactions.order_id))
      .where(
        and(
          eq(transactions.organization_id, account.organization_id),
          inList(sql`${transactions.provider_reference}`, refund.payments),
          isNotNull(transactions.reference_since),
          sql`${orders.edition_id} = ${edition}`,
          eq(transactions.merchant_account_id, account.id),
        ),
      )
      .orderBy(
        sql`${transactions.currency} = ${refund.currency}
          and ${transactions.amount_minor} - ${transactions.refunded_minor} >= ${refund.amount_minor} desc`,
        asc(transactions.reference_since),
        asc(transactions.id),
      )
      .limit(1),
  )
}

/** Returns the amount of the refund, at most what is left of the payment; 0 in another currency. */
const computeCountedAmount = (payment: PaymentRow, refund: ProviderRefund): number =>
  payment.currency === refund.currency
    ? Math.max(0, Math.min(refund.amount_minor, payment.amount_minor - payment.refunded_minor))
    : 0

function buildRefundRow(
  job: JobCtx,
  account: DecryptedAccount,
  payment: PaymentRow,
  refund: ProviderRefund,
): RefundRow {
  const now = job.now()
  const countedMinor = computeCountedAmount(payment, refund)
  const isCompleted = refund.outcome.state === 'completed'
  const next = computeNextCheck({ began_at: now, checks: 0, is_accepted: true }, now)
  return {
    id: job.newId('refund_request'),
    organization_id: account.organization_id,
    edition_id: payment.edition_id,
    order_id: payment.order_id,
    transaction_id: payment.id,
    purchase_id: null,
    user_id: payment.user_id,
    batch_id: null,
    target: 'transaction',
    status: isCompleted ? 'completed' : 'processing',
    source: 'provider',
    reason: 'other',
    comment: '',
    currency: refund.currency,
    requested_minor: refund.amount_minor,
    approved_minor: countedMinor,
    refunded_minor: isCompleted ? countedMinor : 0,
    price_minor: 0,
    deposit_minor: 0,
    handling_fee_minor: 0,
    service_fee_minor: 0,
    include_fees: false,
    cancel_purchase: false,
    notify_customer: false,
    requested_by: null,
    reviewed_by: null,
    reviewed_at: null,
    rejection_reason: null,
    note: null,
    service: account.service,
    merchant_account_id: account.id,
    attempts: 0,
    ...untriedPaymentColumns,
    is_approved_by_organization: false,
    provider_reference: refund.provider_reference,
    due_at: isCompleted ? computeNextRecheck(now, now) : next.due_at,
    needs_attention: countedMinor !== refund.amount_minor,
    metadata: {},
    version: 1,
    created_at: now,
    modified_at: now,
    completed_at: isCompleted ? now : null,
  }
}

/**
 * Records a refund that was made at the provider. Its amount counts on the payment even if open requests have reserved
 * it, because the money is gone. Purchases do not change. Returns null for a refund that failed or whose outcome or
 * payment is unknown.
 */
export async function buildProviderRefund(
  job: JobCtx,
  account: DecryptedAccount,
  refund: ProviderRefund,
): Promise<RefundChanges | null> {
  const { state } = refund.outcome
  if (state !== 'completed' && state !== 'pending') return null
  const payment = await loadPayment(job, account, refund)
  if (!payment) return null
  const row = buildRefundRow(job, account, payment, refund)
  const countedMinor = row.approved_minor ?? 0
  const move =
    state === 'completed'
      ? ({ refundedSign: 1, reservedSign: 0 } as const)
      : ({ refundedSign: 0, reservedSign: 1 } as const)
  const after = { status: row.status, source: row.source, amount: toMajor(refund.amount_minor) }
  return {
    statements: [
      abortUnless(
        sql`(select refunded_minor from transactions where transactions.id = ${row.transaction_id})
          = ${payment.refunded_minor}`,
      ),
      insert(refundRequests, row),
      movePayment(row, countedMinor, move),
      ...(state === 'completed' ? buildTransaction(job, row, refund.provider_reference) : []),
      buildRefundAudit(job, 'recordProviderRefund', row, { before: null, after }),
    ],
    announcements:
      state === 'completed'
        ? [
            buildRefundEvent(row, {
              status: state,
              previous_status: null,
              amount_minor: countedMinor,
              failure_code: null,
              occurredAt: row.created_at,
            }),
          ]
        : [],
  }
}
