import { AppError } from '../../domain/errors.ts'
import type { Currency } from '../../domain/money.ts'
import type { PaymentGateway, RefundCall, RefundOutcome } from './payments.ts'

/** The outcomes by the last two digits of the amount. */
const declines = 1
const failsLate = 2
const timesOut = 3
const lacksFunds = 4

const separator = '|'

/** A reference that contains the whole refund, because nothing is stored. */
const referenceOf = ({ amount_minor, currency, key, payment }: RefundCall): string =>
  ['test', amount_minor, currency, key, payment].join(separator)

interface MadeUp {
  amount_minor: number
  currency: Currency
  key: string
  payment: string
}

function readReference(reference: string): MadeUp | null {
  const [prefix, amount, currency, key, ...payment] = reference.split(separator)
  if (prefix !== 'test' || !currency || !key || !/^\d+$/.test(amount ?? '')) return null
  return {
    amount_minor: Number(amount),
    currency: currency as Currency,
    key,
    payment: payment.join(separator),
  }
}

const endingOf = (amountMinor: number): number => amountMinor % 100

/** The state that a pending or completed refund has in the end. */
const laterOutcome = (reference: string, { amount_minor }: MadeUp): RefundOutcome =>
  endingOf(amount_minor) === failsLate
    ? {
        state: 'failed',
        provider_reference: reference,
        code: 'expired_card',
        message: 'The test account fails this amount late.',
        is_retryable: false,
      }
    : { state: 'completed', provider_reference: reference }

/** Calls that were answered by nothing, by key, with the reference of what was done. */
const unanswered = new Map<string, string>()
const unansweredKept = 1000

function timeOut(key: string, reference: string): RefundOutcome {
  if (unanswered.has(key)) return { state: 'completed', provider_reference: reference }
  if (unanswered.size >= unansweredKept) unanswered.clear()
  unanswered.set(key, reference)
  return { state: 'unknown', message: 'The test account does not answer the first call of this amount.' }
}

function outcomeOf(call: RefundCall): RefundOutcome {
  const reference = referenceOf(call)
  const refused = { state: 'failed', provider_reference: null } as const
  switch (endingOf(call.amount_minor)) {
    case declines:
      return { ...refused, code: 'declined', message: 'The test account declines this amount.', is_retryable: false }
    case failsLate:
      return { state: 'pending', provider_reference: reference }
    case timesOut:
      return timeOut(call.key, reference)
    case lacksFunds:
      return {
        ...refused,
        code: 'insufficient_funds',
        message: 'The test account has no funds for this amount.',
        is_retryable: true,
      }
    default:
      return { state: 'completed', provider_reference: reference }
  }
}

/**
 * Makes outcomes up, by the last two digits of the amount in minor units: 01 is declined, 02 is pending and fails when
 * it is asked for, 03 is done but its first call has no answer, 04 lacks funds, others complete.
 */
export const testPayments: PaymentGateway = {
  refund: async (call) => outcomeOf(call),
  lookup: async ({ key, provider_reference }) => {
    const reference = provider_reference ?? unanswered.get(key)
    const refund = reference === undefined ? null : readReference(reference)
    return reference !== undefined && refund ? laterOutcome(reference, refund) : 'not_found'
  },
  find: async (provider_reference) => {
    const refund = readReference(provider_reference)
    if (!refund) return null
    const { amount_minor, currency, key, payment } = refund
    const outcome = laterOutcome(provider_reference, refund)
    return { provider_reference, payments: [payment], amount_minor, currency, key, outcome }
  },
  // No reference is looked up here.
  references: async (payment) => [payment],
  unknownPayment: (payment) => payment,
  verify: async () => {
    throw new AppError('not_authenticated', 'Test accounts have no webhooks.')
  },
  capabilities: { is_idempotent: true, is_immediate: false },
}
