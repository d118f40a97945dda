import { dayMs } from './instants.ts'
import { furtherNames, modernNames } from './time-zone-names.ts'

const minuteMs = 60_000

let offered: ReadonlySet<string> | undefined

/** The time zones to choose from, by their modern names: `UTC` and then by name. */
export function listTimeZones(): ReadonlySet<string> {
  offered ??= new Set([
    'UTC',
    ...Intl.supportedValuesOf('timeZone')
      .map((name) => modernNames[name] ?? name)
      .toSorted((a, b) => (a < b ? -1 : 1)),
  ])
  return offered
}

function isKnownToIntl(name: string): boolean {
  try {
    return Intl.DateTimeFormat('en-GB', { timeZone: name }) !== null
  } catch {
    return false
  }
}

/** True for a name of the IANA database in its exact spelling, old names too; false for offsets. */
export const isTimeZone = (name: string): boolean =>
  listTimeZones().has(name) || ((Object.hasOwn(modernNames, name) || furtherNames.has(name)) && isKnownToIntl(name))

interface WallClock {
  /** Milliseconds that local time is ahead of UTC. */
  offset: number
  /** The usual name of the zone's time: `Central European Summer Time`. */
  name: string
}

/** The offset of a zone at an instant. */
export function readWallClock(timeZone: string, at: number): WallClock {
  // Formatters of whole styles are made three times as fast as those of single fields.
  const formatter = new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'short', timeStyle: 'full' })
  const parts = new Map(formatter.formatToParts(at).map((part) => [part.type, part.value]))
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = (
    ['year', 'month', 'day', 'hour', 'minute', 'second'] as const
  ).map((type) => Number(parts.get(type)))
  const local = Date.UTC(year, month - 1, day, hour, minute, second)
  return { offset: local - Math.floor(at / 1000) * 1000, name: parts.get('timeZoneName') ?? timeZone }
}

/** `+01:00`, `-03:30`, `+00:00`. */
export function formatOffset(offset: number): string {
  const minutes = Math.round(Math.abs(offset) / minuteMs)
  const pad = (number: number) => String(number).padStart(2, '0')
  return `${offset < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`
}

export interface TimeZoneChoice {
  value: string
  label: string
  description: string
}

/**
 * All zones with their offsets at an instant, from west to east, `UTC` first. Makes hundreds of formatters: keep the
 * result.
 */
export function listTimeZoneChoices(at: number): TimeZoneChoice[] {
  const isOther = (zone: { value: string }) => Number(zone.value !== 'UTC')
  return [...listTimeZones()]
    .map((value) => ({ value, ...readWallClock(value, at) }))
    .toSorted((a, b) => isOther(a) - isOther(b) || a.offset - b.offset || (a.value < b.value ? -1 : 1))
    .map(({ value, offset, name }) => ({
      value,
      label: `(UTC${formatOffset(offset)}) ${value}`,
      description: name,
    }))
}

/**
 * When the clocks of a zone show this time, given as if it were UTC: the first instant where they show it twice, null
 * where daylight saving skips it.
 */
export function findInstant(timeZone: string, wall: number): number | null {
  const offsets = [readWallClock(timeZone, wall - dayMs).offset, readWallClock(timeZone, wall + dayMs).offset]
  const instants = offsets.map((offset) => wall - offset).filter((at) => readWallClock(timeZone, at).offset === wall - at)
  return instants.length ? Math.min(...instants) : null
}
