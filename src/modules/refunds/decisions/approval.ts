import type { JobCtx } from '../../../context.ts'
import type { Statement } from '../../../db/database.ts'
import type { RefundRow } from '../../../db/rows.ts'
import { AppError } from '../../../domain/errors.ts'
import type { PaymentService } from '../../../gateways/payments/payments.ts'
import { findReadyAccount, type DecryptedAccount, type PaymentRoute } from '../../merchant-accounts/index.ts'
import {
  buildCompletion,
  enqueueRefunds,
  requireUnchangedPurchases,
  buildRefundAnnouncements,
  untriedPaymentColumns,
  type RefundedPurchase,
} from '../../refund-payments/index.ts'
import { enqueueEmails } from '../../transactional-emails/index.ts'
import type { Announcement } from '../../webhooks/index.ts'
import type { RefundableOrder } from '../refundable-order.ts'
import { requireSharedPaymentCover } from '../reserve.ts'

/** The way in which a refund is paid. */
export interface Payout {
  service: PaymentService
  merchant_account_id: string | null
  /** `at once`: completed by its approval. `by hand`: waits for a person. `by provider`: paid by the queue consumer. */
  way: 'at once' | 'by hand' | 'by provider'
}

type PaidPayment = Pick<
  RefundableOrder,
  'organization_id' | 'merchant_account_id' | 'provider_account' | 'provider_reference'
>

/** Returns null when the account of the payment is not ready. */
export type FindAccount = (route: PaymentRoute) => Promise<DecryptedAccount | null>

/**
 * Chooses how an amount of a payment is paid back. Returns null when the merchant account is not ready. Payments
 * without an account, and Stripe payments without a reference, are paid back by hand and wait for a person's
 * confirmation.
 */
export async function choosePayout(
  ctx: Pick<JobCtx, 'db' | 'config'>,
  payment: PaidPayment,
  amount: number,
  findAccount: FindAccount = (route) => findReadyAccount(ctx, route),
): Promise<Payout | null> {
  const byHand = { service: 'manual', merchant_account_id: null, way: 'by hand' } as const
  if (amount === 0) return { ...byHand, way: 'at once' }
  const { organization_id, merchant_account_id, provider_account } = payment
  if (merchant_account_id === null) return byHand
  const account = await findAccount({ organization_id, merchant_account_id, provider_account })
  if (account === null) return null
  if (account.service === 'manual') return { ...byHand, way: account.settle_manually ? 'by hand' : 'at once' }
  if (account.service === 'stripe' && payment.provider_reference === null) return byHand
  return { service: account.service, merchant_account_id: account.id, way: 'by provider' }
}

export const merchantNotReady = (): AppError =>
  new AppError('merchant_not_ready', 'The merchant account of this payment has no API key or is switched off.')

/** The reason why a refund waits that a person pays. */
const waitingForPerson = 'A person has to pay this refund by hand and confirm it with `settle`.'

/** Builds the columns that an approval sets. It clears those of an earlier attempt. */
export const buildApprovedColumns = (
  refund: RefundRow,
  { service, merchant_account_id, way }: Payout,
  now: number,
) => ({
  status: way === 'by hand' ? ('processing' as const) : ('approved' as const),
  service,
  merchant_account_id,
  attempts: way === 'by provider' ? refund.attempts : refund.attempts + 1,
  due_at: way === 'by provider' ? now : null,
  ...untriedPaymentColumns,
  ...(way === 'by hand' ? { waiting_reason: waitingForPerson, waiting_since: now } : {}),
})

interface Approval {
  /** The refund after the statements have run. */
  refund: RefundRow
  statements: Statement[]
  announcements: Announcement[]
  /** Sends the queue messages after the commit. */
  enqueue: (job: JobCtx) => Promise<void>
}

/** Builds what follows an approval. `refund` is the approved row, which earlier statements of the batch write. */
export async function buildApproval(
  ctx: JobCtx,
  refund: RefundRow,
  { way }: Payout,
  purchases: readonly RefundedPurchase[],
): Promise<Approval> {
  const now = ctx.now()
  const amount_minor = refund.approved_minor ?? refund.requested_minor
  const approvalAnnouncements = buildRefundAnnouncements(refund, purchases, {
    action: 'refund_approved',
    status: 'approved',
    amount_minor,
    occurredAt: now,
  })
  const purchaseChecks = requireUnchangedPurchases(purchases)
  if (way === 'by provider') {
    const statements = [...purchaseChecks, requireSharedPaymentCover(refund)]
    return { refund, statements, announcements: approvalAnnouncements, enqueue: enqueueRefunds }
  }
  if (way === 'by hand')
    return { refund, statements: purchaseChecks, announcements: approvalAnnouncements, enqueue: async () => undefined }
  const { statements, announcements } = await buildCompletion(ctx, refund, { provider_reference: null, purchases })
  return {
    refund: {
      ...refund,
      status: 'completed',
      refunded_minor: amount_minor,
      completed_at: now,
      version: refund.version + 1,
    },
    statements,
    announcements: [...approvalAnnouncements, ...announcements],
    enqueue: enqueueEmails,
  }
}
