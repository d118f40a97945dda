import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { retryLostRaces } from '../../../db/commit.ts'
import { selectPayingEdition } from '../../../db/refunds.ts'
import { transactions } from '../../../db/schema/sales/orders.ts'
import { refundRequests, type RefundRow } from '../../../db/schema/sales/refunds.ts'
import { select } from '../../../db/select.ts'
import { update } from '../../../db/write.ts'
import { isNeverMade, nextRecheck, stepOf } from '../../../domain/refunds/refund-payments.ts'
import {
  type PaymentGateway,
  PaymentProviderUnavailable,
  type RefundCall,
  type RefundOutcome,
} from '../../../gateways/payments/payments.ts'
import { accessOfStarted } from '../../merchant-accounts/index.ts'
import { enqueueEmails } from '../../transactional-emails/index.ts'
import { commitAnnounced } from '../../webhooks/index.ts'
import { postponeRefund, storeKey } from './claim.ts'
import { beganAt, changesBy } from '../outcome.ts'
import { amountOf, loadRefund } from '../refund.ts'

const notReady = {
  state: 'failed',
  provider_reference: null,
  code: 'account_not_ready',
  message: 'The merchant account cannot be used: it has no key, or it is gone.',
  is_retryable: true,
} as const

const neverMade: RefundOutcome = {
  state: 'failed',
  provider_reference: null,
  code: 'provider_error',
  message: 'The provider has no such refund: the call did not reach it.',
  is_retryable: true,
}

const callOf = (refund: RefundRow, key: string, payment: string): RefundCall => ({
  key,
  payment,
  amount_minor: amountOf(refund),
  currency: refund.currency,
  reason: refund.reason,
  metadata: { refund_request_id: refund.id, order_id: refund.order_id },
})

interface RefundAttempt {
  refund: RefundRow
  /** The payment that the provider is asked for. */
  payment: string
  gateway: PaymentGateway
  isFirstCall: boolean
}

const progressOf = ({ refund, isFirstCall }: RefundAttempt) => ({
  provider_reference: refund.provider_reference,
  began_at: beganAt(refund),
  is_first_call: isFirstCall,
})

async function lookUp(attempt: RefundAttempt): Promise<RefundOutcome | 'not_found'> {
  const { refund, payment, gateway } = attempt
  const { provider_key, provider_reference } = refund
  if (provider_key !== null) return gateway.lookup({ key: provider_key, payment, provider_reference })
  // The provider's own refund has no key of ours.
  if (provider_reference === null) return 'not_found'
  return (await gateway.find(provider_reference))?.outcome ?? 'not_found'
}

async function queryProvider(job: JobCtx, attempt: RefundAttempt): Promise<RefundOutcome> {
  const found = await lookUp(attempt)
  if (found !== 'not_found') return found
  return isNeverMade(progressOf(attempt), job.now())
    ? neverMade
    : { state: 'unknown', message: 'The provider does not know the refund yet.' }
}

/** The refusal of a repeated call does not show the result of the earlier call, so the refund is looked up. */
async function checkRefusal(attempt: RefundAttempt, refusal: RefundOutcome): Promise<RefundOutcome> {
  const found = await lookUp(attempt)
  return found === 'not_found' ? refusal : found
}

async function outcomeOf(job: JobCtx, attempt: RefundAttempt): Promise<RefundOutcome> {
  const { refund, payment, gateway, isFirstCall } = attempt
  const { provider_key } = refund
  const step = stepOf(progressOf(attempt), gateway.capabilities.is_idempotent, job.now())
  if (step === 'look up' || provider_key === null) return queryProvider(job, attempt)
  const outcome = await gateway.refund(callOf(refund, provider_key, payment))
  const isRefusal = outcome.state === 'failed' && outcome.provider_reference === null
  return isRefusal && !isFirstCall ? checkRefusal(attempt, outcome) : outcome
}

/** Records the outcome of the attempt. A webhook may have recorded one before: then that one counts. */
export async function recordOutcome(job: JobCtx, attempt: RefundRow, outcome: RefundOutcome): Promise<void> {
  const hasEnded = await retryLostRaces(async () => {
    const refund = await loadRefund(job, attempt.id)
    if (refund?.status !== attempt.status || refund.provider_key !== attempt.provider_key) return false
    const { statements, announcements } = await changesBy(job, refund, outcome)
    await commitAnnounced(job, statements, announcements)
    return outcome.state === 'completed' || outcome.state === 'failed'
  })
  if (hasEnded) await enqueueEmails(job).catch(() => undefined)
}

interface RefundedPayment {
  reference: string
  /** The edition of the refund may pay the reference back. */
  is_payable: boolean
}

async function loadPayment(
  job: JobCtx,
  { organization_id, edition_id, ...refund }: RefundRow,
): Promise<RefundedPayment> {
  const { provider_reference } = transactions
  const paying = selectPayingEdition(organization_id, sql`json_array(${provider_reference})`)
  const paid = await job.db.first(
    select({ reference: provider_reference, edition_id: sql<string | null>`${paying}` })
      .from(transactions)
      .where(sql`${transactions.id} = ${refund.transaction_id}`),
  )
  return { reference: paid?.reference ?? '', is_payable: paid?.edition_id === edition_id }
}

/**
 * What the provider is asked for. A payment that another edition pays back is asked for as one that does not exist, so
 * that the answer and its time say nothing about it.
 */
const nameOf = (gateway: PaymentGateway, { reference, is_payable }: RefundedPayment): string =>
  is_payable ? reference : gateway.unknownPayment(reference)

async function openGateway(job: JobCtx, refund: RefundRow): Promise<PaymentGateway | null> {
  const account = await accessOfStarted(job, refund)
  return account && job.payments.of(account)
}

/** Looks up whether a success was reversed, because the webhook may have been lost. */
async function recheck(job: JobCtx, refund: RefundRow): Promise<void> {
  const gateway = await openGateway(job, refund)
  const found = gateway
    ? await lookUp({ refund, payment: (await loadPayment(job, refund)).reference, gateway, isFirstCall: false })
    : 'not_found'
  if (found !== 'not_found' && found.state === 'failed') return recordOutcome(job, refund, found)
  const due_at = nextRecheck(refund.completed_at ?? refund.modified_at, job.now())
  const asRead = sql`id = ${refund.id} and version = ${refund.version}`
  await job.db.all(update(refundRequests, { due_at, lease_until: null }, asRead))
}

/** The names of a payment; null when the provider cannot be reached. */
async function findReferences(gateway: PaymentGateway | null, payment: RefundedPayment): Promise<string[] | null> {
  if (!gateway) return [payment.reference]
  try {
    return [payment.reference, ...(await gateway.references(nameOf(gateway, payment)))]
  } catch (error) {
    if (error instanceof PaymentProviderUnavailable) return null
    throw error
  }
}

/** Works on one claimed refund: calls the provider, or looks up the outcome of an earlier call. */
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
  const refund = isFirstCall ? await storeKey(job, claim, references) : claim
  if (refund?.status !== 'processing') return
  if (gateway) {
    const { reference } = payment
    const name = nameOf(gateway, { reference, is_payable: refund.is_payable })
    return recordOutcome(job, refund, await outcomeOf(job, { refund, payment: name, gateway, isFirstCall }))
  }
  // The result of an earlier call is unknown.
  const unknown: RefundOutcome = { state: 'unknown', message: notReady.message }
  return recordOutcome(job, refund, isFirstCall ? notReady : unknown)
}
