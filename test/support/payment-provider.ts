import type {
  PaymentGateway,
  PaymentGateways,
  ProviderRefund,
  RefundCall,
  RefundOutcome,
} from '../../src/gateways/payments/payments.ts'

/** The provider's reaction to one call. Some of them pay before they fail. */
export type Conduct =
  | 'pay'
  | 'pay later'
  | 'pay and lose the answer'
  | 'lose the call'
  | 'pay and die'
  | 'die'
  | RefundOutcome

/** A payment provider in memory that records its calls. The same key pays once. */
export function createProvider(options: { isIdempotent?: boolean } = {}) {
  const { isIdempotent = true } = options
  const refunds = new Map<string, ProviderRefund>()
  const calls: RefundCall[] = []
  const lookedUpKeys: string[] = []
  let script: Conduct[] = []
  let isReachable = true
  const createRefund = (
    call: Omit<RefundCall, 'metadata' | 'reason' | 'key'> & { key: string | null },
    isPaid: boolean,
  ) => {
    const provider_reference = `re_${refunds.size + 1}_${call.payment}`
    const refund: ProviderRefund = {
      provider_reference,
      payments: [call.payment],
      amount_minor: call.amount_minor,
      currency: call.currency,
      key: call.key,
      outcome: { state: isPaid ? 'completed' : 'pending', provider_reference },
    }
    refunds.set(provider_reference, refund)
    return refund
  }
  const findByKey = (key: string) => [...refunds.values()].find((refund) => refund.key === key)
  const sumPaid = (payment?: string) =>
    [...refunds.values()]
      .filter((refund) => refund.outcome.state === 'completed' && (!payment || refund.payments.includes(payment)))
      .reduce((sum, { amount_minor }) => sum + amount_minor, 0)
  const gateway: PaymentGateway = {
    refund: async (call) => {
      calls.push(call)
      const conduct = script.shift() ?? 'pay'
      if (typeof conduct === 'object') return conduct
      if (conduct === 'die') throw new Error('the consumer dies')
      if (conduct === 'lose the call') return { state: 'unknown', message: 'timeout' }
      const existing = isIdempotent ? findByKey(call.key) : undefined
      const outcome = (existing ?? createRefund(call, conduct !== 'pay later')).outcome
      if (conduct === 'pay and die') throw new Error('the consumer dies')
      return conduct === 'pay and lose the answer' ? { state: 'unknown', message: 'timeout' } : outcome
    },
    lookUp: async ({ key }) => {
      lookedUpKeys.push(key)
      if (!isReachable) return { state: 'unknown', message: 'not reached' }
      return findByKey(key)?.outcome ?? 'not_found'
    },
    findRefund: async (reference) => refunds.get(reference) ?? null,
    listReferences: async (payment) => ({ references: [payment], unread_prefixes: [] }),
    describeReadPermission: () => 'payments',
    buildUnknownReference: (payment) => `${payment}_unknown`,
    readWebhook: () => Promise.reject(new Error('this provider posts nothing')),
    capabilities: { is_idempotent: isIdempotent, is_immediate: false },
  }
  const payments: PaymentGateways = { get: () => gateway }
  return {
    payments,
    gateway,
    calls,
    lookedUpKeys,
    sumPaid,
    refunds,
    setScript: (next: readonly Conduct[]) => {
      script = [...next]
    },
    setReachable: (value: boolean) => {
      isReachable = value
    },
    /** Completes or fails a pending refund, or reverses a completed one. */
    decide: (reference: string, isPaid: boolean) => {
      const refund = refunds.get(reference)
      if (!refund) throw new Error('the provider has no such refund')
      refund.outcome = isPaid
        ? { state: 'completed', provider_reference: reference }
        : {
            state: 'failed',
            provider_reference: reference,
            code: 'expired_card',
            message: 'The card has expired.',
            is_retryable: true,
          }
    },
    /** Creates a refund that a person makes in the provider's dashboard. */
    payInDashboard: (payment: string, amount_minor: number, isPaid = true): string =>
      createRefund({ key: null, payment, amount_minor, currency: 'dkk' }, isPaid).provider_reference,
  }
}

export type Provider = ReturnType<typeof createProvider>
