import { beforeAll, describe, expect, it } from 'vitest'
import { dayMs } from '../../src/domain/time/instants.ts'
import { get, patch, post, publicUrl, type Reply } from '../support/api.ts'
import { ids } from '../support/editions.ts'
import { type EditionRow, seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { givenEvent, givenOrganization } from '../support/seeding/organizations.ts'

describe('listEditions', () => {
  const list = (organisation: { id: string }, query = '', token?: string) =>
    get(`/v1/editions?organization_id=${organisation.id}${query}`, token)

  it('lists the newest first, with the organisation and the status', async () => {
    const organisation = await givenOrganization()
    const first = await seedEdition(organisation, { created_at: 1000, modified_at: 5000 })
    const second = await seedEdition(organisation, { created_at: 2000, start_at: 1, end_at: 2, is_draft: false })
    const { body } = await list(organisation)
    expect(body).toMatchObject({ count: 2, next: null, previous: null })
    expect(body.results[0]).toEqual({
      id: second.id,
      name: second.name,
      full_name: second.full_name,
      slug: second.slug,
      start_date: '1970-01-01T00:00:00.001Z',
      end_date: '1970-01-01T00:00:00.002Z',
      timezone: 'Europe/Copenhagen',
      is_draft: false,
      is_archived: false,
      published_at: null,
      organization: { id: organisation.id, name: organisation.name, slug: organisation.slug, avatar: null },
      status: 'past',
      created: '1970-01-01T00:00:02.000Z',
      modified: expect.any(String),
    })
    expect(body.results[1]).toMatchObject({ id: first.id, status: 'no_dates', modified: '1970-01-01T00:00:05.000Z' })
  })

  describe('of editions of every kind', () => {
    let organisation: Awaited<ReturnType<typeof givenOrganization>>
    let event: { id: string }
    beforeAll(async () => {
      organisation = await givenOrganization()
      event = await givenEvent(organisation)
      const now = Date.now()
      const seedListed = (columns: Partial<EditionRow>) => seedEdition(organisation, { event_id: event.id, ...columns })
      await seedListed({ name: 'Upcoming', start_at: now + dayMs })
      await seedListed({ name: 'Current', start_at: now - 1000, is_draft: false })
      await seedListed({ name: 'Past', start_at: now - 3 * dayMs, end_at: now - dayMs })
      await seedListed({ name: 'Undated' })
      await seedListed({ name: 'Archived', is_archived: true })
      await seedEdition(organisation, { name: 'Elsewhere' })
    })

    const listNames = async (query: string) =>
      (await list(organisation, `&ordering=created${query}`)).body.results.map(({ name }: { name: string }) => name)
    const unarchived = ['Upcoming', 'Current', 'Past', 'Undated', 'Elsewhere']

    it.each([
      ['', unarchived],
      ['&is_archived=false', unarchived],
      ['&is_archived=true', ['Archived']],
      ['&is_draft=false', ['Current']],
      ['&is_draft=1', unarchived.filter((name) => name !== 'Current')],
      ['&status=upcoming', ['Upcoming']],
      ['&status=current', ['Current']],
      ['&status=past', ['Past']],
      ['&status=no_dates', ['Undated', 'Elsewhere']],
      ['&status=past&is_draft=false', []],
    ])('finds those of "%s"', async (query, expected) => {
      expect(await listNames(query)).toEqual(expected)
    })

    it('finds those of an event', async () => {
      expect(await listNames(`&event_id=${event.id}`)).toEqual(['Upcoming', 'Current', 'Past', 'Undated'])
    })
  })

  it('searches without regard to case and accents, also by a changed name', async () => {
    const organisation = await givenOrganization()
    const event = await givenEvent(organisation, 'Ærø Sommerfest')
    const { body } = await post('/v1/editions', { organization_id: organisation.id, event_id: event.id, name: '2026' })
    expect(ids(await list(organisation, '&search=AERO%20s'))).toEqual([body.id])
    await patch(`/v1/editions/${body.id}`, { name: 'Øst' })
    expect(ids(await list(organisation, '&search=ost'))).toEqual([body.id])
    expect(ids(await list(organisation, '&search=100%25'))).toEqual([])
  })

  it('sorts by every key, in both directions and across pages', async () => {
    const organisation = await givenOrganization()
    const event_id = (await givenEvent(organisation)).id
    const seedSorted = (name: string, created_at: number, start_at: number | null, end_at: number | null) =>
      seedEdition(organisation, { event_id, name, created_at, modified_at: 10 - created_at, start_at, end_at })
    const b = await seedSorted('b', 1, 50, 60)
    const a = await seedSorted('a', 2, 40, null)
    const c = await seedSorted('c', 3, null, 70)
    const orders: [string, { id: string }[]][] = [
      ['created', [b, a, c]],
      ['modified', [c, a, b]],
      ['name', [a, b, c]],
      ['start_date', [a, b, c]],
      ['end_date', [b, c, a]],
    ]
    const undated: Record<string, { id: string }> = { start_date: c, end_date: a }
    for (const [ordering, expected] of orders) {
      const order = expected.map(({ id }) => id)
      expect(ids(await list(organisation, `&ordering=${ordering}`))).toEqual(order)
      // Editions without a date come last in both directions.
      const dated = expected.filter((name) => name !== undated[ordering])
      const reversed = [...dated.toReversed(), ...expected.filter((name) => name === undated[ordering])]
      expect(ids(await list(organisation, `&ordering=-${ordering}`))).toEqual(reversed.map(({ id }) => id))
      const walked: string[] = []
      for (
        let next: string | null = `/v1/editions?organization_id=${organisation.id}&ordering=${ordering}&page_size=2`;
        next;
      ) {
        const page: Reply = await get(next.replace(publicUrl, ''))
        walked.push(...ids(page))
        next = page.body.next
      }
      expect(walked).toEqual(order)
    }
  })

  it('refuses unknown parameters and values', async () => {
    const reply = await get('/v1/editions?status=soon&is_draft=maybe&ordering=slug')
    expect(reply.body.errors.map((error: { attr: string }) => error.attr).toSorted()).toEqual([
      'is_draft',
      'ordering',
      'status',
    ])
    expect((await get('/v1/editions?page=0')).body.code).toBe('invalid_page')
  })

  it('lists only editions that the caller reaches, and none of foreign or unknown organisations', async () => {
    const [ours, theirs] = await Promise.all([givenOrganization(), givenOrganization()])
    const mine = await seedEdition(ours)
    const other = await seedEdition(ours)
    const foreign = await seedEdition(theirs)
    const viewer = await givenMember(ours, 'viewer')
    const limited = await givenMember(ours, 'viewer', mine.id)
    expect(new Set(ids(await get('/v1/editions', viewer.token)))).toEqual(new Set([mine.id, other.id]))
    expect(ids(await get('/v1/editions', limited.token))).toEqual([mine.id])
    expect((await list(theirs, '', viewer.token)).body).toMatchObject({ count: 0, results: [] })
    expect((await list({ id: 'org_nobody' })).body).toMatchObject({ count: 0, results: [] })
    expect((await get(`/v1/editions?event_id=${foreign.event_id}`, viewer.token)).body.count).toBe(0)
    expect((await get('/v1/editions', null)).status).toBe(401)
  })
})
