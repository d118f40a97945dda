import { isRecord } from '../../domain/text/json.ts'
import { AppError } from '../../domain/errors.ts'
import type { RefundReason } from '../../domain/refunds/refunds.ts'
import { type ProviderAnswer, callApi, readText } from '../provider-api/call-api.ts'
import {
  type MerchantAccountAccess,
  type PaymentEvent,
  type PaymentGateway,
  PaymentProviderUnavailable,
  type ProviderRefund,
  type RefundCall,
  type RefundLookup,
  type RefundOutcome,
} from './payments.ts'
import { readRefund, refusalOf, saysNothing, unknownOutcome } from './stripe-outcomes.ts'
import { isSignedByStripe } from './stripe-signature.ts'

const stripeApiBase = 'https://api.stripe.com'
/** The shapes of Stripe's answers. */
export const stripeVersion = '2026-08-26.dahlia'

const standardTimeoutMs = 20_000
const refundsAPage = 100
const maxPages = 20

export interface StripeOptions {
  /** Without a slash at the end; empty for Stripe's own. */
  apiBase: string
  timeoutMs?: number
}

interface StripeApi {
  base: string
  headers: Record<string, string>
  timeoutMs: number
}

const reasons: Record<RefundReason, 'duplicate' | 'fraudulent' | 'requested_by_customer'> = {
  customer_request: 'requested_by_customer',
  event_cancelled: 'requested_by_customer',
  event_changed: 'requested_by_customer',
  duplicate: 'duplicate',
  fraud: 'fraudulent',
  product_unavailable: 'requested_by_customer',
  other: 'requested_by_customer',
}

/** How a payment is named in a request: intents and charges have parameters of their own. */
function paymentField(payment: string): Record<string, string> | null {
  if (/^pi_\w{1,250}$/.test(payment)) return { payment_intent: payment }
  return /^(ch|py)_\w{1,250}$/.test(payment) ? { charge: payment } : null
}

/** Stripe's ids are made at random and never only of zeros. */
const unknownPayment = (payment: string): string =>
  paymentField(payment) ? payment.slice(0, 3) + '0'.repeat(payment.length - 3) : payment

const noPayment: RefundOutcome = {
  state: 'failed',
  provider_reference: null,
  code: 'payment_not_found',
  message: '`payment.reference` is not a Stripe payment id: it begins with pi_, ch_ or py_.',
  is_retryable: false,
}

function get(api: StripeApi, path: string, query: Record<string, string> = {}): Promise<ProviderAnswer> {
  const search = new URLSearchParams(query).toString()
  const url = `${api.base}${path}${search ? `?${search}` : ''}`
  return callApi(url, { method: 'GET', headers: api.headers }, api.timeoutMs)
}

const isOk = (answer: ProviderAnswer): answer is ProviderAnswer & { came: true } => answer.came && answer.status === 200

async function refund(api: StripeApi, call: RefundCall): Promise<RefundOutcome> {
  const payment = paymentField(call.payment)
  if (!payment) return noPayment
  const fields = new URLSearchParams({
    ...payment,
    amount: String(call.amount_minor),
    reason: reasons[call.reason],
    ...Object.fromEntries(Object.entries(call.metadata).map(([name, value]) => [`metadata[${name}]`, value])),
    'metadata[refund_key]': call.key,
  })
  const headers = {
    ...api.headers,
    'content-type': 'application/x-www-form-urlencoded',
    'idempotency-key': call.key,
  }
  const init = { method: 'POST', headers, body: fields.toString() } as const
  const answer = await callApi(`${api.base}/v1/refunds`, init, api.timeoutMs)
  if (!isOk(answer)) return refusalOf(answer)
  return readRefund(answer.body)?.outcome ?? unknownOutcome('Stripe answered something else than a refund.')
}

