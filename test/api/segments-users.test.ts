import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { callWith, get, rootToken } from '../support/api.ts'
import { watchDatabase } from '../support/bindings.ts'
import { walkAs } from '../support/lists.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedPeople } from '../support/seeding/customers.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { seedAnswer, seedConsent } from '../support/seeding/messaging/consents.ts'
import { givenSegment } from '../support/seeding/messaging/segments.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { db } from '../support/seeding/rows.ts'
import { calculate } from '../support/segments.ts'

type People = Parameters<typeof seedPeople>[1]

async function seedCalculatedSegment(people: People, fields: Record<string, unknown> = {}) {
  const organisation = await givenOrganization()
  const rows = await seedPeople({ organization: organisation.id }, people)
  const segment = await givenSegment({ organization_id: organisation.id, ...fields })
  await calculate(segment.id)
  return { organisation, rows, id: segment.id as string, path: `/v1/segments/${segment.id}/users` }
}

async function seedEditionSegment(people: People) {
  const organisation = await givenOrganization()
  const edition = await seedEdition(organisation)
  const rows = await seedPeople({ organization: organisation.id, edition: edition.id }, people)
  const segment = await givenSegment({ organization_id: organisation.id, edition_id: edition.id })
  await calculate(segment.id)
  const { token } = await givenMember(organisation, 'manager', edition.id)
  return { organisation, edition, rows, id: segment.id as string, path: `/v1/segments/${segment.id}/users`, token }
}

const readNames = async (path: string, token?: string): Promise<[number, string[]]> => {
  const { body } = await get(path, token)
  return [body.count, body.results.map((user: { first_name: string }) => user.first_name)]
}

