import { AppError } from '../../domain/errors.ts'
import type { PaymentGateway } from './payments.ts'

/** An operator pays by hand: no provider is called or read. */
export const manualPayments: PaymentGateway = {
  refund: async () => ({ state: 'completed', provider_reference: null }),
  lookup: async () => 'not_found',
  find: async () => null,
  // No reference is looked up here.
  references: async (payment) => [payment],
  unknownPayment: (payment) => payment,
  verify: async () => {
    throw new AppError('not_authenticated', 'Accounts that are paid by hand have no webhooks.')
  },
  capabilities: { is_idempotent: true, is_immediate: true },
}
