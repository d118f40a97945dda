import { dayMs, minuteMs } from './instants.ts'

let offeredZones: ReadonlySet<string> | undefined

/** The time zones that the API offers: `UTC` first, then by their current names. */
export function listTimeZones(): ReadonlySet<string> {
  offeredZones ??= new Set([
    'UTC',
    ...Intl.supportedValuesOf('timeZone')
      .map((name) => modernNames[name] ?? name)
      .toSorted((a, b) => (a < b ? -1 : 1)),
  ])
  return offeredZones
}

function isKnownToIntl(name: string): boolean {
  try {
    return Intl.DateTimeFormat('en-GB', { timeZone: name }) !== null
  } catch {
    return false
  }
}

/** True for a name of the IANA database, old names too, in its exact spelling. False for offsets. */
export const isTimeZone = (name: string): boolean =>
  listTimeZones().has(name) || ((Object.hasOwn(modernNames, name) || furtherNames.has(name)) && isKnownToIntl(name))

interface WallClock {
  /** Milliseconds that local time is ahead of UTC. */
  offset: number
  /** The name of the local time: `Central European Summer Time`. */
  name: string
}

/** Creates a function that reads the local time of a zone. Reading is faster than creating it. */
function createClock(timeZone: string): (at: number) => WallClock {
  // A formatter with whole styles is created three times as fast as one with single fields.
  const formatter = new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'short', timeStyle: 'full' })
  return (at) => {
    const parts = new Map(formatter.formatToParts(at).map((part) => [part.type, part.value]))
    const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = (
      ['year', 'month', 'day', 'hour', 'minute', 'second'] as const
    ).map((type) => Number(parts.get(type)))
    const localTime = Date.UTC(year, month - 1, day, hour, minute, second)
    return { offset: localTime - Math.floor(at / 1000) * 1000, name: parts.get('timeZoneName') ?? timeZone }
  }
}

/** The local time of a zone at an instant. */
export const readWallClock = (timeZone: string, at: number): WallClock => createClock(timeZone)(at)

/** `+01:00`, `-03:30`, `+00:00`. */
export function formatOffset(offset: number): string {
  const minutes = Math.round(Math.abs(offset) / minuteMs)
  const pad = (number: number) => String(number).padStart(2, '0')
  return `${offset < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`
}

/** Formats an instant in local time with the offset: `2026-06-01T10:00:00+02:00`. */
export function formatInZone(at: number, timeZone: string): string {
  const { offset } = readWallClock(timeZone, at)
  return new Date(at + offset).toISOString().slice(0, 19) + formatOffset(offset)
}

export interface TimeZoneChoice {
  value: string
  label: string
  description: string
}

/** All zones with their offsets at an instant, `UTC` first and then from west to east. It is slow, so cache the result. */
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

function findInstantOf(read: (at: number) => WallClock, wall: number): number | null {
  const offsets = [read(wall - dayMs).offset, read(wall + dayMs).offset]
  const instants = offsets.map((offset) => wall - offset).filter((at) => read(at).offset === wall - at)
  return instants.length ? Math.min(...instants) : null
}

/**
 * The instant at which the clocks of a zone show a local time, which is given as if it were UTC. If they show it twice, it
 * is the first instant. Null: daylight saving skips the time.
 */
export const findInstant = (timeZone: string, wall: number): number | null => findInstantOf(createClock(timeZone), wall)

/** A time in which a zone has one offset. */
export interface OffsetSpan {
  from: number
  /** The first instant after it. */
  to: number
  offset: number
}

const weekMs = 7 * dayMs

/** Lists the offsets of a zone between two instants. No zone changes its clocks twice in a week. */
export function listOffsets(timeZone: string, from: number, to: number): OffsetSpan[] {
  const read = createClock(timeZone)
  const spans: OffsetSpan[] = []
  let span = { from, to, offset: read(from).offset }
  for (let at = from; at < to; at += weekMs) {
    const next = Math.min(at + weekMs, to)
    const { offset } = read(next)
    if (offset === span.offset) continue
    let [before, after] = [at, next]
    while (after - before > minuteMs) {
      const middle = before + Math.floor((after - before) / 2 / minuteMs) * minuteMs
      if (read(middle).offset === span.offset) before = middle
      else after = middle
    }
    spans.push({ ...span, to: after })
    span = { from: after, to, offset }
  }
  return [...spans, span]
}