describe('listSegmentUsers', () => {
  it('shows each member as a customer, with the answer that decides about marketing', async () => {
    const { organisation, rows, path } = await seedCalculatedSegment([
      { first_name: 'Anna', last_seen_at: Date.UTC(2026, 1, 2, 3) },
      { first_name: 'Nobody', email: null },
      { first_name: 'Bo', phone_number: null },
    ])
    const consent = await seedConsent({ organization: organisation.id, edition: null })
    const [anna, , bo] = rows
    if (!anna || !bo) throw new Error('nobody')
    await seedAnswer(anna, consent, 'withdrawn')
    const { body } = await get(path)
    expect(body).toMatchObject({ count: 2, next: null, previous: null })
    expect(body.results.map((user: { id: string }) => user.id)).toEqual([bo.id, anna.id])
    const user = (await get(`/v1/user/${anna.id}`)).body
    expect(body.results[1]).toEqual({ ...user, consent_status: 'withdrawn' })
    expect(body.results[0].consent_status).toBe('none')
  })

  it('finds members by words of names, addresses and numbers, and nobody who is excluded', async () => {
    const { rows, path } = await seedCalculatedSegment([
      { first_name: 'Åse', last_name: 'Holm', email: 'aase@one.example' },
      { first_name: 'Bo', last_name: 'Holm', phone_number: '+4511223344' },
      { first_name: 'Excluded', last_name: 'Holm', email: null },
      { first_name: 'Carl', last_name: 'Lund' },
    ])
    expect(await readNames(`${path}?search=holm`)).toEqual([2, ['Bo', 'Åse']])
    expect(await readNames(`${path}?search=holm,+ase`)).toEqual([1, ['Åse']])
    expect(await readNames(`${path}?search=one.example`)).toEqual([1, ['Åse']])
    expect(await readNames(`${path}?search=11+22+33`)).toEqual([1, ['Bo']])
    expect(await readNames(`${path}?search=bo`)).toEqual([1, ['Bo']])
    expect(await readNames(`${path}?search=Excluded`)).toEqual([0, []])
    // A customer who joined after the calculation is no member, although the search index has them.
    await seedPeople({ organization: rows[0]?.organization_id ?? '' }, [{ first_name: 'Late', last_name: 'Holm' }])
    expect(await readNames(`${path}?search=holm`)).toEqual([2, ['Bo', 'Åse']])
    expect(await readNames(`${path}?search=%25&ordering=date_joined`)).toEqual([0, []])
  })

  it('finds the same members when more match than a search of the index reads', async () => {
    const people = Array.from({ length: 2100 }, (_, index) => ({ last_name: index % 700 === 0 ? 'Holm Rare' : 'Holm' }))
    const { path } = await seedCalculatedSegment(people)
    const { body } = await get(`${path}?search=holm&page_size=1`)
    expect(body.count).toBe(2100)
    expect((await get(`${path}?search=holm+rare`)).body.count).toBe(3)
  })

  it('walks through all members in either direction', async () => {
    const { rows, path } = await seedCalculatedSegment(
      Array.from({ length: 7 }, (_, index) => ({ created_at: Date.UTC(2026, 0, 20 - index) })),
    )
    for (const [ordering, ids] of [
      ['', rows.map(({ id }) => id).toReversed()],
      ['date_joined', rows.map(({ id }) => id).toReversed()],
      ['-date_joined', rows.map(({ id }) => id)],
    ] as const) {
      const walked = (await walkAs(rootToken, `${path}?page_size=3${ordering && `&ordering=${ordering}`}`)).ids
      expect([ordering, walked]).toEqual([ordering, ids])
    }
  })

  it('shows an edition role what its edition knows, and finds nobody by anything else', async () => {
    const { rows, path, token } = await seedEditionSegment([{ first_name: 'Anna', email: 'anna@edition.example' }])
    const [anna] = rows
    await db.batch([
      sql`update users set email = 'hidden@other.example', first_name = 'Hidden', last_name = 'Hidden', last_seen_at = 5,
        search_text = replace(search_text, 'anna', 'hidden') where id = ${anna?.id}`,
    ])
    const { body } = await get(path, token)
    expect(body.results).toMatchObject([
      { id: anna?.id, email: 'anna@edition.example', first_name: 'Anna', last_seen: null },
    ])
    expect(await readNames(`${path}?search=anna`, token)).toEqual([1, ['Anna']])
    for (const search of ['hidden', 'hi', 'other.example'])
      expect(await readNames(`${path}?search=${search}`, token)).toEqual([0, []])
    expect(await readNames(`${path}?search=hidden`)).toEqual([1, ['Hidden']])
  })

  it('is hidden from other editions and organisations, and from viewers', async () => {
    const { organisation, edition, path } = await seedEditionSegment([{}])
    const other = await seedEdition(organisation)
    const otherEdition = await givenMember(organisation, 'admin', other.id)
    const otherOrganisation = await givenMember(await givenOrganization(), 'admin')
    for (const { token } of [otherEdition, otherOrganisation]) expect((await get(path, token)).status).toBe(404)
    const viewers = [await givenMember(organisation, 'viewer'), await givenMember(organisation, 'viewer', edition.id)]
    for (const { token } of viewers) expect((await get(path, token)).status).toBe(403)
  })

  it('is refused before the segment is ready', async () => {
    const organisation = await givenOrganization()
    const segment = await givenSegment({ organization_id: organisation.id })
    const { status, body } = await get(`/v1/segments/${segment.id}/users`)
    expect([describeRefusal({ status, body }), body.current_status]).toEqual(['409 segment_not_ready', 'draft'])
  })

  it('reads a page and its count from the set of members alone', async () => {
    const { path } = await seedCalculatedSegment(Array.from({ length: 20 }, () => ({})))
    const statements: string[] = []
    await callWith(
      watchDatabase((text) => statements.push(text)),
      `${path}?page_size=2`,
    )
    const counts = statements.filter((text) => text.includes('count(*) as n'))
    expect(counts).toHaveLength(1)
    expect(counts[0]).not.toContain('users')
  })
})
