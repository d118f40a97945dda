import type { Currency } from '../../domain/money.ts'
import type { PaymentService } from '../../domain/refunds/merchant-accounts.ts'
import type { RefundReason } from '../../domain/refunds/refunds.ts'

export { type PaymentService } from '../../domain/refunds/merchant-accounts.ts'

/** Why a provider did not pay a refund, in terms that all providers share. */
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
 * The outcome of a refund. `unknown`: the provider gave no conclusive response, so the call has to be repeated with the
 * same key, or the refund looked up. Stripe repeats its response to a key, even a 500, so after a while only a lookup
 * helps. `account_not_ready`: this call was refused, which says nothing about an earlier call with the same key.
 */
export type RefundOutcome =
  | { state: 'completed' | 'pending'; provider_reference: string | null }
  | {
      state: 'failed'
      provider_reference: string | null
      code: RefundFailureCode
      message: string
      /** True if a later attempt with a new key may succeed. */
      is_retryable: boolean
      /** True if roles of an edition read the failure of an unknown payment instead. Gateways leave it out. */
      is_hidden?: boolean
    }
  | { state: 'unknown'; message: string }

export interface RefundCall {
  /** The idempotency key, `<refund request>:<attempt>`. */
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

/** A webhook about a refund. It only names the refund, whose state has to be looked up. */
export interface PaymentEvent {
  id: string
  /** The provider's name of the event type. */
  type: string
  provider_reference: string
  payment: string
  /** The connected account of the event; null means the account of the API key. */
  provider_account: string | null
}

/** A refund as the provider describes it. */
export interface ProviderRefund {
  provider_reference: string
  /** All references of the payment at the provider. At Stripe these are the payment intent and the charge. */
  payments: readonly string[]
  amount_minor: number
  currency: Currency
  /** The idempotency key; null for refunds that this service did not make. */
  key: string | null
  outcome: RefundOutcome
}

/** The references of one payment. */
export interface PaymentReferences {
  references: readonly string[]
  /**
   * Empty when these are all references. Otherwise the account may not read the payment, whose other reference begins
   * with one of these prefixes.
   */
  unread_prefixes: readonly string[]
}

/** The provider gave no usable response. Try again later. */
export class PaymentProviderUnavailable extends Error {}

/** The gateway of one merchant account. */
export interface PaymentGateway {
  refund: (call: RefundCall) => Promise<RefundOutcome>
  /** Looks up the outcome of a refund that this service has called, by its reference or else by its key. */
  lookUp: (refund: RefundLookup) => Promise<RefundOutcome | 'not_found'>
  /**
   * Finds a refund by its reference, even one that was made at the provider. Returns null when the provider does not
   * know it. Throws `PaymentProviderUnavailable`.
   */
  findRefund: (provider_reference: string) => Promise<ProviderRefund | null>
  /**
   * Lists all references of a payment. It is only the given one when the provider does not know the payment. Throws
   * `PaymentProviderUnavailable`.
   */
  listReferences: (payment: string) => Promise<PaymentReferences>
  /** Names the permission that an account lacks when `listReferences` has `unread_prefixes`. */
  describeReadPermission: (payment: string) => string
  /**
   * Builds a reference of the same form that no payment has. The provider takes as long to refuse it as any other.
   * Returns the given one when no payment can have its form.
   */
  buildUnknownReference: (payment: string) => string
  /**
   * Reads a signed webhook. Returns null for events that are not about refunds. Throws `not_authenticated` for a wrong
   * signature.
   */
  readWebhook: (headers: Headers, body: Uint8Array<ArrayBuffer>, now: number) => Promise<PaymentEvent | null>
  readonly capabilities: {
    /** True if a call can be repeated with the same key. */
    is_idempotent: boolean
    /** True if the response of `refund` is final. */
    is_immediate: boolean
  }
}

/** A merchant account with its decrypted secrets. */
export interface GatewayAccount {
  id: string
  service: PaymentService
  /** The connected account at the provider; null means the account of the API key. */
  provider_account: string | null
  api_key: string | null
  webhook_secret: string | null
}

export interface PaymentGateways {
  get: (account: GatewayAccount) => PaymentGateway
}
