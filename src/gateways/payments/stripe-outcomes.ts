import { currencies, type Currency } from '../../domain/money.ts'
import { isRecord } from '../../domain/text/json.ts'
import { describeServiceFault } from '../../domain/waiting.ts'
import type { ProviderResponse } from '../provider-api/call-api.ts'
import { readText } from '../provider-api/call-api.ts'
import type { ProviderRefund, RefundFailureCode, RefundOutcome } from './payments.ts'

type FailureEntry = [code: RefundFailureCode, isRetryable: boolean]

/** Values of Stripe's `failure_reason`. */
const failureReasons = new Map<string, FailureEntry>(
  Object.entries({
    lost_or_stolen_card: ['expired_card', false],
    expired_or_canceled_card: ['expired_card', false],
    charge_for_pending_refund_disputed: ['payment_not_refundable', false],
    insufficient_funds: ['insufficient_funds', true],
    declined: ['declined', true],
    merchant_request: ['declined', true],
  } satisfies Record<string, FailureEntry>),
)

/** Values of `error.code` in Stripe's responses. */
const errorCodes = new Map<string, FailureEntry>(
  Object.entries({
    charge_already_refunded: ['already_refunded', false],
    amount_too_large: ['amount_too_large', false],
    amount_too_small: ['invalid_request', false],
    balance_insufficient: ['insufficient_funds', true],
    insufficient_funds: ['insufficient_funds', true],
    resource_missing: ['payment_not_found', false],
    charge_disputed: ['payment_not_refundable', false],
    refund_disputed_payment: ['payment_not_refundable', false],
    charge_not_refundable: ['payment_not_refundable', false],
    payment_intent_unexpected_state: ['payment_not_refundable', false],
    card_declined: ['declined', true],
    expired_card: ['expired_card', false],
    testmode_charges_only: ['account_not_ready', true],
    livemode_mismatch: ['account_not_ready', true],
    account_invalid: ['account_not_ready', true],
    account_closed: ['account_not_ready', true],
    api_key_expired: ['account_not_ready', true],
    platform_api_key_expired: ['account_not_ready', true],
  } satisfies Record<string, FailureEntry>),
)

/** Removes API keys from a message. */
const removeKeys = (message: string): string => message.replaceAll(/\b(?:sk|rk|pk|whsec)_[\w*]+/g, '…')

export const buildUnknownOutcome = (message: string): RefundOutcome => ({ state: 'unknown', message })

const buildFailure = (
  providerReference: string | null,
  [code, isRetryable]: FailureEntry,
  message: string,
): RefundOutcome => ({
  state: 'failed',
  provider_reference: providerReference,
  code,
  message,
  is_retryable: isRetryable,
})

const accountNotReady: FailureEntry = ['account_not_ready', true]

function readFailure(status: number, error: Record<string, unknown>): FailureEntry {
  if (status === 401 || status === 403) return accountNotReady
  const entry = errorCodes.get(readText(error['code']))
  if (entry) return entry
  // Stripe has no code for an amount that exceeds what is left of the payment.
  if (error['param'] === 'amount' && /greater than/i.test(readText(error['message'])))
    return ['amount_too_large', false]
  if (status === 402) return ['declined', true]
  return status === 404 ? ['payment_not_found', false] : ['invalid_request', false]
}

/** True if the refund may have been made although the response has this status. */
export const isInconclusive = (status: number): boolean =>
  status < 400 ||
  status === 408 ||
  status === 409 ||
  status === 424 ||
  status === 425 ||
  status === 429 ||
  status >= 500

/** Replaces messages in which Stripe repeats the reference or names similar payments. */
const replacedMessages: Partial<Record<RefundFailureCode, string>> = {
  account_not_ready: 'Stripe does not accept the API key of the merchant account.',
  payment_not_found: 'Stripe has no payment with this reference.',
}

/** Reads the outcome from a response without a refund. */
export function readRefusal(response: ProviderResponse): RefundOutcome {
  if (!response.isComplete)
    return response.code === 'impossible_call'
      ? buildFailure(null, accountNotReady, 'The API key or the address of the account is invalid.')
      : buildUnknownOutcome(describeServiceFault('payments', { status: null }))
  const error = isRecord(response.body) ? response.body['error'] : null
  // A proxy on the way may answer, too. Its response has no error of Stripe.
  if (isInconclusive(response.status) || !isRecord(error))
    return buildUnknownOutcome(describeServiceFault('payments', { status: response.status }))
  // Another call has used the key, and the response does not contain its result.
  if (error['type'] === 'idempotency_error') return buildUnknownOutcome('The idempotency key belongs to another call.')
  const [code, isRetryable] = readFailure(response.status, error)
  const message = replacedMessages[code] ?? readText(error['message'])
  return buildFailure(null, [code, isRetryable], removeKeys(message) || `Stripe answered ${response.status}.`)
}

function readOutcome(reference: string, refund: Record<string, unknown>): RefundOutcome {
  switch (refund['status']) {
    case 'succeeded':
      return { state: 'completed', provider_reference: reference }
    case 'pending':
    case 'requires_action':
      return { state: 'pending', provider_reference: reference }
    case 'canceled':
      return buildFailure(reference, ['provider_error', true], 'The refund was cancelled at Stripe.')
    case 'failed': {
      const reason = readText(refund['failure_reason'])
      return buildFailure(
        reference,
        failureReasons.get(reason) ?? ['provider_error', true],
        `Stripe: ${reason || 'failed'}.`,
      )
    }
    default:
      return buildUnknownOutcome('Stripe sent an unknown refund status.')
  }
}

/** Stripe sends the id of a related object, or the object itself when it is expanded. */
export const readId = (value: unknown): string => readText(isRecord(value) ? value['id'] : value)

const isCurrency = (value: string): value is Currency => (currencies as readonly string[]).includes(value)

/** Reads a refund from a response. Returns null for anything else. */
export function readRefund(value: unknown): ProviderRefund | null {
  if (!isRecord(value) || value['object'] !== 'refund') return null
  const reference = readText(value['id'])
  const { amount } = value
  const currency = readText(value['currency']).toLowerCase()
  if (!/^(re|pyr)_/.test(reference) || !Number.isSafeInteger(amount) || !isCurrency(currency)) return null
  const metadata = isRecord(value['metadata']) ? value['metadata'] : {}
  return {
    provider_reference: reference,
    payments: [readId(value['payment_intent']), readId(value['charge'])].filter((id) => id !== ''),
    amount_minor: Number(amount),
    currency,
    key: readText(metadata['refund_key']) || null,
    outcome: readOutcome(reference, value),
  }
}
