import { dayMs } from '../time/instants.ts'
import { findInstant, formatOffset, readWallClock } from '../time/time-zones.ts'

/** A campaign that is later than this is not sent any more. */
export const lateAfterMs = 6 * 3_600_000
export const missedSchedule = 'missed_schedule: the campaign was due more than 6 hours ago and was not sent.'

/** ISO 8601, with or without an offset. */
export const schedulePattern = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?(Z|[+-]\d\d:\d\d)?$/

export type ScheduleFault = 'invalid_date' | 'nonexistent_local_time' | 'scheduled_at_in_past' | 'scheduled_at_too_far'

const yearMs = 366 * dayMs

/**
 * The instant that a client requests, in whole seconds. Without an offset it is local time of the edition: a time
 * that daylight saving skips is refused, and one that comes twice means the first.
 */
export function scheduleOf(text: string, timeZone: string, now: number): number | ScheduleFault {
  const found = schedulePattern.exec(text)
  if (!found) return 'invalid_date'
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = found
    .slice(1, 7)
    .map((part) => Number(part ?? 0))
  const wall = Date.UTC(year, month - 1, day, hour, minute, second)
  const read = new Date(wall)
  if (read.getUTCMonth() !== month - 1 || read.getUTCDate() !== day || hour > 23 || minute > 59 || second > 59)
    return 'invalid_date'
  const offset = found[7]
  const at = offset === undefined ? findInstant(timeZone, wall) : wall - offsetMs(offset)
  if (at === null) return 'nonexistent_local_time'
  if (Number.isNaN(at)) return 'invalid_date'
  if (at <= now) return 'scheduled_at_in_past'
  return at > now + yearMs ? 'scheduled_at_too_far' : at
}

function offsetMs(text: string): number {
  if (text === 'Z') return 0
  const [hours = 0, minutes = 0] = text.slice(1).split(':').map(Number)
  if (hours > 23 || minutes > 59) return Number.NaN
  return (text.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000
}

/** An instant as the clocks of the zone show it, with the offset: `2026-06-01T10:00:00+02:00`. */
export function inZone(at: number, timeZone: string): string {
  const { offset } = readWallClock(timeZone, at)
  return new Date(at + offset).toISOString().slice(0, 19) + formatOffset(offset)
}
