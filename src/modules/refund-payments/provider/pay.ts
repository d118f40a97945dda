import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { retryLostRaces } from '../../../db/commit.ts'
import { isPaymentOfOtherEdition } from '../../../db/refunds.ts'
import type { RefundRow } from '../../../db/rows.ts'
import { orders, transactions } from '../../../db/schema/orders.ts'
import { refundRequests } from '../../../db/schema/refunds.ts'
import { fromFlag, select } from '../../../db/select.ts'
import { update } from '../../../db/write.ts'
import { buildUnreadableMessage, disputedMessage } from '../../../domain/refunds/payment-checks.ts'
import { wasNeverReceived, computeNextRecheck, chooseStep } from '../../../domain/refunds/refund-payments.ts'
import {
  type PaymentGateway,
  PaymentProviderUnavailable,
  type PaymentReferences,
  type RefundCall,
  type RefundOutcome,
} from '../../../gateways/payments/payments.ts'
import { findRefundAccount } from '../../merchant-accounts/index.ts'
import { enqueueEmails } from '../../transactional-emails/index.ts'
import { commitAnnounced } from '../../webhooks/index.ts'
import { getStartTime, buildOutcomeChanges } from '../outcome.ts'
import { getAmount, loadRefund } from '../refund.ts'
import { postponeRefund, beginAttempt } from './claim.ts'

const accountNotReady = {
  state: 'failed',
  provider_reference: null,
  code: 'account_not_ready',
  message: 'The merchant account cannot be used: it has no API key, or it was deleted.',
  is_retryable: true,
} as const

const callNotReceived: RefundOutcome = {
  state: 'failed',
  provider_reference: null,
  code: 'provider_error',
  message: 'The provider has no such refund: the call did not reach it.',
  is_retryable: true,
}

const buildCall = (refund: RefundRow, key: string, payment: string): RefundCall => ({
  key,
  payment,
  amount_minor: getAmount(refund),
  currency: refund.currency,
  reason: refund.reason,
  metadata: { refund_request_id: refund.id, order_id: refund.order_id },
})

interface RefundAttempt {
  refund: RefundRow
  /** The payment's reference at the provider. */
  payment: string
  gateway: PaymentGateway
  isFirstCall: boolean
}

const buildProgress = ({ refund, isFirstCall }: RefundAttempt) => ({
  provider_reference: refund.provider_reference,
  began_at: getStartTime(refund),
  is_first_call: isFirstCall,
})

async function lookUpRefund(attempt: RefundAttempt): Promise<RefundOutcome | 'not_found'> {
  const { refund, payment, gateway } = attempt
  const { provider_key, provider_reference } = refund
  if (provider_key !== null) return gateway.lookUp({ key: provider_key, payment, provider_reference })
  // A refund that was made at the provider has no key of this service.
  if (provider_reference === null) return 'not_found'
  return (await gateway.findRefund(provider_reference))?.outcome ?? 'not_found'
}

async function queryProvider(job: JobCtx, attempt: RefundAttempt): Promise<RefundOutcome> {
  const outcome = await lookUpRefund(attempt)
  if (outcome !== 'not_found') return outcome
  return wasNeverReceived(buildProgress(attempt), job.now())
    ? callNotReceived
    : { state: 'unknown', message: 'The provider does not know the refund yet.' }
}

/** The refusal of a repeated call says nothing about the earlier call, so the refund is looked up. */
async function checkRefusal(attempt: RefundAttempt, refusal: RefundOutcome): Promise<RefundOutcome> {
  const outcome = await lookUpRefund(attempt)
  return outcome === 'not_found' ? refusal : outcome
}

async function attemptRefund(job: JobCtx, attempt: RefundAttempt): Promise<RefundOutcome> {
  const { refund, payment, gateway, isFirstCall } = attempt
  const { provider_key } = refund
  const step = chooseStep(buildProgress(attempt), gateway.capabilities.is_idempotent, job.now())
  if (step === 'look up' || provider_key === null) return queryProvider(job, attempt)
  const outcome = await gateway.refund(buildCall(refund, provider_key, payment))
  const isRefusal = outcome.state === 'failed' && outcome.provider_reference === null
  return isRefusal && !isFirstCall ? checkRefusal(attempt, outcome) : outcome
}

/** Records the outcome of an attempt, unless a webhook has already recorded one. */
export async function recordOutcome(job: JobCtx, attempt: RefundRow, outcome: RefundOutcome): Promise<void> {
  const hasEnded = await retryLostRaces(async () => {
    const refund = await loadRefund(job, attempt.id)
    if (refund?.status !== attempt.status || refund.provider_key !== attempt.provider_key) return false
    const { statements, announcements } = await buildOutcomeChanges(job, refund, outcome)
    await commitAnnounced(job, statements, announcements)
    return outcome.state === 'completed' || outcome.state === 'failed'
  })
  if (hasEnded) await enqueueEmails(job).catch(() => undefined)
}

interface RefundedPayment {
  reference: string
  /** The connected account that the edition had when the payment was stored. */
  provider_account: string | null
  /** True if an order of another edition has the same reference. */
  is_of_other_edition: boolean
}

