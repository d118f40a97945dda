import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { zeroCounters, computeRates } from '../../src/domain/campaigns/counters.ts'
import {
  isMachine,
  parseReference,
  toRecipientEvent,
  formatReference,
  computeStampChanges,
  type Stamps,
  recipientEventTypes,
} from '../../src/domain/campaigns/recipient-events.ts'
import { parseSchedule } from '../../src/domain/campaigns/schedule.ts'
import { computeCallSize, computeChunkSize, judgeResult } from '../../src/domain/campaigns/sending-policy.ts'
import { newId } from '../../src/domain/ids.ts'
import type { SendFailure, SendResult } from '../../src/domain/messaging/messaging.ts'
import { buildTrackableSms } from '../../src/domain/messaging/sms.ts'
import { formatInZone } from '../../src/domain/time/time-zones.ts'
import { agentsOfMachines, agentsOfPeople } from '../support/user-agents.ts'

const copenhagen = 'Europe/Copenhagen'

describe('the scheduled time of a campaign', () => {
  const now = Date.parse('2026-02-01T00:00:00Z')
  const iso = (text: string, zone = copenhagen) => {
    const at = parseSchedule(text, zone, now)
    return typeof at === 'number' ? new Date(at).toISOString() : at
  }

  it('is local time of the edition without an offset', () => {
    expect(iso('2026-06-01T10:00:00')).toBe('2026-06-01T08:00:00.000Z')
    expect(iso('2026-12-01T10:00')).toBe('2026-12-01T09:00:00.000Z')
    expect(iso('2026-06-01T10:00:00', 'Asia/Kolkata')).toBe('2026-06-01T04:30:00.000Z')
    expect(iso('2026-06-01T10:00:00', 'UTC')).toBe('2026-06-01T10:00:00.000Z')
  })

  it('is that instant with an offset', () => {
    expect(iso('2026-06-01T10:00:00+05:00')).toBe('2026-06-01T05:00:00.000Z')
    expect(iso('2026-06-01T10:00:00.900Z')).toBe('2026-06-01T10:00:00.000Z')
  })

  it('is invalid when local time skips it', () => {
    expect(iso('2026-03-29T02:00:00')).toBe('nonexistent_local_time')
    expect(iso('2026-03-29T02:59:59')).toBe('nonexistent_local_time')
    expect(iso('2026-03-29T01:59:59')).toBe('2026-03-29T00:59:59.000Z')
    expect(iso('2026-03-29T03:00:00')).toBe('2026-03-29T01:00:00.000Z')
    expect(iso('2026-03-08T02:30:00', 'America/New_York')).toBe('nonexistent_local_time')
  })

  it('is the first of two instants when local time repeats it', () => {
    expect(iso('2026-10-25T02:30:00')).toBe('2026-10-25T00:30:00.000Z')
    expect(iso('2026-10-25T02:30:00+01:00')).toBe('2026-10-25T01:30:00.000Z')
    expect(iso('2026-04-05T01:45:00', 'Australia/Lord_Howe')).toBe('2026-04-04T14:45:00.000Z')
  })

  it.each([
    ['2026-02-30T10:00:00', 'invalid_date'],
    ['2026-06-01T24:00:00', 'invalid_date'],
    ['2026-06-01', 'invalid_date'],
    ['tomorrow', 'invalid_date'],
    ['2026-06-01T10:00:00+99:00', 'invalid_date'],
    ['2026-01-31T10:00:00', 'scheduled_at_in_past'],
    ['2026-02-01T01:00:00', 'scheduled_at_in_past'],
    ['2027-02-03T01:00:00', 'scheduled_at_too_far'],
  ])('is refused: %s', (text, fault) => expect(iso(text)).toBe(fault))

  it('is returned with the offset of its day', () => {
    expect(formatInZone(Date.parse('2026-06-01T08:00:00Z'), copenhagen)).toBe('2026-06-01T10:00:00+02:00')
    expect(formatInZone(Date.parse('2026-12-01T09:00:00Z'), copenhagen)).toBe('2026-12-01T10:00:00+01:00')
    expect(formatInZone(Date.parse('2026-06-01T10:00:00Z'), 'UTC')).toBe('2026-06-01T10:00:00+00:00')
  })

  it('is returned as it was sent, on every hour of two years', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 365 * 24 * 4 }),
        fc.constantFrom(copenhagen, 'America/New_York'),
        (quarter, zone) => {
          const at = now + quarter * 900_000
          expect(parseSchedule(formatInZone(at, zone), zone, now)).toBe(at)
          // Without its offset it is the same instant, or the first of two.
          const local = parseSchedule(formatInZone(at, zone).slice(0, 19), zone, now)
          expect([at, at - 3_600_000]).toContain(local)
        },
      ),
      { numRuns: 200 },
    )
  })
})

