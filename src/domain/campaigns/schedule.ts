import { dayMs } from '../time/instants.ts'
import { findInstant } from '../time/time-zones.ts'

/** A scheduled campaign that could not start within this time fails instead. */
export const lateAfterMs = 6 * 3_600_000
export const missedSchedule = 'missed_schedule: the campaign was due more than 6 hours ago and was not sent.'

/** A Durable Object at work updates its campaign's row more often than this. */
export const quietMs = 90_000

/** ISO 8601, with or without an offset. */
export const schedulePattern = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?(Z|[+-]\d\d:\d\d)?$/

export type ScheduleFault = 'invalid_date' | 'nonexistent_local_time' | 'scheduled_at_in_past' | 'scheduled_at_too_far'

const yearMs = 366 * dayMs

/**
 * Parses the requested time, in whole seconds. A text without an offset is local time of the edition. A local time that
 * daylight saving skips is a fault, and one that occurs twice is the first.
 */
export function parseSchedule(text: string, timeZone: string, now: number): number | ScheduleFault {
  const match = schedulePattern.exec(text)
  if (!match) return 'invalid_date'
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0))
  const wall = Date.UTC(year, month - 1, day, hour, minute, second)
  const date = new Date(wall)
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day || hour > 23 || minute > 59 || second > 59)
    return 'invalid_date'
  const offset = match[7]
  const at = offset === undefined ? findInstant(timeZone, wall) : wall - parseOffsetMs(offset)
  if (at === null) return 'nonexistent_local_time'
  if (Number.isNaN(at)) return 'invalid_date'
  if (at <= now) return 'scheduled_at_in_past'
  return at > now + yearMs ? 'scheduled_at_too_far' : at
}

function parseOffsetMs(text: string): number {
  if (text === 'Z') return 0
  const [hours = 0, minutes = 0] = text.slice(1).split(':').map(Number)
  if (hours > 23 || minutes > 59) return Number.NaN
  return (text.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000
}
