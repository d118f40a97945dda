import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { retryLostRaces } from '../../../db/commit.ts'
import { paymentEvents, refundRequests, type RefundRow } from '../../../db/schema/sales/refunds.ts'
import { select } from '../../../db/select.ts'
import { insert } from '../../../db/write.ts'
import { AppError, LostRace } from '../../../domain/errors.ts'
import { refundOfKey } from '../../../domain/refunds/refund-payments.ts'
import {
  type PaymentEvent,
  type PaymentGateway,
  PaymentProviderUnavailable,
  type ProviderRefund,
} from '../../../gateways/payments/payments.ts'
import { accessOfWebhook, type MerchantAccount } from '../../merchant-accounts/index.ts'
import { enqueueEmails } from '../../transactional-emails/index.ts'
import { commitAnnounced } from '../../webhooks/index.ts'
import type { RefundChanges } from '../complete.ts'
import { changesBy, changesByEarlier, flagStatements } from '../outcome.ts'
import { providerRefundChanges } from './provider-refund.ts'
import { loadRefund } from '../refund.ts'

/** An unknown account and a wrong signature get the same answer. */
const refused = (): AppError =>
  new AppError('not_authenticated', 'The signature is missing, too old or does not fit the body.')

const unavailable = (cause: unknown): AppError =>
  new AppError('overloaded', 'The provider cannot be reached now. Send the event again.', {
    headers: { 'retry-after': '60' },
    cause,
  })

async function verified(
  gateway: PaymentGateway,
  request: { headers: Headers; body: Uint8Array<ArrayBuffer> },
  now: number,
): Promise<PaymentEvent | null> {
  try {
    return await gateway.verify(request.headers, request.body, now)
  } catch (error) {
    throw error instanceof AppError && error.code === 'not_authenticated' ? refused() : error
  }
}

const isKnown = async ({ db }: JobCtx, account: string, event: string): Promise<boolean> =>
  (await db.first(
    select({ id: paymentEvents.id })
      .from(paymentEvents)
      .where(and(eq(paymentEvents.merchant_account_id, account), eq(paymentEvents.id, event))),
  )) !== undefined

const byReference = ({ db }: JobCtx, account: MerchantAccount, reference: string) =>
  db.first(
    select(getTableColumns(refundRequests))
      .from(refundRequests)
      .where(
        and(
          eq(refundRequests.merchant_account_id, account.id),
          eq(refundRequests.provider_reference, reference),
          // Written out for the partial index.
          sql`${refundRequests.service} <> 'manual'`,
        ),
      ),
  )

/**
 * The provider paid an attempt although the request's status excludes it. The amount is recorded, and the request is
 * flagged for a manual check.
 */
async function paidBeside(
  job: JobCtx,
  account: MerchantAccount,
  ours: RefundRow,
  refund: ProviderRefund,
): Promise<RefundChanges> {
  const record = await providerRefundChanges(job, account, refund)
  return {
    statements: [...flagStatements(job, ours), ...(record?.statements ?? [])],
    announcements: record?.announcements ?? [],
  }
}

/**
 * The changes by an event. Its refund is found by its reference, then by our key; otherwise it is a new refund that was
 * made at the provider.
 */
async function changesOf(job: JobCtx, account: MerchantAccount, refund: ProviderRefund): Promise<RefundChanges | null> {
  const id = refundOfKey(refund.key)
  const named = id === null ? undefined : await loadRefund(job, id)
  const ours = named?.organization_id === account.organization_id ? named : undefined
  const recorded = await byReference(job, account, refund.provider_reference)
  if (recorded && recorded.id !== ours?.id) return changesBy(job, recorded, refund.outcome)
  if (!ours) return providerRefundChanges(job, account, refund)
  const isCurrent = ours.provider_key === refund.key
  const isPaid = refund.outcome.state === 'completed'
  if (isPaid && (isCurrent ? ours.status === 'failed' : ours.status !== 'approved'))
    return recorded
      ? { statements: flagStatements(job, ours), announcements: [] }
      : paidBeside(job, account, ours, refund)
  return isCurrent ? changesBy(job, ours, refund.outcome) : changesByEarlier(job, ours, refund.outcome)
}

const races = {
  'payment_events.merchant_account_id, payment_events.id': () => new LostRace('the event came twice'),
  'refund_requests.merchant_account_id, refund_requests.provider_reference': () =>
    new LostRace('another event recorded the refund'),
}

/**
 * Records the event and its changes in one transaction. False when the event was recorded before or changes nothing.
 */
async function apply(
  job: JobCtx,
  account: MerchantAccount,
  event: PaymentEvent,
  refund: ProviderRefund,
): Promise<boolean> {
  if (await isKnown(job, account.id, event.id)) return false
  const changes = await changesOf(job, account, refund)
  const row = {
    merchant_account_id: account.id,
    id: event.id,
    kind: event.type,
    provider_reference: event.provider_reference,
    created_at: job.now(),
  }
  const { statements = [], announcements = [] } = changes ?? {}
  await commitAnnounced(job, [insert(paymentEvents, row), ...statements], announcements, races)
  return statements.length > 0
}

/**
 * Handles what a provider posts to a merchant account. An event only names the refund to look up, so that their order
 * does not matter. A failure on our side is answered with an error, and the provider sends the event again.
 */
export async function receivePaymentEvent(
  job: JobCtx,
  accountId: string,
  request: { headers: Headers; body: Uint8Array<ArrayBuffer> },
): Promise<void> {
  const account = await accessOfWebhook(job, accountId)
  if (account?.service !== 'stripe') throw refused()
  const event = await verified(job.payments.of(account), request, job.now())
  if (!event || (await isKnown(job, account.id, event.id))) return
  const gateway = job.payments.of({ ...account, provider_account: event.provider_account ?? account.provider_account })
  const refund = await gateway.find(event.provider_reference).catch((error: unknown) => {
    throw error instanceof PaymentProviderUnavailable ? unavailable(error) : error
  })
  if (!refund) return
  if (await retryLostRaces(() => apply(job, account, event, refund))) await enqueueEmails(job).catch(() => undefined)
}