describe('recipient events', () => {
  const clean: Stamps & { sent_at: number } = {
    sent_at: 0,
    delivered_at: null,
    opened_at: null,
    machine_opened_at: null,
    clicked_at: null,
    bounced_at: null,
    complained_at: null,
    unsubscribed_at: null,
  }
  const arbitraryEvent = fc.record({
    n: fc.constant(1),
    type: fc.constantFrom(...recipientEventTypes),
    at: fc.integer({ min: 1, max: 10_000 }),
    is_visit: fc.boolean(),
  })

  it('lead to the same times in any order and with any repeats', () => {
    fc.assert(
      fc.property(fc.array(arbitraryEvent, { maxLength: 8 }), fc.nat(), (events, seed) => {
        const play = (list: typeof events) =>
          list.reduce((row, event) => ({ ...row, ...computeStampChanges(row, event) }), { ...clean })
        const shuffled = events
          .map((event, index) => ({ one: event, key: ((index + 1) * (seed + 7919)) % 1009 }))
          .toSorted((a, b) => a.key - b.key)
          .map(({ one }) => one)
        expect(play([...shuffled, ...events])).toEqual(play(events))
      }),
    )
  })

  it('count a click that follows too fast as one by a machine', () => {
    const row = { ...clean, sent_at: 5000 }
    expect(computeStampChanges(row, { n: 1, type: 'clicked', at: 6000, is_visit: true })).toEqual({
      machine_opened_at: 6000,
      delivered_at: 6000,
    })
    expect(computeStampChanges(row, { n: 1, type: 'clicked', at: 7000, is_visit: true })).toMatchObject({
      clicked_at: 7000,
    })
  })

  it.each(agentsOfPeople)('count as visits of a person with the user agent %s', (agent) => {
    expect(isMachine('GET', agent)).toBe(false)
    expect(isMachine('HEAD', agent)).toBe(true)
  })

  it.each([...agentsOfMachines, null, '', ' '])('count as visits of a machine with the user agent %s', (agent) =>
    expect(isMachine('GET', agent)).toBe(true),
  )

  it('are matched by references that providers accept', () => {
    const id = newId('campaign', 1, Math.random)
    expect(formatReference(id, 12)).toMatch(/^[\w-]+$/)
    expect(parseReference(formatReference(id, 12))).toEqual({ campaign_id: id, n: 12 })
    for (const text of [null, '', 'tem_1', 'cmp_', `${id}-`, `${id}-x`]) expect(parseReference(text)).toBeNull()
  })

  it('count a later failure as a bounce, and ignore late events', () => {
    const outcome = {
      id: 'e',
      reference: null,
      providerId: 'p',
      address: null,
      at: 5,
      bounce: null,
      url: null,
      detail: '',
    }
    expect(toRecipientEvent(3, { ...outcome, type: 'failed' })).toMatchObject({ n: 3, type: 'bounced' })
    expect(toRecipientEvent(3, { ...outcome, type: 'deferred' })).toBeNull()
  })
})