async function loadPayment(
  job: JobCtx,
  { organization_id, transaction_id }: Pick<RefundRow, 'organization_id' | 'transaction_id'>,
): Promise<RefundedPayment> {
  const { provider_reference, provider_account } = transactions
  const references = sql`json_array(${provider_reference})`
  const isOfOtherEdition = isPaymentOfOtherEdition(sql`${organization_id}`, sql`${orders.edition_id}`, references)
  const row = await job.db.first(
    select({ reference: provider_reference, provider_account, is_of_other_edition: fromFlag(isOfOtherEdition) })
      .from(transactions)
      .innerJoin(orders, sql`${orders.id} = ${transactions.order_id}`)
      .where(sql`${transactions.id} = ${transaction_id}`),
  )
  if (!row) throw new Error('a refund has a payment')
  return { ...row, reference: row.reference ?? '' }
}

async function openGateway(
  job: JobCtx,
  { organization_id, merchant_account_id }: RefundRow,
  { provider_account }: RefundedPayment,
): Promise<PaymentGateway | null> {
  if (merchant_account_id === null) return null
  const account = await findRefundAccount(job, { organization_id, merchant_account_id, provider_account })
  return account && job.payments.get(account)
}

/** Looks up whether the provider has reversed a completed refund, because its webhook may have been lost. */
async function recheck(job: JobCtx, refund: RefundRow): Promise<void> {
  const payment = await loadPayment(job, refund)
  const gateway = await openGateway(job, refund, payment)
  const outcome = gateway
    ? await lookUpRefund({ refund, payment: payment.reference, gateway, isFirstCall: false })
    : 'not_found'
  if (outcome !== 'not_found' && outcome.state === 'failed') return recordOutcome(job, refund, outcome)
  const due_at = computeNextRecheck(refund.completed_at ?? refund.modified_at, job.now())
  const isUnchanged = sql`id = ${refund.id} and version = ${refund.version}`
  await job.db.all(update(refundRequests, { due_at, claimed_until: null }, isUnchanged))
}

/** True if a payment can have this reference. */
const isReference = (gateway: PaymentGateway, reference: string): boolean =>
  gateway.buildUnknownReference(reference) !== reference

/**
 * Finds all references of a payment. For a payment of another edition the provider is asked for one that does not exist,
 * so that neither the response nor its time reveals anything about that payment.
 */
async function findReferences(
  gateway: PaymentGateway | null,
  refund: RefundRow,
  { reference, is_of_other_edition }: RefundedPayment,
): Promise<PaymentReferences | null> {
  if (!gateway || !isReference(gateway, reference)) return null
  const isDisputed = is_of_other_edition && !refund.is_approved_by_organization
  const payment = await gateway.listReferences(isDisputed ? gateway.buildUnknownReference(reference) : reference)
  return { ...payment, references: [reference, ...payment.references] }
}

/** Chooses the reference that the provider is asked for. Nothing is paid for one that does not exist. */
const chooseReference = (gateway: PaymentGateway, { payment_check }: RefundRow, reference: string): string =>
  payment_check === 'own' ? reference : gateway.buildUnknownReference(reference)

/** Says why the provider was asked for a payment that does not exist. */
function explainOutcome(attempt: RefundAttempt, reference: string, outcome: RefundOutcome): RefundOutcome {
  const { payment_check } = attempt.refund
  if (outcome.state !== 'failed' || outcome.code !== 'payment_not_found' || payment_check === null) return outcome
  const failure = { ...outcome, is_hidden: true }
  if (payment_check === 'own') return failure
  if (payment_check === 'disputed') return { ...failure, message: disputedMessage }
  const message = buildUnreadableMessage(attempt.gateway.describeReadPermission(reference))
  return { ...failure, code: 'account_not_ready', message, is_retryable: true }
}

/** Pays a claimed refund, or looks up the outcome of an earlier call. */
export async function payRefund(job: JobCtx, claim: RefundRow): Promise<void> {
  if (claim.status === 'completed') return recheck(job, claim)
  const isFirstCall = claim.status === 'approved'
  const { reference, ...payment } = await loadPayment(job, claim)
  const gateway = await openGateway(job, claim, { reference, ...payment })
  let references: PaymentReferences | null = null
  try {
    references = isFirstCall ? await findReferences(gateway, claim, { reference, ...payment }) : null
  } catch (error) {
    if (!(error instanceof PaymentProviderUnavailable)) throw error
    await postponeRefund(job, claim, error.message)
    return
  }
  const refund = isFirstCall ? await beginAttempt(job, claim, references) : claim
  if (refund?.status !== 'processing') return
  if (!gateway) {
    const unknownOutcome: RefundOutcome = { state: 'unknown', message: accountNotReady.message }
    return recordOutcome(job, refund, isFirstCall ? accountNotReady : unknownOutcome)
  }
  const attempt = { refund, payment: chooseReference(gateway, refund, reference), gateway, isFirstCall }
  return recordOutcome(job, refund, explainOutcome(attempt, reference, await attemptRefund(job, attempt)))
}
