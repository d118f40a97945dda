import { AppError } from '../../domain/errors.ts'
import type { RefundReason } from '../../domain/refunds/refunds.ts'
import { isRecord } from '../../domain/text/json.ts'
import { describeServiceFault } from '../../domain/waiting.ts'
import { type ProviderResponse, callApi, readText } from '../provider-api/call-api.ts'
import {
  type GatewayAccount,
  type PaymentEvent,
  type PaymentGateway,
  PaymentProviderUnavailable,
  type PaymentReferences,
  type ProviderRefund,
  type RefundCall,
  type RefundLookup,
  type RefundOutcome,
} from './payments.ts'
import { readId, readRefund, readRefusal, isInconclusive, buildUnknownOutcome } from './stripe-outcomes.ts'
import { isSignedByStripe } from './stripe-signature.ts'

const stripeApiBase = 'https://api.stripe.com'
/** The API version decides the format of Stripe's responses. */
export const stripeVersion = '2026-08-26.dahlia'

const standardTimeoutMs = 20_000
const refundsPerPage = 100
const maxPages = 20

export interface StripeOptions {
  /** Without a slash at the end; empty for Stripe's own API. */
  apiBase: string
  timeoutMs?: number
}

interface StripeApi {
  base: string
  headers: Record<string, string>
  timeoutMs: number
}

const stripeReasons: Record<RefundReason, 'duplicate' | 'fraudulent' | 'requested_by_customer'> = {
  customer_request: 'requested_by_customer',
  event_cancelled: 'requested_by_customer',
  event_changed: 'requested_by_customer',
  duplicate: 'duplicate',
  fraud: 'fraudulent',
  product_unavailable: 'requested_by_customer',
  other: 'requested_by_customer',
}

/** Builds the parameter that names a payment: intents and charges have different ones. */
function buildPaymentField(payment: string): Record<string, string> | null {
  if (/^pi_\w{1,250}$/.test(payment)) return { payment_intent: payment }
  return /^(ch|py)_\w{1,250}$/.test(payment) ? { charge: payment } : null
}

/** Stripe's ids are random, so none consists of zeros only. */
const buildUnknownReference = (payment: string): string =>
  buildPaymentField(payment) ? payment.slice(0, 3) + '0'.repeat(payment.length - 3) : payment

const invalidReference: RefundOutcome = {
  state: 'failed',
  provider_reference: null,
  code: 'payment_not_found',
  message: '`payment.reference` is not a Stripe payment id: it begins with pi_, ch_ or py_.',
  is_retryable: false,
}

function get(api: StripeApi, path: string, query: Record<string, string> = {}): Promise<ProviderResponse> {
  const search = new URLSearchParams(query).toString()
  const url = `${api.base}${path}${search ? `?${search}` : ''}`
  return callApi(url, { method: 'GET', headers: api.headers }, api.timeoutMs)
}

const isOk = (response: ProviderResponse): response is ProviderResponse & { isComplete: true } =>
  response.isComplete && response.status === 200

async function createRefund(api: StripeApi, call: RefundCall): Promise<RefundOutcome> {
  const payment = buildPaymentField(call.payment)
  if (!payment) return invalidReference
  const fields = new URLSearchParams({
    ...payment,
    amount: String(call.amount_minor),
    reason: stripeReasons[call.reason],
    ...Object.fromEntries(Object.entries(call.metadata).map(([name, value]) => [`metadata[${name}]`, value])),
    'metadata[refund_key]': call.key,
  })
  const headers = {
    ...api.headers,
    'content-type': 'application/x-www-form-urlencoded',
    'idempotency-key': call.key,
  }
  const init = { method: 'POST', headers, body: fields.toString() } as const
  const response = await callApi(`${api.base}/v1/refunds`, init, api.timeoutMs)
  if (!isOk(response)) return readRefusal(response)
  return readRefund(response.body)?.outcome ?? buildUnknownOutcome('The answer of Stripe is not a refund.')
}

/** A payment intent and its charge name each other, to a key that may read them. */
async function listReferences(api: StripeApi, payment: string): Promise<PaymentReferences> {
  const field = buildPaymentField(payment)
  if (!field) return { references: [payment], unread_prefixes: [] }
  const isCharge = 'charge' in field
  const unreadPayment = { references: [payment], unread_prefixes: isCharge ? ['pi_'] : ['ch_', 'py_'] }
  const response = await get(api, `/v1/${isCharge ? 'charges' : 'payment_intents'}/${payment}`)
  if (!response.isComplete && response.code === 'impossible_call') return unreadPayment
  if (!response.isComplete) throw new PaymentProviderUnavailable(describeServiceFault('payments', { status: null }))
  const { status } = response
  if (status === 404) return { references: [payment], unread_prefixes: [] }
  if (isInconclusive(status) && status !== 200)
    throw new PaymentProviderUnavailable(describeServiceFault('payments', { status }))
  if (status !== 200) return unreadPayment
  if (!isRecord(response.body)) throw new PaymentProviderUnavailable('The answer of Stripe is not a payment.')
  const otherReference = readId(response.body[isCharge ? 'payment_intent' : 'latest_charge'])
  return { references: otherReference ? [payment, otherReference] : [payment], unread_prefixes: [] }
}