describe('the result of a message', () => {
  const result = (kind: SendFailure, retryAfterMs: number | null = null): SendResult => ({
    ok: false,
    kind,
    code: 'c',
    detail: 'd',
    retryAfterMs,
  })
  const hour = 3_600_000
  const attempt = { now: hour, is_repeat: false, tries: 0, first_tried_at: hour, deduplicates: true }
  const later = { ...attempt, now: 25 * hour, first_tried_at: 0 }

  it.each([
    ['permanent', attempt, { to: 'failed', reason: 'rejected' }],
    ['permanent', { ...attempt, is_repeat: true }, { to: 'failed', reason: 'unknown' }],
    ['transient', attempt, { to: 'retry', is_repeat: true }],
    ['transient', { ...attempt, deduplicates: false }, { to: 'retry', is_repeat: false }],
    ['transient', { ...attempt, deduplicates: false, tries: 7 }, { to: 'failed', reason: 'unreachable' }],
    ['transient', { ...later, is_repeat: true }, { to: 'failed', reason: 'unknown' }],
    ['rate_limited', attempt, { to: 'retry', is_repeat: false }],
    ['rate_limited', { ...attempt, is_repeat: true }, { to: 'retry', is_repeat: true }],
    ['rate_limited', later, { to: 'failed', reason: 'rate_limited' }],
    ['unknown', attempt, { to: 'retry', is_repeat: true }],
    ['unknown', { ...attempt, deduplicates: false }, { to: 'failed', reason: 'unknown' }],
    ['unknown', later, { to: 'failed', reason: 'unknown' }],
    ['configuration', attempt, { to: 'halted' }],
    ['sender', attempt, { to: 'halted' }],
  ] as const)('decides what happens next, after %s', (kind, at, verdict) =>
    expect(judgeResult(result(kind), at)).toMatchObject(verdict),
  )

  it('delays the next call as long as the provider asks', () => {
    expect(judgeResult(result('rate_limited', 42_000), attempt)).toMatchObject({ at: attempt.now + 42_000 })
    expect(judgeResult(result('transient', 900_000), attempt)).toMatchObject({ at: attempt.now + 900_000 })
  })

  it('a call has fewer messages the larger they are', () => {
    expect([0, 20_000, 40_000, 100_000, 400_000, 5_000_000].map((weight) => computeCallSize(100, weight))).toEqual([
      100, 100, 100, 40, 10, 1,
    ])
    expect(computeCallSize(10, 100_000)).toBe(10)
  })

  it('a chunk has as many recipients as whole calls need', () => {
    expect([100, 500, 50, 30, 10, 1].map(computeChunkSize)).toEqual([100, 100, 50, 60, 50, 50])
  })
})

describe('the rates of a campaign', () => {
  it('have four decimals, and are 0 without recipients', () => {
    expect(computeRates(zeroCounters)).toEqual({ delivery_rate: 0, open_rate: 0, click_rate: 0, unsubscribe_rate: 0 })
    expect(computeRates({ ...zeroCounters, sent: 7, delivered: 3, opened: 1, clicked: 2, unsubscribed: 3 })).toEqual({
      delivery_rate: 0.4286,
      open_rate: 0.3333,
      click_rate: 0.6667,
      unsubscribe_rate: 1,
    })
  })
})

describe('an SMS with links', () => {
  it('has counted links and an unsubscribe text', () => {
    const { text, links } = buildTrackableSms(
      'See https://a.example/x, https://b.example. {{ customer.first_name }} https://a.example/x',
      'da',
    )
    expect(links).toEqual(['https://a.example/x', 'https://b.example'])
    expect(text).toBe(
      'See {{ tracking.links[0] }}, {{ tracking.links[1] }}. {{ customer.first_name }} {{ tracking.links[0] }}\nAfmeld: {{ links.unsubscribe }}',
    )
    expect(buildTrackableSms('https://a.example/{{ customer.first_name }}', 'en').links).toEqual([])
    expect(buildTrackableSms('Out: {{ links.unsubscribe }}', 'en').text).toBe('Out: {{ links.unsubscribe }}')
  })
})
