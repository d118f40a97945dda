import { describe, expect, it } from 'vitest'
import {
  orderStatuses,
  listPaymentStatusesBefore,
  paymentStatusByOrderStatus,
  transactionLifecycle,
} from '../../src/domain/orders/orders.ts'
import {
  listStatusesMovedByOrder,
  purchaseLifecycle,
  purchaseStatuses,
  purchaseStatusByOrderStatus,
} from '../../src/domain/orders/purchases.ts'

describe('the payment of an order', () => {
  it('has a state for each state of the order, and every such state is reachable', () => {
    const reached = new Set<string>([transactionLifecycle.initial])
    for (const state of reached)
      for (const target of transactionLifecycle.targetsOf(state as (typeof transactionLifecycle.states)[number]))
        reached.add(target)
    expect([...reached].toSorted()).toEqual(transactionLifecycle.states.toSorted())
    for (const status of orderStatuses)
      expect(transactionLifecycle.states).toContain(paymentStatusByOrderStatus[status])
  })

  it('does not change with its order after a refund', () => {
    for (const status of orderStatuses) {
      const from = listPaymentStatusesBefore(paymentStatusByOrderStatus[status])
      for (const later of ['partially_refunded', 'refunded', 'failed'] as const) expect(from).not.toContain(later)
    }
    expect(listPaymentStatusesBefore('authorized')).toEqual(['pending', 'authorized'])
  })
})

describe('a purchase', () => {
  it('changes with its order only along its lifecycle, and never after it was used, refunded or expired', () => {
    for (const status of orderStatuses) {
      const target = purchaseStatusByOrderStatus[status]
      for (const from of listStatusesMovedByOrder(target)) expect(purchaseLifecycle.allows(from, target)).toBe(true)
      for (const later of ['used', 'refunded', 'expired'] as const)
        expect(listStatusesMovedByOrder(target)).not.toContain(later)
    }
    expect(purchaseStatuses.flatMap((status) => listStatusesMovedByOrder(status)).length).toBeGreaterThan(0)
  })
})
