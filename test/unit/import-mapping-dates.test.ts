import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  countDate,
  decideDates,
  mergeDates,
  createDateStatistics,
  parseDate,
  type DateFormat,
} from '../../src/domain/data-imports/mapping/columns/date-format.ts'
import { readDate, readTime } from '../../src/domain/data-imports/mapping/columns/date-shape.ts'
import { createLocalTimeReader } from '../../src/domain/data-imports/mapping/columns/local-times.ts'
import { countCells } from '../../src/domain/data-imports/mapping/columns/statistics.ts'
import { readHeaderZone } from '../../src/domain/data-imports/mapping/columns/zone-names.ts'
import { suggestMappings } from '../../src/domain/data-imports/mapping/suggest/suggest.ts'
import { findInstant } from '../../src/domain/time/time-zones.ts'

function collectStatistics(texts: readonly string[]) {
  const statistics = createDateStatistics()
  for (const text of texts) {
    const shape = readDate(text)
    if (shape) countDate(statistics, text, shape)
  }
  return statistics
}

const decide = (texts: readonly string[], latest: number | null = null) => decideDates(collectStatistics(texts), latest)

function read(text: string, order: DateFormat['order'] = 'each'): string | null {
  const parsed = parseDate(text, { order })
  if (!parsed || parsed === 'undecided') return parsed
  const wall = new Date(parsed.wall).toISOString()
  const local = parsed.has_time ? wall.slice(0, 19) : wall.slice(0, 10)
  const at = parsed.zone === null ? null : createLocalTimeReader(parsed.zone)(parsed.wall)
  if (parsed.offset === null && at === null) return local
  return `${new Date(at ?? parsed.wall - (parsed.offset ?? 0)).toISOString().slice(0, 19)}Z`
}

