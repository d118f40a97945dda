import { describe, expect, it } from 'vitest'
import {
  modernNames,
  isTimeZone,
  formatOffset,
  listTimeZoneChoices,
  listTimeZones,
  readWallClock,
} from '../../src/domain/time/time-zones.ts'

const winter = Date.parse('2026-01-15T12:00:00Z')
const summer = Date.parse('2026-07-15T12:00:00Z')

const resolved = (timeZone: string) => new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone

describe('the list of time zones', () => {
  it('begins with UTC and has every zone of the runtime once, by its modern name', () => {
    const names = [...listTimeZones()]
    expect(names[0]).toBe('UTC')
    expect(names.length).toBeGreaterThan(400)
    for (const old of Object.keys(modernNames)) expect(names).not.toContain(old)
    for (const name of ['Europe/Kyiv', 'Asia/Kolkata', 'America/Nuuk', 'America/Argentina/Buenos_Aires'])
      expect(names).toContain(name)
    for (const name of Intl.supportedValuesOf('timeZone')) expect(names).toContain(modernNames[name] ?? name)
  })

  it('contains only zones that the runtime knows', () => {
    for (const name of listTimeZones()) expect(() => resolved(name)).not.toThrow()
  })

  it('has one zone for an old and a new name', () => {
    for (const [old, modern] of Object.entries(modernNames)) expect(resolved(modern)).toBe(resolved(old))
  })
})

describe('the time zone of an edition', () => {
  it.each([
    'UTC',
    'Europe/Copenhagen',
    'Europe/Kyiv',
    'Europe/Kiev',
    'US/Eastern',
    'Asia/Calcutta',
    'Etc/GMT+5',
    'GMT',
  ])('may be %s', (name) => expect(isTimeZone(name)).toBe(true))

  it.each([
    'utc',
    'Utc',
    'europe/copenhagen',
    'EUROPE/COPENHAGEN',
    'us/eastern',
    'Us/Eastern',
    'Europe/kiev',
    '+01:00',
    '-0330',
    'UTC+1',
    'GMT+0',
    'Z',
    '',
    ' UTC',
    'Europe',
    'Europe/Atlantis',
    'Europe/Copenhagen\n',
    'constructor',
    'toString',
  ])('may not be %j', (name) => expect(isTimeZone(name)).toBe(false))
})

describe('the wall clock of a zone', () => {
  it.each([
    ['UTC', winter, '+00:00'],
    ['Europe/Copenhagen', winter, '+01:00'],
    ['Europe/Copenhagen', summer, '+02:00'],
    ['America/St_Johns', winter, '-03:30'],
    ['America/New_York', summer, '-04:00'],
    ['Asia/Kathmandu', winter, '+05:45'],
    ['Pacific/Kiritimati', winter, '+14:00'],
    ['Pacific/Pago_Pago', winter, '-11:00'],
    ['Australia/Lord_Howe', winter, '+11:00'],
  ])('is ahead of UTC as the zone says: %s at %d is %s', (zone, at, offset) => {
    expect(formatOffset(readWallClock(zone, at).offset)).toBe(offset)
  })

  it('changes at the exact instant of a change of the clocks', () => {
    const change = Date.parse('2026-03-29T01:00:00Z')
    expect(readWallClock('Europe/Copenhagen', change - 1).offset).toBe(3_600_000)
    expect(readWallClock('Europe/Copenhagen', change).offset).toBe(7_200_000)
  })
})

describe('the choices of time zones', () => {
  it('go from west to east and then by name, with UTC first', () => {
    const choices = listTimeZoneChoices(winter)
    expect(choices).toHaveLength(listTimeZones().size)
    expect(choices[0]).toMatchObject({ value: 'UTC', label: '(UTC+00:00) UTC' })
    const rest = choices.slice(1).map(({ value }) => ({ value, offset: readWallClock(value, winter).offset }))
    const sorted = rest.toSorted((a, b) => a.offset - b.offset || (a.value < b.value ? -1 : 1))
    expect(rest).toEqual(sorted)
    expect(rest.map(({ offset }) => formatOffset(offset))).toEqual(
      choices.slice(1).map(({ label }) => label.slice(4, 10)),
    )
  })

  it('show the offset of a zone at that instant', () => {
    const findChoiceAt = (at: number) => listTimeZoneChoices(at).find(({ value }) => value === 'Europe/Copenhagen')
    expect(findChoiceAt(winter)).toEqual({
      value: 'Europe/Copenhagen',
      label: '(UTC+01:00) Europe/Copenhagen',
      description: 'Central European Standard Time',
    })
    expect(findChoiceAt(summer)).toMatchObject({
      label: '(UTC+02:00) Europe/Copenhagen',
      description: 'Central European Summer Time',
    })
  })
})
