import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import {
  countryCodes,
  countryLabels,
  pickDefaultCurrency,
  formatEditionName,
  getEditionStatus,
  editionStatuses,
  endsBeforeStart,
  decidePublishedAt,
} from '../../src/domain/editions/editions.ts'
import { dayMs } from '../../src/domain/time/instants.ts'
import { buildStatus } from '../../src/modules/editions/list.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenEvent, givenOrganization } from '../support/seeding/organizations.ts'
import { db } from '../support/seeding/rows.ts'

const now = Date.parse('2026-06-01T12:00:00.000Z')

const aroundNow = [-1, 0, 1].map((ms) => now + ms)
const aroundADayAgo = aroundNow.map((at) => at - dayMs)
const dates = [null, ...aroundADayAgo, ...aroundNow]
const periods = dates.flatMap((start_at) => dates.map((end_at) => ({ start_at, end_at })))

describe('the status of an edition', () => {
  it.each([
    ['no_dates', null, null],
    ['upcoming', now + 1, null],
    ['upcoming', now + 1, now + 2],
    ['current', now, null],
    ['current', now, now],
    ['current', now - 1, now],
    ['past', now - 2, now - 1],
    ['current', now - dayMs, null],
    ['past', now - dayMs - 1, null],
    ['current', now - 2 * dayMs, now],
    ['current', null, now],
    ['current', null, now + dayMs],
    ['past', null, now - 1],
  ] as const)('is %s from %s to %s', (status, start_at, end_at) => {
    expect(getEditionStatus({ start_at, end_at }, now)).toBe(status)
  })

  it('agrees with the filter of the list at every boundary', async () => {
    const organisation = await givenOrganization()
    const event = await givenEvent(organisation)
    const editions = await Promise.all(
      periods.map(async (period, index) => {
        const { id } = await seedEdition(organisation, { event_id: event.id, name: `Edge ${index}`, ...period })
        return { id, ...period }
      }),
    )
    const rows = await db.all(
      sql<{ id: string; status: string }>`select id, ${buildStatus(now)} as status from editions
        where organization_id = ${organisation.id}`,
    )
    const inSql = new Map(rows.map((row) => [row.id, row.status]))
    expect(rows).toHaveLength(periods.length)
    const inDomain = new Map(editions.map((edition) => [edition.id, getEditionStatus(edition, now)]))
    expect(inSql).toEqual(inDomain)
    expect(new Set(inSql.values())).toEqual(new Set(editionStatuses))
  })
})

describe('the dates of an edition', () => {
  it('are compared only when both exist, and may be equal', () => {
    expect(endsBeforeStart({ start_at: now, end_at: now - 1 })).toBe(true)
    expect(endsBeforeStart({ start_at: now, end_at: now })).toBe(false)
    expect(endsBeforeStart({ start_at: null, end_at: now })).toBe(false)
    expect(endsBeforeStart({ start_at: now, end_at: null })).toBe(false)
  })
})

describe('the full name of an edition', () => {
  it.each([
    ['Nordlys Festival', '2026', 'Nordlys Festival 2026'],
    ['Nordlys Festival', 'Nordlys Festival 2026', 'Nordlys Festival 2026'],
    ['Nordlys Festival', 'nordlys festival 2026', 'nordlys festival 2026'],
    ['Nordlys Festival', 'Winter Nordlys Festival', 'Nordlys Festival Winter Nordlys Festival'],
  ])('is made of %s and %s: %s', (event, name, fullName) => {
    expect(formatEditionName(event, name)).toBe(fullName)
  })
})

describe('the time of publication', () => {
  it('is the time of the first publication', () => {
    expect(decidePublishedAt({ is_draft: true, published_at: null }, false, now)).toBe(now)
    expect(decidePublishedAt({ is_draft: true, published_at: 5 }, false, now)).toBe(5)
    expect(decidePublishedAt({ is_draft: true, published_at: null }, true, now)).toBeNull()
    expect(decidePublishedAt({ is_draft: false, published_at: 5 }, true, now)).toBe(5)
  })
})

describe('the default currency of an edition', () => {
  it('is the currency of its country', () => {
    expect(Object.fromEntries(countryCodes.map((code) => [code, pickDefaultCurrency(code)]))).toEqual({
      '+43': 'eur',
      '+32': 'eur',
      '+45': 'dkk',
      '+358': 'eur',
      '+33': 'eur',
      '+49': 'eur',
      '+31': 'eur',
      '+47': 'nok',
      '+48': 'pln',
      '+46': 'sek',
      '+41': 'eur',
      '+44': 'gbp',
      '+1': 'usd',
    })
    expect(Object.keys(countryLabels)).toHaveLength(13)
  })
})
