import type { JobCtx } from '../../../context.ts'
import type { Statement } from '../../../db/database.ts'
import { AppError } from '../../../domain/errors.ts'
import type { PaymentService } from '../../../gateways/payments/payments.ts'
import { accessOf, type MerchantAccount, type PaidThrough } from '../../merchant-accounts/index.ts'
import {
  completionStatements,
  enqueueRefunds,
  purchasesAreAsRead,
  refundAnnouncements,
  type RefundedPurchase,
} from '../../refund-payments/index.ts'
import { enqueueEmails } from '../../transactional-emails/index.ts'
import type { Announcement } from '../../webhooks/index.ts'
import { sharedPaymentCovers } from '../reserve.ts'
import type { RefundSubject } from '../subject.ts'
import type { RefundRow } from '../../../db/schema/sales/refunds.ts'

/** How a refund is paid back. */
export interface PayingBack {
  service: PaymentService
  merchant_account_id: string | null
  /** `at once` is true with the approval, `by hand` waits for a person, `by provider` for the queue. */
  way: 'at once' | 'by hand' | 'by provider'
}

type PayingAccount = Pick<
  RefundSubject,
  'edition_id' | 'edition_account_id' | 'merchant_account_id' | 'provider_reference'
>

/** Finds the account of a payment; null for one that is not ready. */
export type FindAccount = (paid: PaidThrough) => Promise<MerchantAccount | null>

/**
 * How an amount of a payment is paid back; null when its merchant account is not ready. A payment without an account is
 * paid back by hand. So is one of a Stripe account that has no reference: it waits until a person says that it was paid.
 */
export async function payingBack(
  ctx: Pick<JobCtx, 'db' | 'config'>,
  paid: PayingAccount,
  amount: number,
  findAccount: FindAccount = (through) => accessOf(ctx, through),
): Promise<PayingBack | null> {
  const byHand = { service: 'manual', merchant_account_id: null, way: 'at once' } as const
  if (amount === 0 || (paid.merchant_account_id ?? paid.edition_account_id) === null) return byHand
  const { edition_id, merchant_account_id } = paid
  const account = await findAccount({ edition_id, merchant_account_id })
  if (account === null) return null
  if (account.service === 'manual') return { ...byHand, way: account.settle_manually ? 'by hand' : 'at once' }
  if (account.service === 'stripe' && paid.provider_reference === null) return { ...byHand, way: 'by hand' }
  return { service: account.service, merchant_account_id: account.id, way: 'by provider' }
}

export const merchantNotReady = (): AppError =>
  new AppError('merchant_not_ready', 'The merchant account of this payment has no key, or is switched off.')

/** The columns after an approval; those of an earlier attempt are cleared. */
export const approvedColumns = (refund: RefundRow, { service, merchant_account_id, way }: PayingBack, now: number) => ({
  status: way === 'by hand' ? ('processing' as const) : ('approved' as const),
  service,
  merchant_account_id,
  attempts: way === 'by provider' ? refund.attempts : refund.attempts + 1,
  provider_key: null,
  provider_key_at: null,
  is_payable: false,
  provider_reference: null,
  failure_code: null,
  failure_message: null,
  due_at: way === 'by provider' ? now : null,
  lease_until: null,
  checks: 0,
  needs_attention: false,
})

interface Approved {
  /** The refund as it is after the statements. */
  refund: RefundRow
  statements: Statement[]
  announcements: Announcement[]
  /** Sends the messages of the queue after the commit. */
  enqueue: (job: JobCtx) => Promise<void>
}

const enqueueNothing = async (): Promise<void> => undefined

/** What follows an approval: `refund` is the approved row as the statements before have written it. */
export async function afterApproval(
  ctx: JobCtx,
  refund: RefundRow,
  { way }: PayingBack,
  purchases: readonly RefundedPurchase[],
): Promise<Approved> {
  const now = ctx.now()
  const amount_minor = refund.approved_minor ?? refund.requested_minor
  const approved = refundAnnouncements(refund, purchases, {
    action: 'refund_approved',
    status: 'approved',
    amount_minor,
    occurredAt: now,
  })
  const read = purchasesAreAsRead(purchases)
  if (way === 'by provider') {
    const statements = [...read, sharedPaymentCovers(refund)]
    return { refund, statements, announcements: approved, enqueue: enqueueRefunds }
  }
  if (way === 'by hand') return { refund, statements: read, announcements: approved, enqueue: enqueueNothing }
  const { statements, announcements } = await completionStatements(ctx, refund, { provider_reference: null, purchases })
  return {
    refund: {
      ...refund,
      status: 'completed',
      refunded_minor: amount_minor,
      completed_at: now,
      version: refund.version + 1,
    },
    statements,
    announcements: [...approved, ...announcements],
    enqueue: enqueueEmails,
  }
}
