import { languages } from '../../../languages.ts'
import { fold } from '../../../text/fold.ts'
import { hourMs } from '../../../time/instants.ts'
import { readWallClock } from '../../../time/time-zones.ts'
import data from './date-words.json' with { type: 'json' }

/** A zone is an offset in milliseconds ahead of UTC, or the name of a zone of IANA. */
export type WrittenZone = { offset: number } | { name: string }

/** Offsets from UTC in hours, by the short name of the zone. */
const shortNames: Readonly<Record<string, number>> = data.zones

/** Zones whose names in the languages of the platform are known. */
const namedZones = [
  ...['Copenhagen', 'Berlin', 'Stockholm', 'Amsterdam', 'Warsaw', 'Zurich', 'London', 'Helsinki', 'Lisbon'].map(
    (city) => `Europe/${city}`,
  ),
  ...['New_York', 'Chicago', 'Denver', 'Los_Angeles'].map((city) => `America/${city}`),
  'UTC',
]
const locales = [...languages.map((language) => (language === 'se' ? 'sv' : language)), 'de', 'nb', 'nn']
/** Zones whose short names stand for winter and summer. */
const genericNames = { et: 'america/new_york', ct: 'america/chicago', mt: 'america/denver', pt: 'america/los_angeles' }
const winterAndSummer = [Date.UTC(2026, 0, 15), Date.UTC(2026, 6, 15)]

function readZoneName(locale: string, timeZone: string, timeZoneName: 'long' | 'longGeneric', at: number): string {
  const parts = new Intl.DateTimeFormat(locale, { timeZone, timeZoneName }).formatToParts(at)
  return fold(parts.find(({ type }) => type === 'timeZoneName')?.value ?? '')
}

/** `Central European Summer Time` is an offset, `Central European Time` is what clocks showed. */
function buildLongNames(): ReadonlyMap<string, WrittenZone> {
  const zones = new Map<string, WrittenZone>(
    Object.entries(genericNames).map(([abbreviation, name]) => [abbreviation, { name }]),
  )
  for (const name of namedZones)
    for (const locale of locales) {
      for (const at of winterAndSummer)
        zones.set(readZoneName(locale, name, 'long', at), { offset: readWallClock(name, at).offset })
      for (const at of winterAndSummer) {
        const generic = readZoneName(locale, name, 'longGeneric', at)
        if (!zones.has(generic)) zones.set(generic, { name })
      }
    }
  return zones
}

let longNames: ReadonlyMap<string, WrittenZone> | undefined

const isZone = (name: string): boolean => {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name }))
  } catch {
    return false
  }
}

const knownZones = new Map<string, boolean>()
const maxKnownZones = 500

function findZone(name: string): WrittenZone | null {
  if (!/^[a-z]+(?:\/[a-z0-9_+-]+)+$/.test(name)) return null
  const isKnown = knownZones.get(name) ?? isZone(name)
  if (knownZones.size < maxKnownZones) knownZones.set(name, isKnown)
  return isKnown ? { name } : null
}

/** Reads a folded offset such as `+0100` or `utc+2`, in milliseconds. */
export function readOffset(text: string): number | null {
  const hours = Object.hasOwn(shortNames, text) ? shortNames[text] : undefined
  if (hours !== undefined) return hours * hourMs
  const match = /^(?:utc|gmt)?([+-])(\d{1,2})(?:[:.]?(\d{2}))?$/.exec(text)
  if (!match) return null
  const [hour, minute] = [Number(match[2]), Number(match[3] ?? 0)]
  return hour > 14 || minute > 59 ? null : (match[1] === '-' ? -1 : 1) * (hour * 60 + minute) * 60_000
}

/** Reads a folded zone in any of its forms: `est`, `utc+2`, `europe/zurich`, `mitteleuropaische sommerzeit`. */
function readZone(text: string): WrittenZone | null {
  const offset = readOffset(text)
  if (offset !== null) return { offset }
  longNames ??= buildLongNames()
  return longNames.get(text) ?? findZone(text)
}

const bracketPairs: Readonly<Record<string, string>> = { ')': '(', ']': '[' }

function takeBracket(text: string): { rest: string; content: string } | null {
  const openingBracket = bracketPairs[text.at(-1) ?? '']
  const at = openingBracket === undefined ? -1 : text.lastIndexOf(openingBracket)
  return at < 1 ? null : { rest: text.slice(0, at).trimEnd(), content: text.slice(at + 1, -1) }
}

