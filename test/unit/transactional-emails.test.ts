import { describe, expect, it } from 'vitest'
import { createFailure, type SendFailure } from '../../src/domain/messaging/messaging.ts'
import { judgeSend, mayRepeat } from '../../src/domain/messaging/transactional-emails.ts'

const hour = 3_600_000
const now = 1_000 * hour
const state = (more: object = {}) => ({ attempts: 1, created_at: now, first_call_at: now, is_doubtful: false, ...more })
const fail = (kind: SendFailure, retryAfterMs: number | null = null) =>
  createFailure(kind, 'code', 'detail', retryAfterMs)

describe('the state of a message after an attempt', () => {
  it('delays the next attempt longer after each failure, and as long as the provider asks', () => {
    const waits = Array.from({ length: 10 }, (_, index) => {
      const { due_at } = judgeSend(state({ attempts: index + 1 }), fail('transient'), true, now)
      return ((due_at ?? 0) - now) / 1000
    })
    expect(waits).toEqual([30, 120, 600, 1800, 3600, 7200, 14_400, 21_600, 21_600, 21_600])
    expect(judgeSend(state(), fail('rate_limited', 90_000), true, now).due_at).toBe(now + 90_000)
    expect(judgeSend(state(), fail('rate_limited', 2000), true, now).due_at).toBe(now + 2000)
    expect(judgeSend(state(), fail('rate_limited'), true, now).due_at).toBe(now + 30_000)
    expect(judgeSend(state(), fail('transient', 1000), true, now).due_at).toBe(now + 30_000)
  })

  it('stays unknown when a later answer does not decide', () => {
    const doubtful = state({ is_doubtful: true })
    for (const kind of ['transient', 'rate_limited', 'configuration', 'sender', 'unknown'] as const)
      expect(judgeSend(doubtful, fail(kind), true, now)).toMatchObject({
        status: 'pending',
        is_doubtful: true,
        keeps_content: true,
      })
    expect(judgeSend(doubtful, { ok: true, providerId: 'x' }, true, now)).toMatchObject({
      status: 'sent',
      is_doubtful: false,
    })
  })

  it('uses new content only when no recipient can have got it, and the account was at fault', () => {
    expect(judgeSend(state(), fail('transient'), true, now)).toMatchObject({ is_doubtful: false, keeps_content: true })
    for (const kind of ['configuration', 'sender'] as const)
      expect(judgeSend(state(), fail(kind), true, now)).toMatchObject({ is_doubtful: false, keeps_content: false })
  })

  it('is failed before the provider forgets the key of an unknown result, and after a day of failures', () => {
    const lateAttempt = { attempts: 8, first_call_at: now - 18 * hour }
    expect(judgeSend(state({ ...lateAttempt, is_doubtful: true }), fail('transient'), true, now)).toMatchObject({
      status: 'failed',
      error_code: 'unknown',
    })
    expect(judgeSend(state(lateAttempt), fail('transient'), true, now)).toMatchObject({
      status: 'failed',
      error_code: 'code',
    })
    expect(judgeSend(state(lateAttempt), fail('configuration'), true, now)).toMatchObject({ status: 'pending' })
    const week = state({ first_call_at: now - 168 * hour })
    expect(judgeSend(week, fail('configuration'), true, now)).toMatchObject({ status: 'failed' })
  })

  it('is final after an unknown result when the provider does not deduplicate', () => {
    expect(judgeSend(state(), fail('unknown'), false, now)).toMatchObject({ status: 'failed', error_code: 'unknown' })
    expect(mayRepeat(state(), false, now)).toBe(true)
    expect(mayRepeat(state({ is_doubtful: true }), false, now)).toBe(false)
    expect(mayRepeat(state({ is_doubtful: true }), true, now)).toBe(true)
    expect(mayRepeat(state({ is_doubtful: true, first_call_at: now - 23 * hour }), true, now)).toBe(false)
  })
})
