/** The store of the fake Stripe: payments, refunds and refunded amounts, in minor units. */

export interface FakePayment {
  id: string
  charge: string
  amount: number
  currency: string
  /** The connected account. Null for the account of the key. */
  account: string | null
}

export type FakeStatus = 'pending' | 'succeeded' | 'failed' | 'canceled'

export interface FakeRefund {
  id: string
  object: 'refund'
  amount: number
  currency: string
  payment_intent: string
  charge: string
  reason: string | null
  status: FakeStatus
  failure_reason: string | null
  metadata: Record<string, string>
  created: number
}

export interface FakeEvent {
  id: string
  type: string
  body: string
}

/** An error in the form that Stripe uses. */
export interface Refusal {
  status: number
  error: { type: string; code?: string; param?: string; message: string }
}

export const refusal = (
  status: number,
  message: string,
  more: { code?: string; param?: string; type?: string } = {},
): Refusal => ({ status, error: { type: 'invalid_request_error', ...more, message } })

const standing: readonly FakeStatus[] = ['pending', 'succeeded']

export class FakeRefunds {
  readonly payments: FakePayment[] = []
  readonly refunds: FakeRefund[] = []
  /** In the order in which they happened. */
  readonly events: FakeEvent[] = []
  private count = 0

  private readonly now: () => number

  constructor(now: () => number) {
    this.now = now
  }

  private nextId(prefix: string): string {
    this.count += 1
    return `${prefix}_fake${String(this.count).padStart(8, '0')}`
  }

  pay({
    amount,
    currency,
    account = null,
  }: {
    amount: number
    currency: string
    account?: string | null
  }): FakePayment {
    const payment = { id: this.nextId('pi'), charge: this.nextId('ch'), amount, currency, account }
    this.payments.push(payment)
    return payment
  }

  find(reference: string, account: string | null): FakePayment | undefined {
    return this.payments.find(
      (payment) => (payment.id === reference || payment.charge === reference) && payment.account === account,
    )
  }

  of(payment: FakePayment): FakeRefund[] {
    return this.refunds.filter((refund) => refund.payment_intent === payment.id)
  }

  /** Computes the amount of a payment that is refunded, without failed refunds. */
  paidBack(paymentId: string): number {
    return this.refunds
      .filter((refund) => refund.payment_intent === paymentId && standing.includes(refund.status))
      .reduce((sum, refund) => sum + refund.amount, 0)
  }

  /** Creates a refund, or refuses one that is larger than the rest of the payment. */
  refund(
    payment: FakePayment,
    asked: { amount?: number; reason?: string; metadata?: Record<string, string>; status?: FakeStatus },
  ): FakeRefund | Refusal {
    const left = payment.amount - this.paidBack(payment.id)
    const amount = asked.amount ?? left
    if (left === 0)
      return refusal(400, `Charge ${payment.charge} has already been refunded.`, { code: 'charge_already_refunded' })
    if (!Number.isSafeInteger(amount) || amount <= 0)
      return refusal(400, 'Invalid positive integer', { code: 'parameter_invalid_integer', param: 'amount' })
    if (amount > left) {
      const message = `Refund amount (${amount}) is greater than unrefunded amount on charge (${left})`
      return refusal(400, message, { param: 'amount' })
    }
    const refund: FakeRefund = {
      id: this.nextId('re'),
      object: 'refund',
      amount,
      currency: payment.currency,
      payment_intent: payment.id,
      charge: payment.charge,
      reason: asked.reason ?? null,
      status: asked.status ?? 'succeeded',
      failure_reason: null,
      metadata: asked.metadata ?? {},
      created: Math.floor(this.now() / 1000),
    }
    this.refunds.push(refund)
    this.announce('refund.created', refund, payment.account)
    return refund
  }

  /** Changes the status of a refund, for example to a failure after a success. */
  change(refundId: string, status: FakeStatus, failureReason: string | null = null): FakeRefund {
    const refund = this.refunds.find(({ id }) => id === refundId)
    if (!refund) throw new Error(`There is no refund ${refundId}.`)
    refund.status = status
    refund.failure_reason = status === 'failed' ? (failureReason ?? 'unknown') : null
    const payment = this.payments.find(({ id }) => id === refund.payment_intent)
    this.announce('refund.updated', refund, payment?.account ?? null)
    if (status === 'failed') this.announce('refund.failed', refund, payment?.account ?? null)
    return refund
  }

  private announce(type: string, refund: FakeRefund, account: string | null): void {
    const id = this.nextId('evt')
    const event = {
      id,
      object: 'event',
      type,
      created: Math.floor(this.now() / 1000),
      livemode: false,
      ...(account === null ? {} : { account }),
      data: { object: refund },
    }
    this.events.push({ id, type, body: JSON.stringify(event) })
  }
}
