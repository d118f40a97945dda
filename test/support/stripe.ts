import { vi } from 'vitest'
import type { GatewayAccount, RefundCall } from '../../src/gateways/payments/payments.ts'
import { createStripeGateway } from '../../src/gateways/payments/stripe.ts'

export const account: GatewayAccount = {
  id: 'mac_1',
  service: 'stripe',
  provider_account: null,
  api_key: 'rk_test_NeverShown1234',
  webhook_secret: 'whsec_of_the_tests',
}
export const gateway = (more: Partial<GatewayAccount> = {}) =>
  createStripeGateway({ ...account, ...more }, { apiBase: '', timeoutMs: 300 })

export const buildCall = (fields: Partial<RefundCall> = {}): RefundCall => ({
  key: 'rfr_1:1',
  payment: 'pi_1',
  amount_minor: 1250,
  currency: 'dkk',
  reason: 'customer_request',
  metadata: { refund_request: 'rfr_1' },
  ...fields,
})

export const buildStripeRefund = (fields: Record<string, unknown> = {}) => ({
  id: 're_1',
  object: 'refund',
  amount: 1250,
  currency: 'dkk',
  payment_intent: 'pi_1',
  charge: 'ch_1',
  status: 'succeeded',
  metadata: { refund_key: 'rfr_1:1' },
  ...fields,
})

export const mockAnswer = (status: number, body: unknown) =>
  vi
    .spyOn(globalThis, 'fetch')
    .mockImplementation(async () => new Response(typeof body === 'string' ? body : JSON.stringify(body), { status }))
