import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { retryLostRaces } from '../../../db/commit.ts'
import { selectPayingEdition } from '../../../db/refunds.ts'
import { transactions } from '../../../db/schema/sales/orders.ts'
import { refundRequests, type RefundRow } from '../../../db/schema/sales/refunds.ts'
import { select } from '../../../db/select.ts'
import { update } from '../../../db/write.ts'
import { wasNeverReceived, computeNextRecheck, chooseStep } from '../../../domain/refunds/refund-payments.ts'
import {
  type PaymentGateway,
  PaymentProviderUnavailable,
  type RefundCall,
  type RefundOutcome,
} from '../../../gateways/payments/payments.ts'
import { findRefundAccount } from '../../merchant-accounts/index.ts'
import { enqueueEmails } from '../../transactional-emails/index.ts'
import { commitAnnounced } from '../../webhooks/index.ts'
import { postponeRefund, beginAttempt } from './claim.ts'
import { getStartTime, buildOutcomeChanges } from '../outcome.ts'
import { getAmount, loadRefund } from '../refund.ts'

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
  /** Whether the edition of the refund may pay this payment back. */
  is_payable: boolean
}

async function loadPayment(
  job: JobCtx,
  { organization_id, edition_id, ...refund }: RefundRow,
): Promise<RefundedPayment> {
  const { provider_reference } = transactions
  const paying = selectPayingEdition(organization_id, sql`json_array(${provider_reference})`)
  const row = await job.db.first(
    select({ reference: provider_reference, edition_id: sql<string | null>`${paying}` })
      .from(transactions)
      .where(sql`${transactions.id} = ${refund.transaction_id}`),
  )
  return { reference: row?.reference ?? '', is_payable: row?.edition_id === edition_id }
}

/**
 * Chooses the reference that the provider is asked for. For a payment of another edition it is one that does not exist,
 * so that neither the answer nor its time reveals anything about that payment.
 */
const chooseReference = (gateway: PaymentGateway, { reference, is_payable }: RefundedPayment): string =>
  is_payable ? reference : gateway.buildUnknownReference(reference)

async function openGateway(job: JobCtx, refund: RefundRow): Promise<PaymentGateway | null> {
  const account = await findRefundAccount(job, refund)
  return account && job.payments.get(account)
}

/** Looks up whether the provider has reversed a completed refund, because its webhook may have been lost. */
async function recheck(job: JobCtx, refund: RefundRow): Promise<void> {
  const gateway = await openGateway(job, refund)
  const outcome = gateway
    ? await lookUpRefund({ refund, payment: (await loadPayment(job, refund)).reference, gateway, isFirstCall: false })
    : 'not_found'
  if (outcome !== 'not_found' && outcome.state === 'failed') return recordOutcome(job, refund, outcome)
  const due_at = computeNextRecheck(refund.completed_at ?? refund.modified_at, job.now())
  const isUnchanged = sql`id = ${refund.id} and version = ${refund.version}`
  await job.db.all(update(refundRequests, { due_at, claimed_until: null }, isUnchanged))
}

/** Finds all references of a payment. Returns null when the provider cannot be reached. */
async function findReferences(gateway: PaymentGateway | null, payment: RefundedPayment): Promise<string[] | null> {
  if (!gateway) return [payment.reference]
  try {
    return [payment.reference, ...(await gateway.listReferences(chooseReference(gateway, payment)))]
  } catch (error) {
    if (error instanceof PaymentProviderUnavailable) return null
    throw error
  }
}

/** Pays a claimed refund, or looks up the outcome of an earlier call. */
export async function payRefund(job: JobCtx, claim: RefundRow): Promise<void> {
  if (claim.status === 'completed') return recheck(job, claim)
  const isFirstCall = claim.status === 'approved'
  const gateway = await openGateway(job, claim)
  const payment = await loadPayment(job, claim)
  const references = isFirstCall ? await findReferences(gateway, payment) : []
  if (references === null) {
    await postponeRefund(job, claim)
    return
  }
  const refund = isFirstCall ? await beginAttempt(job, claim, references) : claim
  if (refund?.status !== 'processing') return
  if (gateway) {
    const reference = chooseReference(gateway, { ...payment, is_payable: refund.is_payable })
    return recordOutcome(job, refund, await attemptRefund(job, { refund, payment: reference, gateway, isFirstCall }))
  }
  const unknown: RefundOutcome = { state: 'unknown', message: accountNotReady.message }
  return recordOutcome(job, refund, isFirstCall ? accountNotReady : unknown)
}
