import { describe, expect, it } from 'vitest'
import type { Schema } from '../src/api'
import { findOrderMax, findTicketMax, sumRemainder } from '../src/pages/orders/refund-max'

type Order = Schema['OrderDetail']
type Payment = Order['transactions'][number]

const payment = (fields: Partial<Payment>): Payment =>
  ({
    type: 'payment',
    status: 'captured',
    amount: 910,
    refunded_amount: 0,
    pending_refund_amount: 0,
    ...fields,
  }) as Payment

const order = (...transactions: Payment[]): Order =>
  ({ status: 'completed', max_available_refund_amount: 895, transactions }) as Order

const ticket = {
  status: 'active' as const,
  price_paid: 89.9,
  deposit_paid: 20.1,
  handling_fee_paid: 10,
  refunded_amount: 0,
  pending_refund_amount: 0,
}

describe('the most that can be refunded', () => {
  it('is what the order says, and with fees all that is left of its captured payments', () => {
    expect(findOrderMax(order(payment({})), false)).toBe(895)
    expect(findOrderMax(order(payment({ refunded_amount: 100.1, pending_refund_amount: 0.2 })), true)).toBe(809.7)
    expect(sumRemainder(order(payment({ status: 'pending' }), payment({ type: 'refund' })))).toBe(0)
    expect(sumRemainder(order(payment({ status: 'partially_refunded', amount: 0.3, refunded_amount: 0.1 })))).toBe(0.2)
    expect(sumRemainder(order(payment({ amount: 10, refunded_amount: 12 })))).toBe(0)
  })

  it('is price and deposit of a ticket, with its handling fee if fees are refunded', () => {
    expect(findTicketMax(ticket, order(payment({})), false)).toBe(110)
    expect(findTicketMax(ticket, order(payment({})), true)).toBe(120)
    expect(
      findTicketMax({ ...ticket, refunded_amount: 100, pending_refund_amount: 5.5 }, order(payment({})), true),
    ).toBe(14.5)
  })

  it('is never more than what is left of the payment', () => {
    expect(findTicketMax(ticket, order(payment({ amount: 50 })), true)).toBe(50)
    expect(findTicketMax(ticket, order(), true)).toBe(0)
  })

  it('is nothing for a ticket that its customer does not hold', () => {
    expect(findTicketMax({ ...ticket, status: 'refunded' }, order(payment({})), true)).toBe(0)
    expect(findTicketMax({ ...ticket, status: 'cancelled' }, order(payment({})), true)).toBe(0)
    const cancelledOrder = { ...order(payment({})), status: 'cancelled' as const }
    expect(findTicketMax({ ...ticket, status: 'cancelled' }, cancelledOrder, false)).toBe(110)
  })
})
