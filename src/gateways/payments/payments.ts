import type { PaymentService } from '../../domain/refunds/merchant-accounts.ts'
import type { Currency } from '../../domain/money.ts'
import type { RefundReason } from '../../domain/refunds/refunds.ts'

export { type PaymentService } from '../../domain/refunds/merchant-accounts.ts'

/** The reasons why a provider did not pay back, in the service's terms. */
const refundFailureCodes = [
  'declined',
  'insufficient_funds',
  'already_refunded',
  'amount_too_large',
  'payment_not_found',
  'payment_not_refundable',
  'account_not_ready',
  'expired_card',
  'invalid_request',
  'provider_error',
] as const
export type RefundFailureCode = (typeof refundFailureCodes)[number]

/**
 * What is known of a refund. `unknown` says that the provider gave no answer that settles it: the same key has to be
 * used again, or the provider asked. Stripe repeats its answer to a key, a 500 too, so that after a while only asking
 * helps. `account_not_ready` says that this call was refused: it settles no earlier call of the same key.
 */
export type RefundOutcome =
  | { state: 'completed' | 'pending'; provider_reference: string | null }
  | {
      state: 'failed'
      provider_reference: string | null
      code: RefundFailureCode
      message: string
      /** Whether a later attempt, under a new key, may succeed. */
      is_retryable: boolean
    }
  | { state: 'unknown'; message: string }

export interface RefundCall {
  /** `<refund request>:<attempt>`: the same key never pays twice. */
  key: string
  /** The provider's reference of the payment. */
  payment: string
  amount_minor: number
  currency: Currency
  reason: RefundReason
  metadata: Readonly<Record<string, string>>
}

export interface RefundLookup {
  key: string
  payment: string
  provider_reference: string | null
}

/** A refund as a provider's webhook names it; its state has to be looked up. */
export interface PaymentEvent {
  id: string
  /** The provider's name of the kind. */
  type: string
  provider_reference: string
  payment: string
  /** The connected account of the event; null for the key's own account. */
  provider_account: string | null
}

/** A refund as the provider shows it. */
export interface ProviderRefund {
  provider_reference: string
  /** Every reference of the payment at the provider: of Stripe the intent and the charge. */
  payments: readonly string[]
  amount_minor: number
  currency: Currency
  /** The key of the service's own call; null for other refunds. */
  key: string | null
  outcome: RefundOutcome
}

/** There was no usable answer: look it up again later. */
export class PaymentProviderUnavailable extends Error {}

/** The gateway of one merchant account. */
export interface PaymentGateway {
  refund: (call: RefundCall) => Promise<RefundOutcome>
  lookup: (refund: RefundLookup) => Promise<RefundOutcome | 'not_found'>
  /** The refund of this reference; null when the provider does not know it. Throws `PaymentProviderUnavailable`. */
  find: (provider_reference: string) => Promise<ProviderRefund | null>
  /**
   * All names of a payment at the provider: of Stripe the intent and the charge. Only the given one where the provider
   * does not know the payment or does not let the account read it. Throws `PaymentProviderUnavailable`.
   */
  references: (payment: string) => Promise<readonly string[]>
  /** A reference of the same form that no payment has: the provider takes as long to refuse it as any other. */
  unknownPayment: (payment: string) => string
  /** The event of a signed webhook; null for kinds that are no refund. Throws `not_authenticated` for other signatures. */
  verify: (headers: Headers, body: Uint8Array<ArrayBuffer>, now: number) => Promise<PaymentEvent | null>
  readonly capabilities: {
    /** The provider takes a key that makes a call safe to repeat. */
    is_idempotent: boolean
    /** The answer of `refund` is final. */
    is_immediate: boolean
  }
}

/** The account as its gateway needs it, with its secrets in the clear. */
export interface MerchantAccountAccess {
  id: string
  service: PaymentService
  /** The connected account at the provider; null for the key's own account. */
  provider_account: string | null
  /** Null where the service has none. */
  api_key: string | null
  webhook_secret: string | null
}

export interface PaymentGateways {
  of: (account: MerchantAccountAccess) => PaymentGateway
}