/** Current names of zones that runtimes list only under their old names. */
export const modernNames: Readonly<Record<string, string>> = {
  'Africa/Asmera': 'Africa/Asmara',
  'America/Buenos_Aires': 'America/Argentina/Buenos_Aires',
  'America/Catamarca': 'America/Argentina/Catamarca',
  'America/Coral_Harbour': 'America/Atikokan',
  'America/Cordoba': 'America/Argentina/Cordoba',
  'America/Godthab': 'America/Nuuk',
  'America/Indianapolis': 'America/Indiana/Indianapolis',
  'America/Jujuy': 'America/Argentina/Jujuy',
  'America/Louisville': 'America/Kentucky/Louisville',
  'America/Mendoza': 'America/Argentina/Mendoza',
  'Asia/Calcutta': 'Asia/Kolkata',
  'Asia/Katmandu': 'Asia/Kathmandu',
  'Asia/Rangoon': 'Asia/Yangon',
  'Asia/Saigon': 'Asia/Ho_Chi_Minh',
  'Atlantic/Faeroe': 'Atlantic/Faroe',
  'Europe/Kiev': 'Europe/Kyiv',
  'Pacific/Enderbury': 'Pacific/Kanton',
  'Pacific/Ponape': 'Pacific/Pohnpei',
  'Pacific/Truk': 'Pacific/Chuuk',
}

/** Old names that the API accepts but does not offer. Intl accepts them in any case, so only a list knows the spelling. */
const furtherNames: ReadonlySet<string> = new Set(
  `
  Africa/Timbuktu America/Argentina/ComodRivadavia America/Atka America/Ensenada America/Fort_Wayne America/Knox_IN
  America/Montreal America/Nipigon America/Pangnirtung America/Porto_Acre America/Rainy_River America/Rosario
  America/Santa_Isabel America/Shiprock America/Thunder_Bay America/Virgin America/Yellowknife Antarctica/South_Pole
  Asia/Ashkhabad Asia/Choibalsan Asia/Chongqing Asia/Chungking Asia/Dacca Asia/Harbin Asia/Istanbul Asia/Kashgar
  Asia/Macao Asia/Tel_Aviv Asia/Thimbu Asia/Ujung_Pandang Asia/Ulan_Bator Atlantic/Jan_Mayen Australia/ACT
  Australia/Canberra Australia/Currie Australia/LHI Australia/NSW Australia/North Australia/Queensland Australia/South
  Australia/Tasmania Australia/Victoria Australia/West Australia/Yancowinna Brazil/Acre Brazil/DeNoronha Brazil/East
  Brazil/West CET Canada/Atlantic Canada/Central Canada/Eastern Canada/Mountain Canada/Newfoundland Canada/Pacific
  Canada/Saskatchewan Canada/Yukon Chile/Continental Chile/EasterIsland Cuba EET EST Egypt Eire Etc/GMT Etc/GMT+0
  Etc/GMT+1 Etc/GMT+10 Etc/GMT+11 Etc/GMT+12 Etc/GMT+2 Etc/GMT+3 Etc/GMT+4 Etc/GMT+5 Etc/GMT+6 Etc/GMT+7 Etc/GMT+8
  Etc/GMT+9 Etc/GMT-0 Etc/GMT-1 Etc/GMT-10 Etc/GMT-11 Etc/GMT-12 Etc/GMT-13 Etc/GMT-14 Etc/GMT-2 Etc/GMT-3 Etc/GMT-4
  Etc/GMT-5 Etc/GMT-6 Etc/GMT-7 Etc/GMT-8 Etc/GMT-9 Etc/GMT0 Etc/Greenwich Etc/UCT Etc/UTC Etc/Universal Etc/Zulu
  Europe/Belfast Europe/Nicosia Europe/Tiraspol Europe/Uzhgorod Europe/Zaporozhye GB GMT Greenwich HST Hongkong
  Iceland Iran Israel Jamaica Japan Kwajalein Libya MET MST Mexico/BajaNorte Mexico/BajaSur Mexico/General NZ Navajo
  PRC Pacific/Johnston Pacific/Samoa Pacific/Yap Poland Portugal ROC ROK Singapore Turkey UCT US/Alaska US/Aleutian
  US/Arizona US/Central US/East-Indiana US/Eastern US/Hawaii US/Indiana-Starke US/Michigan US/Mountain US/Pacific
  US/Samoa Universal WET Zulu
`
    .trim()
    .split(/\s+/),
)
