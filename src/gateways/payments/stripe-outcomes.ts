import { isRecord } from '../../domain/text/json.ts'
import { currencies, type Currency } from '../../domain/money.ts'
import type { ProviderAnswer } from '../provider-api/call-api.ts'
import { readText } from '../provider-api/call-api.ts'
import type { ProviderRefund, RefundFailureCode, RefundOutcome } from './payments.ts'

/** Stripe's codes as reasons of the service. */

type FailureEntry = [code: RefundFailureCode, isRetryable: boolean]

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

/** Removes API keys that a message repeats. */
const withoutKeys = (message: string): string => message.replaceAll(/\b(?:sk|rk|pk|whsec)_[\w*]+/g, '…')

export const unknownOutcome = (message: string): RefundOutcome => ({ state: 'unknown', message })

const failed = (
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

function failureOf(status: number, error: Record<string, unknown>): FailureEntry {
  if (status === 401 || status === 403) return accountNotReady
  const known = errorCodes.get(readText(error['code']))
  if (known) return known
  // More than is left of a payment has no code of its own.
  if (error['param'] === 'amount' && /greater than/i.test(readText(error['message'])))
    return ['amount_too_large', false]
  if (status === 402) return ['declined', true]
  return status === 404 ? ['payment_not_found', false] : ['invalid_request', false]
}

/** Statuses after which the result is unknown: the refund may have been made. */
export const saysNothing = (status: number): boolean =>
  status < 400 ||
  status === 408 ||
  status === 409 ||
  status === 424 ||
  status === 425 ||
  status === 429 ||
  status >= 500

/** Stripe's own texts name the reference that it was asked for, and similar payments that it knows. */
const ownMessages: Partial<Record<RefundFailureCode, string>> = {
  account_not_ready: 'Stripe does not accept the key of the account.',
  payment_not_found: 'Stripe has no payment with this reference.',
}

/** The outcome of an answer without a refund. */
export function refusalOf(answer: ProviderAnswer): RefundOutcome {
  if (!answer.came)
    return answer.code === 'impossible_call'
      ? failed(null, accountNotReady, 'The key or the address of the account is none.')
      : unknownOutcome(`No whole answer came: ${answer.code}.`)
  const error = isRecord(answer.body) ? answer.body['error'] : null
  // A refusal of something on the way has no error of Stripe's.
  if (saysNothing(answer.status) || !isRecord(error)) return unknownOutcome(`Stripe answered ${answer.status}.`)
  // The key belongs to a call with other parameters, whose result the answer does not contain.
  if (error['type'] === 'idempotency_error') return unknownOutcome('The key stands for another call.')
  const [code, isRetryable] = failureOf(answer.status, error)
  const said = ownMessages[code] ?? readText(error['message'])
  return failed(null, [code, isRetryable], withoutKeys(said) || `Stripe answered ${answer.status}.`)
}

function outcomeOf(reference: string, refund: Record<string, unknown>): RefundOutcome {
  switch (refund['status']) {
    case 'succeeded':
      return { state: 'completed', provider_reference: reference }
    case 'pending':
    case 'requires_action':
      return { state: 'pending', provider_reference: reference }
    case 'canceled':
      return failed(reference, ['provider_error', true], 'The refund was cancelled at Stripe.')
    case 'failed': {
      const reason = readText(refund['failure_reason'])
      return failed(reference, failureReasons.get(reason) ?? ['provider_error', true], `Stripe: ${reason || 'failed'}.`)
    }
    default:
      return unknownOutcome('Stripe answered a status that is not known.')
  }
}

/** Names of objects come alone, or as the objects where they are expanded. */
const nameOf = (value: unknown): string => readText(isRecord(value) ? value['id'] : value)

const isCurrency = (value: string): value is Currency => (currencies as readonly string[]).includes(value)

/** A refund of an answer; null for anything else. */
export function readRefund(value: unknown): ProviderRefund | null {
  if (!isRecord(value) || value['object'] !== 'refund') return null
  const [reference, amount, currency] = [
    readText(value['id']),
    value['amount'],
    readText(value['currency']).toLowerCase(),
  ]
  if (!/^(re|pyr)_/.test(reference) || !Number.isSafeInteger(amount) || !isCurrency(currency)) return null
  const metadata = isRecord(value['metadata']) ? value['metadata'] : {}
  return {
    provider_reference: reference,
    payments: [nameOf(value['payment_intent']), nameOf(value['charge'])].filter((name) => name !== ''),
    amount_minor: Number(amount),
    currency,
    key: readText(metadata['refund_key']) || null,
    outcome: outcomeOf(reference, value),
  }
}
