import { type FieldError, fieldError } from '../errors.ts'
import { dayMs, minuteMs } from '../time/instants.ts'
import { listOffsets, type OffsetSpan } from '../time/time-zones.ts'

export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const
export type Weekday = (typeof weekdays)[number]

/**
 * The days and hours in which a campaign sends, in local time. A window whose `to` is not after its `from` ends on the
 * day after the one that it begins on.
 */
export interface SendWindow {
  days: readonly Weekday[]
  /** `HH:MM` */
  from: string
  /** `HH:MM`, up to `24:00`. */
  to: string
}

export const windowStartPattern = /^(?:[01]\d|2[0-3]):[0-5]\d$/
export const windowEndPattern = /^(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/

/** Lists what keeps a window from ever being open. `24:00` of a day is `00:00` of the next one. */
export const findWindowFaults = ({ from, to }: SendWindow): FieldError[] =>
  from === to
    ? [
        fieldError(
          ['send_window', 'to'],
          'empty_window',
          '`to` must differ from `from`. A whole day is 00:00 to 24:00.',
        ),
      ]
    : []

export interface WindowState {
  isOpen: boolean
  /** The instant at which the window closes or opens next. */
  changesAt: number
}

/** Days that are searched for the next opening. Daylight saving can skip the window of one week. */
const searchedDays = 16

const parseTime = (text: string): number => {
  const [hours = 0, minutes = 0] = text.split(':').map(Number)
  return (hours * 60 + minutes) * minuteMs
}

/**
 * The first instant at which clocks show a local time, which is given as if it were UTC. If daylight saving skips it, it
 * is the instant at which clocks are changed.
 */
function toInstant(spans: readonly OffsetSpan[], wall: number): number {
  for (const { from, to, offset } of spans) if (wall < to + offset) return Math.max(from, wall - offset)
  throw new Error('no span has the local time')
}

/** 1 January 1970 was a Thursday. */
const getWeekday = (day: number): Weekday => weekdays[(((day + 3) % 7) + 7) % 7] ?? 'monday'

/** Tells whether a window is open at an instant, and when that changes. */
export function findWindowState({ days, from, to }: SendWindow, timeZone: string, at: number): WindowState {
  const firstDay = Math.floor(at / dayMs) - 2
  const lastDay = firstDay + searchedDays
  const spans = listOffsets(timeZone, (firstDay - 2) * dayMs, (lastDay + 4) * dayMs)
  const [start, end] = [parseTime(from), parseTime(to)]
  for (let day = firstDay; day <= lastDay; day++) {
    if (!days.includes(getWeekday(day))) continue
    const opensAt = toInstant(spans, day * dayMs + start)
    const closesAt = toInstant(spans, day * dayMs + end + (end > start ? 0 : dayMs))
    // Daylight saving may skip the whole window of a day.
    if (closesAt <= at || closesAt <= opensAt) continue
    return at < opensAt ? { isOpen: false, changesAt: opensAt } : { isOpen: true, changesAt: closesAt }
  }
  throw new Error('the window never opens')
}
