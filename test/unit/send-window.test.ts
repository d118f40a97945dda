import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findWindowFaults, findWindowState, type SendWindow, weekdays } from '../../src/domain/campaigns/send-window.ts'
import { formatInZone, readWallClock } from '../../src/domain/time/time-zones.ts'

const zone = 'Europe/Copenhagen'
const everyDay = { days: weekdays }
const at = (text: string) => Date.parse(text)

const describeState = (window: SendWindow, now: string, timeZone = zone) => {
  const { isOpen, changesAt } = findWindowState(window, timeZone, at(now))
  return `${isOpen ? 'open' : 'closed'} until ${formatInZone(changesAt, timeZone)}`
}

describe('a send window', () => {
  const office: SendWindow = {
    days: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday'],
    from: '09:00',
    to: '20:00',
  }
  it.each([
    ['2026-06-01T06:59:59.999Z', 'closed until 2026-06-01T09:00:00+02:00'],
    ['2026-06-01T07:00:00Z', 'open until 2026-06-01T20:00:00+02:00'],
    ['2026-06-01T17:59:59.999Z', 'open until 2026-06-01T20:00:00+02:00'],
    ['2026-06-01T18:00:00Z', 'closed until 2026-06-02T09:00:00+02:00'],
    ['2026-06-05T18:00:00Z', 'closed until 2026-06-08T09:00:00+02:00'],
  ])('opens and closes in local time of its days (%s)', (now, expected) => {
    expect(describeState(office, now)).toBe(expected)
  })

  it('belongs to the day on which it begins when it goes past midnight', () => {
    const window: SendWindow = { days: ['friday'], from: '22:00', to: '02:00' }
    expect(describeState(window, '2026-06-05T21:00:00Z')).toBe('open until 2026-06-06T02:00:00+02:00')
    expect(describeState(window, '2026-06-05T23:30:00Z')).toBe('open until 2026-06-06T02:00:00+02:00')
    expect(describeState(window, '2026-06-04T23:30:00Z')).toBe('closed until 2026-06-05T22:00:00+02:00')
  })

  it('can be a whole day', () => {
    const window: SendWindow = { days: ['sunday'], from: '00:00', to: '24:00' }
    expect(describeState(window, '2026-06-06T21:59:59Z')).toBe('closed until 2026-06-07T00:00:00+02:00')
    expect(describeState(window, '2026-06-06T22:00:00Z')).toBe('open until 2026-06-08T00:00:00+02:00')
    expect(findWindowFaults(window)).toEqual([])
    expect(findWindowFaults({ ...window, to: '00:00' }).map(({ pointer }) => pointer)).toEqual(['#/send_window/to'])
  })

  // Clocks go from 02:00 to 03:00 on 29 March 2026, and from 03:00 to 02:00 on 25 October.
  it.each([
    ['02:30', '05:00', '2026-03-29T00:30:00Z', 'closed until 2026-03-29T03:00:00+02:00'],
    ['01:00', '02:30', '2026-03-29T00:30:00Z', 'open until 2026-03-29T03:00:00+02:00'],
    ['02:15', '02:45', '2026-03-29T00:30:00Z', 'closed until 2026-03-30T02:15:00+02:00'],
    ['02:30', '05:00', '2026-10-25T00:00:00Z', 'closed until 2026-10-25T02:30:00+02:00'],
    ['02:30', '05:00', '2026-10-25T01:15:00Z', 'open until 2026-10-25T05:00:00+01:00'],
    ['01:00', '02:30', '2026-10-25T00:29:00Z', 'open until 2026-10-25T02:30:00+02:00'],
    ['01:00', '02:30', '2026-10-25T01:15:00Z', 'closed until 2026-10-26T01:00:00+01:00'],
  ])('from %s to %s takes the next time that exists and the first of two (%s)', (from, to, now, expected) => {
    expect(describeState({ ...everyDay, from, to }, now)).toBe(expected)
  })

  it('is found for a day that comes once a week although daylight saving skips it', () => {
    const window: SendWindow = { days: ['sunday'], from: '02:15', to: '02:45' }
    expect(describeState(window, '2026-03-22T10:00:00Z')).toBe('closed until 2026-04-05T02:15:00+02:00')
  })

  it('is open in the minutes whose local time is in it, unless clocks change that day', () => {
    const time = fc.integer({ min: 0, max: 95 }).map((quarter) => quarter * 15)
    const format = (minutes: number) =>
      `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
    const zones = fc.constantFrom(zone, 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'Pacific/Apia')
    const run = fc.property(
      fc.uniqueArray(fc.constantFrom(...weekdays), { minLength: 1 }),
      fc.tuple(time, time).filter(([from, to]) => from !== to),
      zones,
      fc.integer({ min: at('2026-01-01T00:00:00Z') / 60_000, max: at('2028-01-01T00:00:00Z') / 60_000 }),
      (days, [from, to], timeZone, minute) => {
        const now = minute * 60_000
        const window = { days, from: format(from), to: format(to) }
        const { isOpen, changesAt } = findWindowState(window, timeZone, now)
        expect(changesAt).toBeGreaterThan(now)
        expect(findWindowState(window, timeZone, changesAt - 1).isOpen).toBe(isOpen)
        expect(findWindowState(window, timeZone, changesAt - 1).changesAt).toBe(changesAt)
        const { offset } = readWallClock(timeZone, now)
        const neighbours = [-2, 2].map((day) => readWallClock(timeZone, now + day * 86_400_000).offset)
        if (neighbours.some((other) => other !== offset)) return
        const local = new Date(now + offset)
        const minutes = local.getUTCHours() * 60 + local.getUTCMinutes()
        const isDay = (day: number) => days.includes(weekdays[(local.getUTCDay() + 6 + day) % 7] ?? 'monday')
        const expected =
          from < to
            ? isDay(0) && from <= minutes && minutes < to
            : (isDay(0) && from <= minutes) || (isDay(6) && minutes < to)
        expect([window, timeZone, local.toISOString(), isOpen]).toEqual([
          window,
          timeZone,
          local.toISOString(),
          expected,
        ])
      },
    )
    fc.assert(run, { numRuns: 300 })
  })
})
