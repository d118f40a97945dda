import { describe, expect, it } from 'vitest'
import {
  orderStatuses,
  paymentStatusesBefore,
  paymentStatusOf,
  transactionLifecycle,
} from '../../src/domain/orders/orders.ts'
import {
  orderMovesFrom,
  purchaseLifecycle,
  purchaseStatuses,
  purchaseStatusOf,
} from '../../src/domain/orders/purchases.ts'

describe('the payment of an order', () => {
  it('has a state for each state of the order, and every such state is reachable', () => {
    const reached = new Set<string>([transactionLifecycle.initial])
    for (const state of reached)
      for (const target of transactionLifecycle.targetsOf(state as (typeof transactionLifecycle.states)[number]))
        reached.add(target)
    expect([...reached].toSorted()).toEqual(transactionLifecycle.states.toSorted())
    for (const status of orderStatuses) expect(transactionLifecycle.states).toContain(paymentStatusOf[status])
  })

  it('is not changed by its order after a refund', () => {
    for (const status of orderStatuses) {
      const from = paymentStatusesBefore(paymentStatusOf[status])
      for (const later of ['partially_refunded', 'refunded', 'failed'] as const) expect(from).not.toContain(later)
    }
    expect(paymentStatusesBefore('authorized')).toEqual(['pending', 'authorized'])
  })
})

describe('a purchase', () => {
  it('is changed by its order only along its lifecycle, and never after it was used, refunded or expired', () => {
    for (const status of orderStatuses) {
      const target = purchaseStatusOf[status]
      for (const from of orderMovesFrom(target)) expect(purchaseLifecycle.allows(from, target)).toBe(true)
      for (const later of ['used', 'refunded', 'expired'] as const) expect(orderMovesFrom(target)).not.toContain(later)
    }
    expect(purchaseStatuses.flatMap((status) => orderMovesFrom(status)).length).toBeGreaterThan(0)
  })
})
