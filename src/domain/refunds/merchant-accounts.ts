/** The services that pay back: an operator by hand, a test provider (outcomes for developers), or Stripe. */
export const paymentServices = ['manual', 'test', 'stripe'] as const
export type PaymentService = (typeof paymentServices)[number]

export const isPaymentService = (name: string): name is PaymentService =>
  (paymentServices as readonly string[]).includes(name)

/** A test account makes up its outcomes: no edition in production pays back with it. */
export const isServiceOpen = (service: PaymentService, environment: string): boolean =>
  service !== 'test' || environment !== 'production'

export const maxMerchantAccountNameLength = 200
export const maxMerchantAccountDescriptionLength = 1000
export const maxMerchantAccounts = 100

/** A connected account of Stripe. */
export const providerAccountPattern = /^acct_[A-Za-z0-9]{1,64}$/
/** A restricted or a secret key of Stripe, of its live or its test mode. */
export const apiKeyPattern = /^(rk|sk)_(live|test)_[A-Za-z0-9]{8,240}$/
/** The signing secret of an endpoint at Stripe. */
export const webhookSecretPattern = /^whsec_[A-Za-z0-9+/=_-]{8,240}$/

/**
 * The connected account by which an edition replaces that of its merchant account: `{"stripe": "acct_…"}`. Null where
 * its `merchant_id` names none for the service.
 */
export function overridingAccount(merchantId: string, service: PaymentService): string | null {
  const value: unknown = JSON.parse(merchantId)
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, service)) return null
  const account = (value as Record<string, unknown>)[service]
  return typeof account === 'string' && providerAccountPattern.test(account) ? account : null
}

/** Whether refunds that are to begin can go through the account. */
export const isReady = (
  account: { type: string; is_active: boolean; has_usable_key: boolean },
  environment: string,
): boolean =>
  account.is_active &&
  isPaymentService(account.type) &&
  isServiceOpen(account.type, environment) &&
  (account.type !== 'stripe' || account.has_usable_key)