describe('a cell with one date or time', () => {
  it.each([
    ['2026-12-31', '2026-12-31'],
    ['2026-12-31 20:00', '2026-12-31T20:00:00'],
    ['2026-12-31T20:00:00Z', '2026-12-31T20:00:00Z'],
    ['2026-12-31T20:00:00.123456Z', '2026-12-31T20:00:00Z'],
    ['2026-12-31 20:00:00 +0100', '2026-12-31T19:00:00Z'],
    ['2026-12-31T20:00:00+01:00', '2026-12-31T19:00:00Z'],
    ['2026-12-31 20:00:00 -05', '2027-01-01T01:00:00Z'],
    ['2026-12-31 20:00:00 UTC', '2026-12-31T20:00:00Z'],
    ['2026-12-31 20:00 CEST', '2026-12-31T18:00:00Z'],
    ['2026/12/31', '2026-12-31'],
    ['2026.12.31', '2026-12-31'],
    ['20261231', '2026-12-31'],
    ['31 Dec 2026', '2026-12-31'],
    ['31-Dec-26', '2026-12-31'],
    ['Dec 31, 2026', '2026-12-31'],
    ['December 31, 2026 8:00 PM', '2026-12-31T20:00:00'],
    ['Dec 31, 2026, 8 pm', '2026-12-31T20:00:00'],
    ['December 31, 2026 12:05 AM', '2026-12-31T00:05:00'],
    ['31st December 2026', '2026-12-31'],
    ['Thu, 31 Dec 2026 20:00:00 +0100', '2026-12-31T19:00:00Z'],
    ['Thu Dec 31 2026 20:00:00 GMT+0100 (Central European Standard Time)', '2026-12-31T19:00:00Z'],
    ['Fri 29 May 2026 20:00', '2026-05-29T20:00:00'],
    ['31. december 2026', '2026-12-31'],
    ['torsdag den 31. december 2026 kl. 20.00', '2026-12-31T20:00:00'],
    ['1. maj 2026', '2026-05-01'],
    ['3. März 2026', '2026-03-03'],
    ['31. Dezember 2026 um 20:00 Uhr', '2026-12-31T20:00:00'],
    ['den 31 oktober 2026', '2026-10-31'],
    ['31 mrt 2026', '2026-03-31'],
    ['12 mei 2026 om 8:30', '2026-05-12T08:30:00'],
    ['31 grudnia 2026', '2026-12-31'],
    ['1 października 2026, 20:00', '2026-10-01T20:00:00'],
    ['46022', '2025-12-31'],
    ['46022.8333333333', '2025-12-31T20:00:00'],
    ['46022,8333333333', '2025-12-31T20:00:00'],
    ['1798747200', '2026-12-31T20:00:00Z'],
    ['1798747200000', '2026-12-31T20:00:00Z'],
    ['12/31/26', 'undecided'],
    ['31.12.2026', 'undecided'],
    ['2026-02-30', null],
    ['31 Foo 2026', null],
    ['2026-12-31 25:00', null],
    ['2026-12-31 20:00 Europe/Copenhagen', '2026-12-31T19:00:00Z'],
    ['2026-07-31T20:00[Europe/Copenhagen]', '2026-07-31T18:00:00Z'],
    ['2026-07-31T20:00:00+02:00[Europe/Zurich]', '2026-07-31T18:00:00Z'],
    ['2026-07-31T20:00:00+02:00[!Europe/Zurich][u-ca=gregory]', '2026-07-31T18:00:00Z'],
    ['2026-07-31 20:00:00 (UTC)', '2026-07-31T20:00:00Z'],
    ['2026-07-31 20:00:00 (EST)', '2026-08-01T01:00:00Z'],
    ['31. Juli 2026, 20:00:09 (MESZ)', '2026-07-31T18:00:09Z'],
    ['2026-07-31 20:00:00 (XYZ)', null],
    ['2026-07-31 20:00 Europe/Nowhere', null],
    ['2026-07-31 20:05:09.123456789 +0200 CEST', '2026-07-31T18:05:09Z'],
    ['2026-07-31 20:05:09.123456789 +0200 CEST m=+0.000012', '2026-07-31T18:05:09Z'],
    ['2026-07-31 18:05:09 +0000 UTC', '2026-07-31T18:05:09Z'],
    ['Fri Jul 31 20:05:09 CEST 2026', '2026-07-31T18:05:09Z'],
    ['Fri 31 Jul 2026 08:05:09 PM UTC', '2026-07-31T20:05:09Z'],
    ['Fri Jul 31 20:05:09 2026', '2026-07-31T20:05:09'],
    ['2026-07-31 20:05:09 -0700 -0700', '2026-08-01T03:05:09Z'],
    ['2026-07-31 20:05:09.5 +0545 +0545 m=-3.5', '2026-07-31T14:20:09Z'],
    ['2026-07-31 20:05:09 +0530 IST', '2026-07-31T14:35:09Z'],
    ['2026-07-31 20:05 AEST', '2026-07-31T10:05:00Z'],
    ['2026-07-31 8:05 PM ET', '2026-08-01T00:05:00Z'],
    ['Fr 31. Jul. 20:05:09 CEST 2026', '2026-07-31T18:05:09Z'],
    ['fredag 31. juli 2026 klokken 20:05:09 sentraleuropeisk sommertid', '2026-07-31T18:05:09Z'],
    ['31.VII.2026', '2026-07-31'],
    ['31 XII 2026 r., 20:00', '2026-12-31T20:00:00'],
    ['4 x 10', null],
    ['31 lipca 2026 r. o godz. 20:00', '2026-07-31T20:00:00'],
    ['31. maj 2026 kl. 20', '2026-05-31T20:00:00'],
    ['den 31/7 2026 kl. 20.00', '2026-07-31T20:00:00'],
    ['31/7 26', null],
    ['31st of July 2026', '2026-07-31'],
    ['20:05 31. juli 2026', '2026-07-31T20:05:00'],
    ['8:05:09 PM Jul 31, 2026', '2026-07-31T20:05:09'],
    ['20:05 21:06 31', null],
    ['2026-07-31 - 20:05', '2026-07-31T20:05:00'],
    ['2026-07-31_20:05:09', '2026-07-31T20:05:09'],
    ['31 Jul 2026 - 01.08.26', null],
    ['31/Jul/2026:20:05:09 +0200', '2026-07-31T18:05:09Z'],
    ['20260731T200509Z', '2026-07-31T20:05:09Z'],
    ['20260731T2005+0200', '2026-07-31T18:05:00Z'],
    ['20260731200509', '2026-07-31T20:05:09'],
    ['1798747200.123', '2026-12-31T20:00:00Z'],
    ['46022,83333', '2025-12-31T20:00:00'],
    ['2026-12-31 24:00', '2027-01-01T00:00:00'],
    ['2026-12-31T24:00:00Z', '2027-01-01T00:00:00Z'],
    ['2026-12-31T24:00:01Z', null],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00Z'],
    ['2026-12-31 20:58:60', null],
    ['31 december 2026 kl. 7:05 em', '2026-12-31T19:05:00'],
    ['le 31 juillet 2026', null],
    ['vendredi 31 juillet 2026 à 20:05', '2026-07-31T20:05:00'],
    ['2026-12-31 13:00 PM', null],
    ['12345678', null],
    ['4512345678', null],
    ['12.50', null],
    ['31.12', null],
    ['A-1001', null],
    ['2026', null],
    ['', null],
  ])('is read: %s is %s', (text, expected) => {
    expect(read(text)).toBe(expected)
  })

  it.each([
    ['12/31/26', 'mdy', '2026-12-31'],
    ['31.12.2026', 'dmy', '2026-12-31'],
    ['31. 12. 2026', 'dmy', '2026-12-31'],
    ['31.12.26 20.00', 'dmy', '2026-12-31T20:00:00'],
    ['12/31/2026 8:00:05 PM', 'mdy', '2026-12-31T20:00:05'],
    ['26-12-31', 'ymd', '2026-12-31'],
    ['31/12/26', 'mdy', null],
  ] as const)('is read in the order of its column: %s as %s is %s', (text, order, expected) => {
    expect(read(text, order)).toBe(expected)
  })

  it.each([
    ['20:00', 72_000_000],
    ['20:00:05', 72_005_000],
    ['8:00 PM', 72_000_000],
    ['kl. 20.00', 72_000_000],
    ['20:00 Uhr', 72_000_000],
    ['20 Uhr', 72_000_000],
    ['klokken 20', 72_000_000],
    ['at 8 pm', 72_000_000],
    ['24:00', 86_400_000],
    ['01/01/1900 20:00', 72_000_000],
    ['0.8333333333', 72_000_000],
    ['1899-12-30 20:00:00', 72_000_000],
    ['25:00', null],
    ['20', null],
    ['evening', null],
  ])('is read as a time: %s is %s', (text, expected) => {
    expect(readTime(text)).toBe(expected)
  })
})

