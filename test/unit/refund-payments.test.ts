import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  wasNeverReceived,
  computeNextCheck,
  buildRefundKey,
  parseRefundKey,
  chooseStep,
} from '../../src/domain/refunds/refund-payments.ts'

const hour = 3_600_000
const day = 24 * hour
const id = 'rfr_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8'
const progress = { provider_reference: null, began_at: 0, is_first_call: false }

describe('the idempotency key of an attempt', () => {
  it('identifies exactly its request', () => {
    expect(parseRefundKey(buildRefundKey(id, 3))).toBe(id)
    for (const other of [null, '', id, `${id}:0`, `${id}:`, ` ${id}:1`, `${id}:1 `, `ord${id.slice(3)}:1`, `${id}:1:1`])
      expect(parseRefundKey(other)).toBeNull()
  })
})

describe('the result of a refund without an answer', () => {
  it('is found by repeating the call under its key for 20 hours, and then by looking it up', () => {
    expect(chooseStep(progress, true, 20 * hour - 1)).toBe('call')
    expect(chooseStep(progress, true, 20 * hour)).toBe('look up')
  })

  it('is looked up after the provider accepted the refund, and when the provider does not deduplicate', () => {
    expect(chooseStep({ ...progress, provider_reference: 're_1' }, true, 1)).toBe('look up')
    expect(chooseStep(progress, false, 1)).toBe('look up')
    expect(chooseStep({ ...progress, is_first_call: true }, false, 1)).toBe('call')
  })

  it('is "never called" only once the call must be over', () => {
    expect(wasNeverReceived(progress, 15 * 60_000 - 1)).toBe(false)
    expect(wasNeverReceived(progress, 15 * 60_000)).toBe(true)
    expect(wasNeverReceived({ ...progress, provider_reference: 're_1' }, day)).toBe(false)
  })
})

describe('the next check of an unfinished refund', () => {
  it('comes after 1, 6, 24 and 72 hours and each day for 30 days, and then the refund is flagged for a person', () => {
    const marks: number[] = []
    let attention: number | null = null
    for (let now = 0, checks = 0; now < 45 * day; checks++) {
      const next = computeNextCheck({ began_at: 0, checks, is_accepted: true }, now)
      if (next.needs_attention) attention ??= now
      expect(next.due_at).toBeGreaterThan(now)
      now = next.due_at
      marks.push(now / hour)
    }
    expect(marks.slice(0, 6)).toEqual([1, 6, 24, 72, 96, 120])
    expect(marks[30]).toBe(30 * 24)
    expect(attention).toBe(30 * day)
  })

  it('comes within the hour without any answer, and always later than now', () => {
    fc.assert(
      fc.property(fc.nat(40 * day), fc.nat(2000), fc.boolean(), (age, checks, is_accepted) => {
        const { due_at, needs_attention } = computeNextCheck({ began_at: 0, checks, is_accepted }, age)
        expect(due_at).toBeGreaterThan(age)
        expect(needs_attention).toBe(age >= 30 * day)
        if (!is_accepted && age < 72 * hour) expect(due_at - age).toBeLessThanOrEqual(hour)
        if (age < 30 * day && (is_accepted || age >= 72 * hour)) expect(due_at - age).toBeLessThanOrEqual(48 * hour)
      }),
    )
  })
})
