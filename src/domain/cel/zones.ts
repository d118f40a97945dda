import { findNearest } from '../text/nearest.ts'
import { minuteMs } from '../time/instants.ts'
import { isTimeZone, listTimeZones } from '../time/time-zones.ts'
import { Refusal, type SourceRange } from './types.ts'

/** Reads an offset such as `+05:45` into milliseconds. Null: the text is no offset. */
export function parseOffset(text: string): number | null {
  const match = /^([+-]?)(\d{2}):(\d{2})$/.exec(text)
  if (!match) return null
  const [, sign, hours, minutes] = match
  if (Number(hours) > 23 || Number(minutes) > 59) return null
  return (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -minuteMs : minuteMs)
}

/** Refuses a text that names no time zone. */
export function checkZone(text: string, range: SourceRange): void {
  if (isTimeZone(text) || parseOffset(text) !== null) return
  const nearest =
    text.length > 60 ? null : findNearest(text, [...listTimeZones()], (name) => [name, name.replace(/^.*\//, '')])
  const suggestion = nearest ? `Did you mean "${nearest}"?` : 'Write it as "Europe/Copenhagen" or "+02:00".'
  throw new Refusal('unknown_time_zone', `There is no time zone "${text.slice(0, 60)}". ${suggestion}`, range)
}
