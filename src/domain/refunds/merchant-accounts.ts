import { fieldError, invalid } from '../errors.ts'

/** Ways of paying refunds: by a person, by a simulated provider for development, or by Stripe. */
export const paymentServices = ['manual', 'test', 'stripe'] as const
export type PaymentService = (typeof paymentServices)[number]

export const isPaymentService = (name: string): name is PaymentService =>
  (paymentServices as readonly string[]).includes(name)

/** Test accounts simulate refunds, so production has none. */
export const isServiceAvailable = (service: PaymentService, environment: string): boolean =>
  service !== 'test' || environment !== 'production'

export const maxMerchantAccountNameLength = 200
export const maxMerchantAccountDescriptionLength = 1000
export const maxMerchantAccounts = 100

export const providerAccountPattern = /^acct_[A-Za-z0-9]{1,64}$/
/** A restricted or secret key of Stripe, in live or test mode. */
export const apiKeyPattern = /^(rk|sk)_(live|test)_[A-Za-z0-9]{8,240}$/
export const webhookSecretPattern = /^whsec_[A-Za-z0-9+/=_-]{8,240}$/

/**
 * Reads the connected account that an edition uses instead of its merchant account's: `{"stripe": "acct_…"}`. Returns
 * null when `merchant_id` has none.
 */
export function readConnectedAccount(merchantId: Readonly<Record<string, unknown>>): string | null {
  const account = Object.hasOwn(merchantId, 'stripe') ? merchantId['stripe'] : null
  return typeof account === 'string' && providerAccountPattern.test(account) ? account : null
}

/** True if the account accepts new refunds. */
export const isReady = (
  account: { type: string; is_active: boolean; has_usable_key: boolean },
  environment: string,
): boolean =>
  account.is_active &&
  isPaymentService(account.type) &&
  isServiceAvailable(account.type, environment) &&
  (account.type !== 'stripe' || account.has_usable_key)

interface AccountInput {
  provider_account?: string | null | undefined
  api_key?: string | null | undefined
  webhook_secret?: string | null | undefined
  settle_manually?: boolean | undefined
  is_active?: boolean | undefined
}

const stripeFields = ['provider_account', 'api_key', 'webhook_secret'] as const

/** Throws when a field does not belong to the type of the account, or the type is not available here. */
export function checkMerchantAccount(type: string, input: AccountInput, environment: string): void {
  const foreignFields = type === 'stripe' ? [] : stripeFields.filter((name) => (input[name] ?? null) !== null)
  const errors = foreignFields.map((name) =>
    fieldError([name], 'type_mismatch', 'Only accounts of type stripe have this field.'),
  )
  if (input.settle_manually && type !== 'manual')
    errors.push(fieldError(['settle_manually'], 'type_mismatch', 'Only accounts of type manual have this field.'))
  if (input.is_active && isPaymentService(type) && !isServiceAvailable(type, environment))
    errors.push(fieldError(['type'], 'not_in_production', 'Test accounts are not available in production.'))
  if (errors.length) throw invalid(...errors)
}
