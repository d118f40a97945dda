import { type Context, filters } from 'liquidjs/dist/liquid.browser.mjs'
import { type Language, languages, toBcp47 } from '../../languages.ts'
import { isRecord } from '../../text/json.ts'
import { minuteMs } from '../../time/instants.ts'
import { isTimeZone, readWallClock } from '../../time/time-zones.ts'
import { LocalDate } from './local-date.ts'

const quarterMs = 15 * minuteMs

/** Finding the offset of a zone takes as long as composing a message. Offsets change at full quarters of an hour. */
const offsets = new Map<string, number>()
const maxCachedOffsets = 200

/** The minutes that local time is behind UTC, as JavaScript and LiquidJS count. */
function findTimezoneOffset(timeZone: string, at: number): number {
  const key = `${timeZone} ${Math.floor(at / quarterMs)}`
  const cachedOffset = offsets.get(key)
  if (cachedOffset !== undefined) return cachedOffset
  const offset = -readWallClock(timeZone, at).offset / minuteMs
  if (offsets.size >= maxCachedOffsets) offsets.clear()
  offsets.set(key, offset)
  return offset
}

/** A percent sign, or a directive whose text LiquidJS writes in English or, for Polish months, in another case. */
const directive = /%%|%(?<flags>[-_0^#]*)(?<name>[Bcx]|X)/g
const styles = {
  c: { dateStyle: 'short', timeStyle: 'medium' },
  x: { dateStyle: 'short' },
  X: { timeStyle: 'medium' },
} as const

/** Writes what LiquidJS cannot write in the language of the message into the format. */
function localiseFormat(format: string, at: number, language: Language, timeZone: string): string {
  const locale = toBcp47(language)
  const hasDay = /%[-_0^#]*[de]/.test(format)
  return format.replaceAll(
    directive,
    (match, flags: string | undefined, name: 'B' | keyof typeof styles | undefined) => {
      if (name === undefined) return match
      if (name !== 'B') return new Intl.DateTimeFormat(locale, { ...styles[name], timeZone }).format(at)
      if (!hasDay) return match
      const date = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'long', timeZone }).formatToParts(at)
      const month = date.find(({ type }) => type === 'month')?.value ?? ''
      return flags?.includes('^') ? month.toLocaleUpperCase(locale) : month
    },
  )
}

const libraryFilter = filters['date'] as (this: { context: object }, ...values: unknown[]) => unknown

/** LiquidJS's filter with the names of months and days of a language. */
function callLibrary({ opts, memoryLimit }: Context, language: Language, ...values: unknown[]): unknown {
  return libraryFilter.apply({ context: { opts: { ...opts, locale: toBcp47(language) }, memoryLimit } }, values)
}

/** The language and the zone of the message, which are variables as well. */
function readPlace({ environments }: Context): { language: Language; timeZone: string } {
  const { customer, edition } = environments as Record<string, unknown>
  const zone = isRecord(edition) ? edition['timezone'] : undefined
  return {
    language: languages.find((language) => isRecord(customer) && customer['language'] === language) ?? 'en',
    timeZone: typeof zone === 'string' && isTimeZone(zone) ? zone : 'UTC',
  }
}

/**
 * The filter `date`. Dates of variables and `now` are written in the zone of the edition, unless the template names
 * another zone. Texts and numbers are read as LiquidJS reads them.
 */
export function writeDate(context: Context, value: unknown, format: unknown, zoneValue: unknown): unknown {
  const { language, timeZone } = readPlace(context)
  const zone = typeof zoneValue === 'string' || typeof zoneValue === 'number' ? zoneValue : undefined
  const formatText = typeof format === 'string' ? format : context.opts.dateFormat
  const formatAt = (at: number, localZone: string) => {
    const localFormat = localiseFormat(formatText, at, language, localZone)
    return String(callLibrary(context, language, new Date(at), localFormat, findTimezoneOffset(localZone, at)))
  }
  if (value instanceof LocalDate)
    return zone === undefined
      ? value.write(formatText, formatAt)
      : value.write(`${zone} ${formatText}`, (at) =>
          String(callLibrary(context, language, new Date(at), formatText, zone)),
        )
  if ((value === 'now' || value === 'today') && zone === undefined) return formatAt(Date.now(), timeZone)
  return callLibrary(context, language, value, formatText, ...(zone === undefined ? [] : [zone]))
}