const endsWithOffset = /[+-]\d{2}:?\d{2}$|\dz$/

/** Takes a zone of several words, or one behind an offset, from the end of a folded text. */
function takeWords(text: string): { rest: string; zone: WrittenZone | null } {
  const words = text.split(' ')
  for (let from = Math.max(1, words.length - 6); from < words.length; from++) {
    const tail = words.slice(from).join(' ')
    if (!/^[a-z]/.test(tail) || tail === 'z') continue
    const before = words.slice(0, from).join(' ')
    const isBehindOffset = endsWithOffset.test(before)
    if (!isBehindOffset && !/[ /-]|^[a-z]{5}/.test(tail) && !Object.hasOwn(genericNames, tail)) continue
    const zone = readZone(tail)
    if (zone) return { rest: before, zone: isBehindOffset ? null : zone }
  }
  return { rest: text, zone: null }
}

/** Go writes `-0700 PDT`, or the offset once more if the zone has no name. */
const nameBehindOffset = /(?<=\d[:.]\d{2}(?:[.,]\d+)? ?[+-]\d{2}:?\d{2}) (?:[+-]\d{2}(?:\d{2})?|[a-z]{2,5})$/

/**
 * Takes the zone from the end of a folded date; null for a zone in brackets that is not known. An offset before it
 * wins, as in `+02:00[Europe/Zurich]`. `isOther` says whether brackets may contain something else.
 */
export function takeZone(
  original: string,
  isOther: (content: string) => boolean,
): { rest: string; zone: WrittenZone | null } | null {
  let text = original.replace(/ m=[+-]\d+\.\d+$/, '').replace(nameBehindOffset, '')
  let zone: WrittenZone | null = null
  for (let bracket = takeBracket(text); bracket; bracket = takeBracket(text)) {
    text = bracket.rest
    const content = bracket.content.replace(/^!/, '')
    if (content.includes('=') || isOther(content)) continue
    const bracketZone = readZone(content)
    if (!bracketZone && !endsWithOffset.test(text) && !/(?:utc|gmt)[+-]\d{1,2}$/.test(text)) return null
    zone = bracketZone ?? zone
  }
  const parts = takeWords(text)
  return { rest: parts.rest, zone: parts.zone ?? zone }
}

/** Zones that are offsets by parts of an hour, for headers such as `Created (UTC+05:30)`. */
const zonesByMinutes: Readonly<Record<number, string>> = {
  210: 'Asia/Tehran',
  270: 'Asia/Kabul',
  330: 'Asia/Kolkata',
  345: 'Asia/Kathmandu',
  390: 'Asia/Yangon',
  570: 'Australia/Darwin',
}

/** Abbreviations of Central Europe in a header mean what its clocks show. */
const centralEurope = /^(?:cet|cest|mez|mesz)(?: ?[/,] ?(?:cet|cest|mez|mesz))?$/

function toZoneName(content: string): string | null {
  if (centralEurope.test(content)) return 'Europe/Berlin'
  const zone = readZone(content) ?? readZone(content.replaceAll(' ', '_')) ?? readZone(content.replace(/ time$/, ''))
  if (!zone) return null
  if ('name' in zone) return zone.name.replaceAll(/(?<=^|[/_])[a-z]/g, (letter) => letter.toUpperCase())
  const hours = zone.offset / hourMs
  if (hours === 0) return 'UTC'
  return Number.isInteger(hours)
    ? `Etc/GMT${hours > 0 ? '-' : '+'}${Math.abs(hours)}`
    : (zonesByMinutes[hours * 60] ?? null)
}

const maxHeaderLength = 200

/** The zone in a header such as `Created at (UTC)`, `created_at_utc` or `UTC Date`, as a name of IANA. */
export function readHeaderZone(header: string): string | null {
  if (header.length > maxHeaderLength) return null
  const text = fold(header.replaceAll(/(?<=[a-z])(?=U[Tt][Cc]$)/g, ' ')).trim()
  for (const [, content = ''] of text.matchAll(/[([]([^()[\]]+)[)\]]/g)) {
    const name = toZoneName(content.trim().replace(/^(?:in|as) /, ''))
    if (name) return name
  }
  const [, first, last] = /^(utc|gmt)[ _-]|[ _,:-](utc|gmt|cet|cest|mez|mesz)$/.exec(text) ?? []
  return toZoneName(first ?? last ?? '')
}