/** Names the permission as Stripe's dashboard and its errors do. */
const describeReadPermission = (payment: string): string =>
  payment.startsWith('pi_') ? 'payment intents (rak_payment_intent_read)' : 'charges (rak_charge_read)'

async function findRefund(api: StripeApi, reference: string): Promise<ProviderRefund | null> {
  if (!/^\w{1,255}$/.test(reference)) return null
  const response = await get(api, `/v1/refunds/${reference}`)
  const refund = isOk(response) ? readRefund(response.body) : null
  if (refund) return refund
  const refusal = readRefusal(response)
  if (refusal.state === 'failed' && refusal.code === 'payment_not_found') return null
  throw new PaymentProviderUnavailable(refusal.state === 'unknown' ? refusal.message : 'Stripe refused to answer.')
}

/** Searches the refunds of a payment for one with this key. */
async function findOutcomeByKey(api: StripeApi, { key, payment }: RefundLookup): Promise<RefundOutcome | 'not_found'> {
  const field = buildPaymentField(payment)
  if (!field) return 'not_found'
  let after = ''
  for (let page = 0; page < maxPages; page++) {
    const query = { ...field, limit: String(refundsPerPage), ...(after ? { starting_after: after } : {}) }
    const response = await get(api, '/v1/refunds', query)
    const data: unknown = isOk(response) && isRecord(response.body) ? response.body['data'] : null
    if (!isOk(response) || !isRecord(response.body) || !Array.isArray(data)) {
      const refusal = readRefusal(response)
      const isMissing = refusal.state === 'failed' && refusal.code === 'payment_not_found'
      return isMissing ? 'not_found' : buildUnknownOutcome('Stripe does not say which refunds the payment has.')
    }
    const refunds = data.map(readRefund)
    const match = refunds.find((candidate) => candidate?.key === key)
    if (match) return match.outcome
    if (refunds.includes(null)) return buildUnknownOutcome('Stripe sent a refund that cannot be read.')
    after = refunds.at(-1)?.provider_reference ?? ''
    if (response.body['has_more'] === false) return 'not_found'
    if (!after) break
  }
  return buildUnknownOutcome('The payment has too many refunds to search them all.')
}

async function lookUpOutcome(api: StripeApi, refund: RefundLookup): Promise<RefundOutcome | 'not_found'> {
  if (refund.provider_reference === null) return findOutcomeByKey(api, refund)
  try {
    return (await findRefund(api, refund.provider_reference))?.outcome ?? 'not_found'
  } catch (error) {
    if (error instanceof PaymentProviderUnavailable) return buildUnknownOutcome(error.message)
    throw error
  }
}

const refundEvents = new Set(['refund.created', 'refund.updated', 'refund.failed', 'charge.refund.updated'])

function readEvent(body: Uint8Array): PaymentEvent | null {
  let event: unknown
  try {
    event = JSON.parse(new TextDecoder().decode(body))
  } catch {
    return null
  }
  if (!isRecord(event) || !isRecord(event['data'])) return null
  const [id, type] = [readText(event['id']), readText(event['type'])]
  const refund = readRefund(event['data']['object'])
  // `charge.refunded` is ignored: it names no refund, and another event does.
  const provider_account = readText(event['account']) || null
  // Another text is no account and cannot be sent in a header, so Stripe would repeat the event for days.
  const isAccount = provider_account === null || /^acct_\w+$/.test(provider_account)
  if (!id || !refundEvents.has(type) || !refund || !isAccount) return null
  return {
    id,
    type,
    provider_reference: refund.provider_reference,
    payment: refund.payments[0] ?? '',
    provider_account,
  }
}

const buildSignatureError = () =>
  new AppError('not_authenticated', 'The signature is missing, too old or does not match the body.')

export function createStripeGateway(account: GatewayAccount, options: StripeOptions): PaymentGateway {
  const api: StripeApi = {
    base: options.apiBase || stripeApiBase,
    timeoutMs: options.timeoutMs ?? standardTimeoutMs,
    headers: {
      authorization: `Bearer ${account.api_key ?? ''}`,
      'stripe-version': stripeVersion,
      ...(account.provider_account === null ? {} : { 'stripe-account': account.provider_account }),
    },
  }
  return {
    refund: (call) => createRefund(api, call),
    lookUp: (refund) => lookUpOutcome(api, refund),
    findRefund: (reference) => findRefund(api, reference),
    listReferences: (payment) => listReferences(api, payment),
    describeReadPermission,
    buildUnknownReference,
    readWebhook: async (headers, body, now) => {
      const header = headers.get('stripe-signature')
      if (!(await isSignedByStripe(account.webhook_secret ?? '', header, body, now))) throw buildSignatureError()
      return readEvent(body)
    },
    capabilities: { is_idempotent: true, is_immediate: false },
  }
}
