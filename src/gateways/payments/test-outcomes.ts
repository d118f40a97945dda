import { AppError } from '../../domain/errors.ts'
import type { Currency } from '../../domain/money.ts'
import type { PaymentGateway, RefundCall, RefundOutcome } from './payments.ts'

/** The last two digits of an amount choose its outcome. */
const outcomeDigits = { declined: 1, failsLate: 2, timesOut: 3, lacksFunds: 4 }

const separator = '|'
/** All other references are payments. */
const unknownReference = 'unknown'

/** The reference contains the whole refund, because nothing is stored. */
const buildReference = ({ amount_minor, currency, key, payment }: RefundCall): string =>
  ['test', amount_minor, currency, key, payment].join(separator)

interface SimulatedRefund {
  amount_minor: number
  currency: Currency
  key: string
  payment: string
}

function readReference(reference: string): SimulatedRefund | null {
  const [prefix, amount, currency, key, ...payment] = reference.split(separator)
  if (prefix !== 'test' || !currency || !key || !/^\d+$/.test(amount ?? '')) return null
  return {
    amount_minor: Number(amount),
    currency: currency as Currency,
    key,
    payment: payment.join(separator),
  }
}

const getLastDigits = (amountMinor: number): number => amountMinor % 100

/** Builds the final outcome of a pending or completed refund. */
const buildFinalOutcome = (reference: string, { amount_minor }: SimulatedRefund): RefundOutcome =>
  getLastDigits(amount_minor) === outcomeDigits.failsLate
    ? {
        state: 'failed',
        provider_reference: reference,
        code: 'expired_card',
        message: 'The test account fails this amount late.',
        is_retryable: false,
      }
    : { state: 'completed', provider_reference: reference }

/** References of refunds whose first call got no response, by idempotency key. */
const timedOutCalls = new Map<string, string>()
const maxTimedOutCalls = 1000

function simulateTimeout(key: string, reference: string): RefundOutcome {
  if (timedOutCalls.has(key)) return { state: 'completed', provider_reference: reference }
  if (timedOutCalls.size >= maxTimedOutCalls) timedOutCalls.clear()
  timedOutCalls.set(key, reference)
  return { state: 'unknown', message: 'The test account does not answer the first call of this amount.' }
}

function simulateRefund(call: RefundCall): RefundOutcome {
  const reference = buildReference(call)
  const refusal = { state: 'failed', provider_reference: null } as const
  if (call.payment === unknownReference)
    return {
      ...refusal,
      code: 'payment_not_found',
      message: 'The test account has no such payment.',
      is_retryable: false,
    }
  switch (getLastDigits(call.amount_minor)) {
    case outcomeDigits.declined:
      return { ...refusal, code: 'declined', message: 'The test account declines this amount.', is_retryable: false }
    case outcomeDigits.failsLate:
      return { state: 'pending', provider_reference: reference }
    case outcomeDigits.timesOut:
      return simulateTimeout(call.key, reference)
    case outcomeDigits.lacksFunds:
      return {
        ...refusal,
        code: 'insufficient_funds',
        message: 'The test account has no funds for this amount.',
        is_retryable: true,
      }
    default:
      return { state: 'completed', provider_reference: reference }
  }
}

/**
 * Simulates refunds. The last two digits of the amount in minor units choose the outcome: 01 is declined, 02 is pending
 * and fails when it is looked up, 03 completes but its first call gets no response, 04 lacks funds, others complete.
 */
export const testGateway: PaymentGateway = {
  refund: async (call) => simulateRefund(call),
  lookUp: async ({ key, provider_reference }) => {
    const reference = provider_reference ?? timedOutCalls.get(key)
    const refund = reference === undefined ? null : readReference(reference)
    return reference !== undefined && refund ? buildFinalOutcome(reference, refund) : 'not_found'
  },
  findRefund: async (provider_reference) => {
    const refund = readReference(provider_reference)
    if (!refund) return null
    const { amount_minor, currency, key, payment } = refund
    const outcome = buildFinalOutcome(provider_reference, refund)
    return { provider_reference, payments: [payment], amount_minor, currency, key, outcome }
  },
  listReferences: async (payment) => ({ references: [payment], unread_prefixes: [] }),
  describeReadPermission: () => '',
  buildUnknownReference: () => unknownReference,
  readWebhook: async () => {
    throw new AppError('not_authenticated', 'Test accounts have no webhooks.')
  },
  capabilities: { is_idempotent: true, is_immediate: false },
}
