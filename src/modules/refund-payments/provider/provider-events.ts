import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { retryLostRaces } from '../../../db/commit.ts'
import type { RefundRow } from '../../../db/rows.ts'
import { paymentEvents } from '../../../db/schema/merchant-accounts.ts'
import { refundRequests } from '../../../db/schema/refunds.ts'
import { select } from '../../../db/select.ts'
import { insert } from '../../../db/write.ts'
import { AppError, LostRace } from '../../../domain/errors.ts'
import { parseRefundKey } from '../../../domain/refunds/refund-payments.ts'
import { readSharedTime } from '../../../domain/time/instants.ts'
import {
  type PaymentEvent,
  type PaymentGateway,
  PaymentProviderUnavailable,
  type ProviderRefund,
} from '../../../gateways/payments/payments.ts'
import { findWebhookAccount, type DecryptedAccount } from '../../merchant-accounts/index.ts'
import { enqueueEmails } from '../../transactional-emails/index.ts'
import { commitAnnounced } from '../../webhooks/index.ts'
import type { RefundChanges } from '../complete.ts'
import { buildOutcomeChanges, buildEarlierOutcomeChanges, flagRefund } from '../outcome.ts'
import { loadRefund } from '../refund.ts'
import { buildProviderRefund } from './provider-refund.ts'

/** An unknown account and a wrong signature get the same response. */
const buildSignatureError = (): AppError =>
  new AppError('not_authenticated', 'The signature is missing, too old or does not match the body.')

const buildUnavailableError = (cause: unknown): AppError =>
  new AppError('overloaded', 'The payment provider cannot be reached now. Send the event again later.', {
    headers: { 'retry-after': '60' },
    cause,
  })

async function verifyEvent(
  gateway: PaymentGateway,
  post: { headers: Headers; body: Uint8Array<ArrayBuffer> },
  now: number,
): Promise<PaymentEvent | null> {
  try {
    return await gateway.readWebhook(post.headers, post.body, now)
  } catch (error) {
    throw error instanceof AppError && error.code === 'not_authenticated' ? buildSignatureError() : error
  }
}

const hasEvent = async ({ db }: JobCtx, account: string, event: string): Promise<boolean> =>
  (await db.first(
    select({ id: paymentEvents.id })
      .from(paymentEvents)
      .where(and(eq(paymentEvents.merchant_account_id, account), eq(paymentEvents.id, event))),
  )) !== undefined

const findByReference = ({ db }: JobCtx, account: DecryptedAccount, reference: string) =>
  db.first(
    select(getTableColumns(refundRequests))
      .from(refundRequests)
      .where(
        and(
          eq(refundRequests.merchant_account_id, account.id),
          eq(refundRequests.provider_reference, reference),
          // A literal, because the partial index names it.
          sql`${refundRequests.service} <> 'manual'`,
        ),
      ),
  )

/** Builds the record of an amount that the provider paid against the status of the request, which is flagged. */
async function buildUnexpectedPayment(
  job: JobCtx,
  account: DecryptedAccount,
  request: RefundRow,
  refund: ProviderRefund,
): Promise<RefundChanges> {
  const record = await buildProviderRefund(job, account, refund)
  return {
    statements: [...flagRefund(job, request), ...(record?.statements ?? [])],
    announcements: record?.announcements ?? [],
  }
}

/**
 * Builds the changes that follow from an event. The refund is found by its reference, then by the key of this service.
 * Otherwise it is a new refund that was made at the provider.
 */
async function buildEventChanges(
  job: JobCtx,
  account: DecryptedAccount,
  refund: ProviderRefund,
): Promise<RefundChanges | null> {
  const id = parseRefundKey(refund.key)
  const requestOfKey = id === null ? undefined : await loadRefund(job, id)
  const request = requestOfKey?.organization_id === account.organization_id ? requestOfKey : undefined
  const recordedRefund = await findByReference(job, account, refund.provider_reference)
  if (recordedRefund && recordedRefund.id !== request?.id)
    return buildOutcomeChanges(job, recordedRefund, refund.outcome)
  if (!request) return buildProviderRefund(job, account, refund)
  const isCurrent = request.provider_key === refund.key
  const isPaid = refund.outcome.state === 'completed'
  if (isPaid && (isCurrent ? request.status === 'failed' : request.status !== 'approved'))
    return recordedRefund
      ? { statements: flagRefund(job, request), announcements: [] }
      : buildUnexpectedPayment(job, account, request, refund)
  return isCurrent
    ? buildOutcomeChanges(job, request, refund.outcome)
    : buildEarlierOutcomeChanges(job, request, refund.outcome)
}

const races = {
  'payment_events.merchant_account_id, payment_events.id': () => new LostRace('the event came twice'),
  'refund_requests.merchant_account_id, refund_requests.provider_reference': () =>
    new LostRace('another event recorded the refund'),
}

/** Records the event and its changes in one transaction. Returns false when nothing but the event was recorded. */
async function recordEvent(
  job: JobCtx,
  account: DecryptedAccount,
  event: PaymentEvent,
  refund: ProviderRefund,
): Promise<boolean> {
  if (await hasEvent(job, account.id, event.id)) return false
  const changes = await buildEventChanges(job, account, refund)
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
 * Handles a webhook of a payment provider. An event only names a refund, which is then looked up, so the order of
 * events does not matter. The provider sends an event again when it gets an error.
 */
export async function receivePaymentEvent(
  job: JobCtx,
  accountId: string,
  post: { headers: Headers; body: Uint8Array<ArrayBuffer> },
): Promise<void> {
  const account = await findWebhookAccount(job, accountId)
  if (account?.service !== 'stripe') throw buildSignatureError()
  const event = await verifyEvent(job.payments.get(account), post, readSharedTime(job))
  if (!event || (await hasEvent(job, account.id, event.id))) return
  const gateway = job.payments.get({ ...account, provider_account: event.provider_account ?? account.provider_account })
  const refund = await gateway.findRefund(event.provider_reference).catch((error: unknown) => {
    throw error instanceof PaymentProviderUnavailable ? buildUnavailableError(error) : error
  })
  if (!refund) return
  if (await retryLostRaces(() => recordEvent(job, account, event, refund)))
    await enqueueEmails(job).catch(() => undefined)
}
