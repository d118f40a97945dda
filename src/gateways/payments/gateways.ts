import { AppError } from '../../domain/errors.ts'
import { isServiceAvailable, type PaymentService } from '../../domain/refunds/merchant-accounts.ts'
import type { GatewayAccount, PaymentGateway, PaymentGateways } from './payments.ts'
import { createStripeGateway, type StripeOptions } from './stripe.ts'
import { testGateway } from './test-outcomes.ts'

/** A person pays these refunds, so no provider is called. */
const manualGateway: PaymentGateway = {
  refund: async () => ({ state: 'completed', provider_reference: null }),
  lookUp: async () => 'not_found',
  findRefund: async () => null,
  listReferences: async (payment) => ({ references: [payment], unread_prefixes: [] }),
  describeReadPermission: () => '',
  buildUnknownReference: (payment) => payment,
  readWebhook: async () => {
    throw new AppError('not_authenticated', 'Accounts that are paid by hand have no webhooks.')
  },
  capabilities: { is_idempotent: true, is_immediate: true },
}

const builders: Record<PaymentService, (account: GatewayAccount, options: StripeOptions) => PaymentGateway> = {
  manual: () => manualGateway,
  test: () => testGateway,
  stripe: createStripeGateway,
}

/** Builds the gateway of an account. Production has no test gateway. */
export const buildPaymentGateways = (options: StripeOptions & { environment: string }): PaymentGateways => ({
  get: (account) => {
    if (!isServiceAvailable(account.service, options.environment))
      throw new Error(`The service ${account.service} is not available in ${options.environment}.`)
    return builders[account.service](account, options)
  },
})