describe('a column of dates', () => {
  it.each([
    [['03/04/2026', '17/04/2026'], 'dmy'],
    [['03/04/2026', '04/17/2026'], 'mdy'],
    [['03.04.2026'], 'dmy'],
    [['12-31-2026', '01-02-2026'], 'mdy'],
    [['2026-01-02', '31 Dec 2026'], 'each'],
    [['31-12-26', '05-04-26', '05-13-26'.slice(0, 0)], 'dmy'],
  ] as const)('is read in the order of its parts: %j has the order %s', (texts, order) => {
    expect(decide(texts, Date.UTC(2026, 11, 31))).toEqual({ status: 'decided', format: { order } })
  })

  it('is ambiguous without a decisive cell, with each reading', () => {
    expect(decide(['03/04/2026'])).toEqual({
      status: 'ambiguous',
      reason: 'undetermined',
      choices: [
        { format: { order: 'dmy' }, examples: [{ text: '03/04/2026', value: '2026-04-03' }] },
        { format: { order: 'mdy' }, examples: [{ text: '03/04/2026', value: '2026-03-04' }] },
      ],
    })
  })

  it('is ambiguous when its cells contradict each other', () => {
    expect(decide(['17/04/2026', '04/17/2026'])).toMatchObject({ status: 'ambiguous', reason: 'conflicting' })
  })

  it('is ambiguous when a spreadsheet has converted some of its cells', () => {
    expect(decide(['17/04/2026', '46022'])).toMatchObject({ status: 'ambiguous', reason: 'conflicting' })
  })

  it('is not read in an order that leads into the future', () => {
    const texts = ['28-05-26', '31-05-26', '02-06-26']
    expect(decide(texts)).toMatchObject({ status: 'ambiguous' })
    expect(decide(texts, Date.UTC(2026, 10, 21))).toEqual({ status: 'decided', format: { order: 'dmy' } })
  })

  const pad = (value: number) => String(value).padStart(2, '0')
  const english = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
  const formatMonth = (locale: string, date: Date) =>
    new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' }).format(date)
  const formats: readonly ((date: Date) => string)[] = [
    (d) => d.toISOString().slice(0, 10),
    (d) => `${pad(d.getUTCDate())}.${pad(d.getUTCMonth() + 1)}.${d.getUTCFullYear()}`,
    (d) =>
      `${d.getUTCDate()}.${d.getUTCMonth() + 1}.${d.getUTCFullYear() % 100 < 10 ? d.getUTCFullYear() : d.getUTCFullYear() % 100}`,
    (d) => `${pad(d.getUTCDate())}/${pad(d.getUTCMonth() + 1)}/${d.getUTCFullYear()}`,
    (d) => `${d.getUTCMonth() + 1}/${d.getUTCDate()}/${d.getUTCFullYear()}`,
    (d) => `${pad(d.getUTCMonth() + 1)}/${pad(d.getUTCDate())}/${pad(d.getUTCFullYear() % 100)}`,
    (d) => `${pad(d.getUTCDate())}-${pad(d.getUTCMonth() + 1)}-${pad(d.getUTCFullYear() % 100)}`,
    (d) => `${pad(d.getUTCFullYear() % 100)}-${pad(d.getUTCMonth() + 1)}-${pad(d.getUTCDate())}`,
    (d) => `${d.getUTCDate()} ${english[d.getUTCMonth()]} ${d.getUTCFullYear()}`,
    (d) => `${english[d.getUTCMonth()]} ${d.getUTCDate()}, ${d.getUTCFullYear()}`,
    (d) => String(Math.round(d.getTime() / 86_400_000) + 25_569),
    (d) => String(d.getTime() / 1000),
    ...['en-GB', 'en-US', 'da', 'de', 'sv', 'nl', 'pl', 'nb'].map((locale) => (d: Date) => formatMonth(locale, d)),
  ]
  const column = fc.record({
    format: fc.constantFrom(...formats),
    days: fc.array(fc.integer({ min: Date.UTC(2012) / 86_400_000, max: Date.UTC(2026, 10, 20) / 86_400_000 }), {
      minLength: 1,
      maxLength: 12,
    }),
  })

  it('is read as it was written, or is ambiguous, and never read wrongly', () => {
    let decided = 0
    fc.assert(
      fc.property(column, ({ format, days }) => {
        const dates = days.map((day) => new Date(day * 86_400_000))
        const texts = dates.map((date) => format(date))
        expect(texts.filter((text) => !readDate(text))).toEqual([])
        const decision = decide(texts, Date.UTC(2026, 10, 21))
        if (decision.status === 'ambiguous') return
        decided++
        const parsed = texts.map((text) => parseDate(text, decision.format))
        expect(parsed.map((result) => result && result !== 'undecided' && result.wall)).toEqual(
          dates.map((date) => date.getTime()),
        )
      }),
      { numRuns: 700 },
    )
    expect(decided).toBeGreaterThan(450)
  })

  it('is decided alike when it is read in any number of parts', () => {
    fc.assert(
      fc.property(column, fc.nat(12), ({ format, days }, cut) => {
        const texts = days.map((day) => format(new Date(day * 86_400_000)))
        const merged = mergeDates(collectStatistics(texts.slice(0, cut)), collectStatistics(texts.slice(cut)))
        expect(merged).toEqual(collectStatistics(texts))
      }),
      { numRuns: 150 },
    )
  })
})

