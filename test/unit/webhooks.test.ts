import { describe, expect, it } from 'vitest'
import {
  decideBreaker,
  deliveryLifecycle,
  deliveryStatuses,
  eventKindNames,
  judgeAttempt,
  decideManualRetry,
  planNextAttempt,
  parseRetryAfter,
  standardSchedule,
  timeoutMs,
} from '../../src/domain/webhooks/webhooks.ts'
import { exampleData, buildExamplePayload } from '../../src/modules/webhooks/events/example-contract.ts'
import { checkData, payloadSchema } from '../../src/modules/webhooks/events/payload-contract.ts'

const now = Date.UTC(2026, 5, 1, 8)
const hour = 3_600_000
const failure = { ok: false, status: 500, retryAfter: null }

describe('the schedule of attempts', () => {
  it('has ten attempts in 75 hours, 35 minutes and 5 seconds', () => {
    expect(standardSchedule).toHaveLength(9)
    const seconds = standardSchedule.reduce((sum, delay) => sum + delay, 0)
    expect(seconds).toBe(75 * 3600 + 35 * 60 + 5)
  })

  it('advances only by failures', () => {
    let delivery = { id: 'whd_1', step: 0, manual: null }
    const statuses: string[] = []
    for (let attempts = 1; attempts <= 10; attempts++) {
      const verdict = judgeAttempt(delivery, failure, standardSchedule, now)
      statuses.push(verdict.status)
      expect(verdict.next === null).toBe(attempts === 10)
      delivery = { ...delivery, step: verdict.step }
    }
    expect(statuses).toEqual([...Array.from({ length: 9 }, () => 'retrying'), 'exhausted'])
  })

  it('varies by up to a fifth, differently for each delivery and attempt', () => {
    const shares: number[] = []
    for (let index = 0; index < 300; index++)
      for (const [at, seconds] of standardSchedule.entries()) {
        const next = planNextAttempt({ id: `whd_${index}`, step: at + 1 }, standardSchedule, now, null)
        const sameAttempt = planNextAttempt({ id: `whd_${index}`, step: at + 1 }, standardSchedule, now, null)
        expect(sameAttempt).toEqual(next)
        expect(next?.reason).toBe('schedule')
        shares.push(((next?.at ?? 0) - now) / (seconds * 1000))
      }
    expect(Math.min(...shares)).toBeGreaterThanOrEqual(0.8 - 1e-3)
    expect(Math.max(...shares)).toBeLessThanOrEqual(1.2 + 1e-3)
    expect(Math.min(...shares)).toBeLessThan(0.82)
    expect(Math.max(...shares)).toBeGreaterThan(1.18)
    expect(shares.reduce((sum, share) => sum + share, 0) / shares.length).toBeCloseTo(1, 1)
  })

  it('is replaced only by a later Retry-After', () => {
    const position = { id: 'whd_1', step: 1 }
    expect(planNextAttempt(position, standardSchedule, now, hour)).toEqual({ at: now + hour, reason: 'retry_after' })
    expect(planNextAttempt(position, standardSchedule, now, 1)?.reason).toBe('schedule')
    expect(planNextAttempt({ ...position, step: 10 }, standardSchedule, now, hour)).toBeNull()
  })
})

describe('Retry-After', () => {
  it.each([
    ['120', 120_000],
    [' 120 ', 120_000],
    ['1.5', 1500],
    ['Mon, 01 Jun 2026 09:00:00 GMT', hour],
    ['Monday, 01-Jun-26 09:00:00 GMT', hour],
    ['Mon Jun  1 09:00:00 2026 GMT', hour],
    ['315360000', 24 * hour],
    ['999999999999', 24 * hour],
    ['Mon, 01 Jun 2036 09:00:00 GMT', 24 * hour],
    ['0', null],
    ['-5', null],
    ['', null],
    ['soon', null],
    ['garbage 2099', null],
    ['2099-01-01', null],
    ['1e9', null],
    ['Infinity', null],
    ['0x10', null],
    ['Mon, 01 Jun 2026 07:00:00 GMT', null],
    ['Mon, 99 Jun 2026 07:00:00 GMT', null],
  ])('is read: %j asks for %s ms', (header, ms) => {
    expect(parseRetryAfter(header, now)).toBe(ms)
  })

  it('may be absent', () => {
    expect(parseRetryAfter(null, now)).toBeNull()
  })
})

describe('an attempt to deliver', () => {
  const delivery = { id: 'whd_1', step: 3, manual: null }

  it('succeeds with any 2xx, and ends the delivery with 410', () => {
    expect(judgeAttempt(delivery, { ok: true, status: 204, retryAfter: null }, standardSchedule, now)).toEqual({
      status: 'success',
      step: 3,
      next: null,
    })
    expect(judgeAttempt(delivery, { ...failure, status: 410 }, standardSchedule, now)).toMatchObject({
      status: 'failed',
      next: null,
    })
  })

  it('does not advance the schedule when it was requested beside it', () => {
    const verdict = judgeAttempt({ ...delivery, manual: 'extra' }, failure, standardSchedule, now)
    expect(verdict).toMatchObject({ status: 'retrying', step: 3 })
    expect(verdict.next).not.toBeNull()
  })

  it('is not followed by another one when it was made by hand', () => {
    for (const step of [0, 3, 10])
      expect(judgeAttempt({ ...delivery, step, manual: 'alone' }, failure, standardSchedule, now)).toEqual({
        status: 'exhausted',
        step,
        next: null,
      })
  })

  it('takes 15 seconds at most by default, and 30 at most when configured', () => {
    expect([0, 1, 15, 30, 31, 2_147_483_647].map(timeoutMs)).toEqual([15_000, 1000, 15_000, 30_000, 30_000, 30_000])
  })
})

describe('a delivery', () => {
  it('ends finally only by success, and can reach every status', () => {
    expect(deliveryStatuses.filter((status) => deliveryLifecycle.isTerminal(status))).toEqual(['success'])
    const reached = new Set<string>([deliveryLifecycle.initial])
    for (const status of reached)
      for (const target of deliveryLifecycle.targetsOf(status as (typeof deliveryStatuses)[number])) reached.add(target)
    expect([...reached].toSorted()).toEqual([...deliveryStatuses].toSorted())
  })

  it('accepts a retry by hand during and after its schedule', () => {
    expect(Object.fromEntries(deliveryStatuses.map((status) => [status, decideManualRetry(status)]))).toEqual({
      pending: null,
      success: null,
      retrying: 'extra',
      failed: 'alone',
      exhausted: 'alone',
    })
  })
})

describe('the circuit breaker', () => {
  it('opens after five failures in a row, for longer each time, up to ten minutes', () => {
    const waits = [0, 4, 5, 6, 7, 9, 10, 100].map((failures) => decideBreaker(failures, now))
    expect(waits.map((until) => until && (until - now) / 1000)).toEqual([null, null, 30, 60, 120, 480, 600, 600])
  })
})

describe.each(eventKindNames)('the example of %s', (kind) => {
  it('matches the schema of its kind', () => {
    expect(checkData(kind, exampleData[kind])).toEqual(exampleData[kind])
    expect(payloadSchema(kind).strict().parse(buildExamplePayload(kind))).toEqual(buildExamplePayload(kind))
  })
})