/** An intent and its charge name each other. An account whose key may not read payments gets no other name. */
async function references(api: StripeApi, payment: string): Promise<readonly string[]> {
  const field = paymentField(payment)
  if (!field) return [payment]
  const answer = await get(api, `/v1/${'charge' in field ? 'charges' : 'payment_intents'}/${payment}`)
  if (!answer.came && answer.code === 'impossible_call') return [payment]
  if (!answer.came || (saysNothing(answer.status) && !isOk(answer)))
    throw new PaymentProviderUnavailable('Stripe does not say which payment this is.')
  if (!isOk(answer)) return [payment]
  if (!isRecord(answer.body)) throw new PaymentProviderUnavailable('Stripe answered something else than a payment.')
  const other = readText(answer.body['charge' in field ? 'payment_intent' : 'latest_charge'])
  return other ? [payment, other] : [payment]
}

/** The outcome of a refund whose reference is known. */
async function find(api: StripeApi, reference: string): Promise<ProviderRefund | null> {
  if (!/^\w{1,255}$/.test(reference)) return null
  const answer = await get(api, `/v1/refunds/${reference}`)
  const found = isOk(answer) ? readRefund(answer.body) : null
  if (found) return found
  const refusal = refusalOf(answer)
  if (refusal.state === 'failed' && refusal.code === 'payment_not_found') return null
  throw new PaymentProviderUnavailable(refusal.state === 'unknown' ? refusal.message : 'Stripe refused to answer.')
}

/** The refund of the key among all of the payment. */
async function findByKey(api: StripeApi, { key, payment }: RefundLookup): Promise<RefundOutcome | 'not_found'> {
  const field = paymentField(payment)
  if (!field) return 'not_found'
  let after = ''
  for (let page = 0; page < maxPages; page++) {
    const query = { ...field, limit: String(refundsAPage), ...(after ? { starting_after: after } : {}) }
    const answer = await get(api, '/v1/refunds', query)
    const data: unknown = isOk(answer) && isRecord(answer.body) ? answer.body['data'] : null
    if (!isOk(answer) || !isRecord(answer.body) || !Array.isArray(data)) {
      const refusal = refusalOf(answer)
      const isMissing = refusal.state === 'failed' && refusal.code === 'payment_not_found'
      return isMissing ? 'not_found' : unknownOutcome('Stripe does not say which refunds the payment has.')
    }
    const found = data.map(readRefund)
    const ours = found.find((one) => one?.key === key)
    if (ours) return ours.outcome
    if (found.includes(null)) return unknownOutcome('Stripe answered a refund that cannot be read.')
    after = found.at(-1)?.provider_reference ?? ''
    if (answer.body['has_more'] === false) return 'not_found'
    if (!after) break
  }
  return unknownOutcome('The payment has more refunds than are looked through.')
}

async function lookup(api: StripeApi, wanted: RefundLookup): Promise<RefundOutcome | 'not_found'> {
  if (wanted.provider_reference === null) return findByKey(api, wanted)
  try {
    return (await find(api, wanted.provider_reference))?.outcome ?? 'not_found'
  } catch (error) {
    if (error instanceof PaymentProviderUnavailable) return unknownOutcome(error.message)
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
  const refunded = readRefund(event['data']['object'])
  // `charge.refunded` names no refund, and another event names it.
  if (!id || !refundEvents.has(type) || !refunded) return null
  return {
    id,
    type,
    provider_reference: refunded.provider_reference,
    payment: refunded.payments[0] ?? '',
    provider_account: readText(event['account']) || null,
  }
}

const badSignature = () =>
  new AppError('not_authenticated', 'The signature is missing, too old or does not fit the body.')

/** The payments of one account at Stripe. */
export function stripePayments(account: MerchantAccountAccess, options: StripeOptions): PaymentGateway {
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
    refund: (call) => refund(api, call),
    lookup: (wanted) => lookup(api, wanted),
    find: (reference) => find(api, reference),
    references: (payment) => references(api, payment),
    unknownPayment,
    verify: async (headers, body, now) => {
      const header = headers.get('stripe-signature')
      if (!(await isSignedByStripe(account.webhook_secret ?? '', header, body, now))) throw badSignature()
      return readEvent(body)
    },
    capabilities: { is_idempotent: true, is_immediate: false },
  }
}