describe('a local time', () => {
  it.each(['Europe/Copenhagen', 'Europe/Warsaw', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata', 'UTC'])(
    'is the instant that the clocks of %s show',
    (zone) => {
      const local = createLocalTimeReader(zone)
      fc.assert(
        fc.property(fc.integer({ min: Date.UTC(2024), max: Date.UTC(2028) }), (wall) => {
          expect(local(wall)).toBe(findInstant(zone, wall))
        }),
        { numRuns: 60 },
      )
    },
  )

  it('does not exist in the skipped hour, and is the first one in the repeated hour', () => {
    const local = createLocalTimeReader('Europe/Copenhagen')
    expect(local(Date.UTC(2026, 2, 29, 2, 30))).toBeNull()
    expect(local(Date.UTC(2026, 9, 25, 2, 30))).toBe(Date.UTC(2026, 9, 25, 0, 30))
  })
})

it('a date of ISO 8601 is read alike by the short way and by the long way that other spellings take', () => {
  const two = fc.integer({ min: 0, max: 99 }).map((number) => String(number).padStart(2, '0'))
  const likely = (max: number) =>
    fc.oneof(
      two,
      fc.integer({ min: 0, max }).map((number) => String(number).padStart(2, '0')),
    )
  const fraction = fc.oneof(fc.constant(''), fc.stringMatching(/^\.\d{1,9}$/))
  const year = fc.integer({ min: 1850, max: 2150 })
  fc.assert(
    fc.property(year, likely(12), likely(31), likely(23), likely(59), likely(59), fraction, (...parts) => {
      const [y, month, day, hour, minute, second, rest] = parts
      const time = `${y}-${month}-${day}T${hour}:${minute}:${second}${rest}Z`
      expect(readDate(time)).toEqual(readDate(time.toLowerCase()))
      expect(readDate(`${y}-${month}-${day}`)).toEqual(readDate(`${y}/${month}/${day}`))
    }),
  )
  expect(readDate('2026-12-31T20:15:30.123Z')).toMatchObject({ time: 72_930_123, offset: 0, is_fixed: true })
})

describe('a date as the platform formats it for people', () => {
  const at = Date.UTC(2026, 6, 31, 18, 5)
  const timeZone = 'Europe/Copenhagen'
  const styles = ['full', 'long', 'medium', 'short'] as const
  const names = ['short', 'long', 'shortOffset', 'longOffset', 'longGeneric'] as const

  it.each(['en-US', 'en-GB', 'da-DK', 'de-DE', 'sv-SE', 'nl-NL', 'pl-PL', 'nb-NO', 'nn-NO'])(
    'is read in %s, with its zone',
    (locale) => {
      const order = locale === 'en-US' ? 'mdy' : 'dmy'
      for (const dateStyle of styles)
        for (const timeStyle of styles) {
          const text = new Intl.DateTimeFormat(locale, { dateStyle, timeStyle, timeZone }).format(at)
          const hasZone = timeStyle === 'full' || timeStyle === 'long'
          expect([text, read(text, order)]).toEqual([text, hasZone ? '2026-07-31T18:05:00Z' : '2026-07-31T20:05:00'])
        }
      for (const timeZoneName of names)
        for (const weekday of ['long', 'short'] as const) {
          const parts = { weekday, year: 'numeric', month: 'long', day: 'numeric', hour: '2-digit' } as const
          const format = new Intl.DateTimeFormat(locale, { ...parts, minute: '2-digit', timeZone, timeZoneName })
          expect([format.format(at), read(format.format(at))]).toEqual([format.format(at), '2026-07-31T18:05:00Z'])
        }
    },
  )
})

describe('a date with a clock of twelve hours', () => {
  it.each(['en-US', 'en-GB', 'da-DK', 'de-DE', 'sv-SE', 'nb-NO', 'nl-NL', 'pl-PL'])('is read in %s', (locale) => {
    const timeZone = 'Europe/London'
    for (const at of [Date.UTC(2026, 0, 27, 20, 5, 9), Date.UTC(2026, 0, 27, 0, 5, 9)]) {
      const options = { dateStyle: 'medium', timeStyle: 'full', hour12: true, timeZone } as const
      const text = new Intl.DateTimeFormat(locale, options).format(at)
      expect([text, read(text, 'dmy')]).toEqual([text, `${new Date(at).toISOString().slice(0, 19)}Z`])
    }
  })
})

describe('the zone in a header', () => {
  it.each([
    ['Created at (UTC)', 'UTC'],
    ['Order date (Europe/Copenhagen)', 'Europe/Copenhagen'],
    ['Order date [America/New_York]', 'America/New_York'],
    ['Bestelldatum (MEZ)', 'Europe/Berlin'],
    ['Created (GMT+2)', 'Etc/GMT-2'],
    ['Created (EST)', 'Etc/GMT+5'],
    ['Created (GMT+01:00) Copenhagen', 'Etc/GMT-1'],
    ['Created (UTC+05:30)', 'Asia/Kolkata'],
    ['Created (America/New York)', 'America/New_York'],
    ['Created (ET)', 'America/New_York'],
    ['Datum (MEZ/MESZ)', 'Europe/Berlin'],
    ['Created (in UTC)', 'UTC'],
    ['created_at_utc', 'UTC'],
    ['createdAtUtc', 'UTC'],
    ['Date, UTC', 'UTC'],
    ['UTC date', 'UTC'],
    ['Oprettet CET', 'Europe/Berlin'],
    ['Created (DD/MM/YYYY)', null],
    ['Date est', null],
    ['Created (local)', null],
    ['Created', null],
  ])('is recognised: %s is %s', (header, zone) => {
    expect(readHeaderZone(header)).toBe(zone)
  })

  it('is suggested with the date', () => {
    const columns = [{ header: 'Created at (UTC)', statistics: countCells(['2026-07-31 20:00', '2026-07-30 20:00']) }]
    expect(suggestMappings({ columns })).toMatchObject([
      { target: 'order.created', transform: { type: 'date', time_zone: 'UTC' } },
    ])
  })
})

describe('columns of dates and times', () => {
  const suggest = (headers: readonly string[], rows: readonly (readonly string[])[]) =>
    suggestMappings({
      columns: headers.map((header, at) => ({ header, statistics: countCells(rows.map((row) => row[at] ?? '')) })),
      now: Date.UTC(2026, 11, 31),
    }).find(({ target }) => target === 'order.created')?.columns

  it('are suggested by their headers when the times are written with a dot', () => {
    expect(
      suggest(
        ['Order date', 'Order time'],
        [
          ['17.05.2026', '10.22'],
          ['18.05.2026', '11.45'],
        ],
      ),
    ).toEqual([0, 1])
  })

  it('are suggested by their headers when all orders are of one day', () => {
    const rows = Array.from({ length: 5 }, () => ['17.05.2026'])
    expect(suggest(['Date'], rows)).toEqual([0])
  })
})
