import { isServiceOpen, type PaymentService } from '../../domain/refunds/merchant-accounts.ts'
import { manualPayments } from './manual.ts'
import type { MerchantAccountAccess, PaymentGateway, PaymentGateways } from './payments.ts'
import { stripePayments, type StripeOptions } from './stripe.ts'
import { testPayments } from './test-outcomes.ts'

const makers: Record<PaymentService, (account: MerchantAccountAccess, options: StripeOptions) => PaymentGateway> = {
  manual: () => manualPayments,
  test: () => testPayments,
  stripe: stripePayments,
}

/** The gateways of all services. Production has no gateway that simulates outcomes. */
export const paymentGateways = (options: StripeOptions & { environment: string }): PaymentGateways => ({
  of: (account) => {
    if (!isServiceOpen(account.service, options.environment))
      throw new Error(`The service ${account.service} pays nothing back in ${options.environment}.`)
    return makers[account.service](account, options)
  },
})
