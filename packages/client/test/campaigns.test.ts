import { describe, expect, it } from 'vitest'
import { addSample, computeRate, describeProgress, type Campaign, type Sample } from '../cli/campaigns/progress.ts'
import { drawProgress, formatDuration } from '../cli/campaigns/screen.ts'

const campaign = {
  id: 'cmp_1',
  name: 'Early \u001b[2Jbirds',
  status: 'sending',
  is_paused: false,
  total_recipients: 1000,
  sent_count: 400,
  failed_count: 100,
  skipped_count: 7,
  failed_by_reason: { rejected: 2, unreachable: 98, unknown: 0 },
  waiting_reason: null,
  next_attempt_at: null,
  scheduled_at: null,
  error_message: '',
} as unknown as Campaign

const samples: Sample[] = [
  { ms: 0, done: 300 },
  { ms: 10_000, done: 500 },
]

describe('the progress of a campaign', () => {
  it('has the rate of the last half minute, and the time that is left', () => {
    expect(describeProgress(campaign, 390, samples)).toMatchObject({
      pending_count: 500,
      messages_per_second: 20,
      seconds_left: 25,
      failed_by_reason: { rejected: 2, unreachable: 98 },
    })
    const later = addSample(samples, { ms: 35_000, done: 500 })
    expect(computeRate(later)).toBe(0)
    expect(describeProgress(campaign, 390, later)).toMatchObject({ messages_per_second: 0, seconds_left: null })
    // A retry counts fewer messages than the run before it.
    expect(addSample(samples, { ms: 11_000, done: 450 })).toEqual([samples[0], { ms: 11_000, done: 450 }])
  })

  it('is drawn without the control characters of a name', () => {
    const lines = drawProgress(describeProgress(campaign, 390, samples))
    expect(lines).toEqual([
      'Early birds: sending',
      '[###############---------------] 50 %',
      'sent 400, delivered 390, failed 100, pending 500, skipped 7',
      '20 messages a second, about 25 s left',
      'failures: unreachable 98, rejected 2',
    ])
  })

  it('says what a campaign waits for', () => {
    const waiting = {
      ...campaign,
      is_paused: true,
      waiting_reason: 'It is night.',
      next_attempt_at: '2026-06-01T07:00:00Z',
    }
    expect(drawProgress(describeProgress(waiting, 0, []))).toEqual(
      expect.arrayContaining([
        'Early birds: sending, paused',
        'waiting: It is night. It goes on at 2026-06-01T07:00:00Z.',
      ]),
    )
  })

  it.each([
    [45, '45 s'],
    [61, '2 min'],
    [7500, '2 h 5 min'],
  ])('writes %i seconds as %s', (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text)
  })
})
