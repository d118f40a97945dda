import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { get, patch, post, remove } from '../support/api.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedPeople } from '../support/seeding/customers.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { seedCampaign } from '../support/seeding/messaging/campaigns.ts'
import { seedConsent } from '../support/seeding/messaging/consents.ts'
import { seedSegment, givenSegment } from '../support/seeding/messaging/segments.ts'
import { givenOrganization, type Organization } from '../support/seeding/organizations.ts'
import { db } from '../support/seeding/rows.ts'
import { calculate, loadSegment } from '../support/segments.ts'

let organisation: Organization
let edition: { id: string }

beforeAll(async () => {
  organisation = await givenOrganization()
  edition = await seedEdition(organisation)
})

const tenant = () => ({ organization_id: organisation.id })
const place = () => ({ organization: organisation.id, edition: edition.id })

describe('createSegment', () => {
  it('creates a draft with all its fields', async () => {
    const segment = await givenSegment({
      ...tenant(),
      edition_id: edition.id,
      name: '  Regulars  ',
      communication_type: 'marketing',
      communication_channel: 'sms',
      expression: 'stats.order_count >= 2',
    })
    expect(segment).toMatchObject({
      name: 'Regulars',
      description: '',
      organization_id: organisation.id,
      organization: { id: organisation.id, name: organisation.name },
      edition: { id: edition.id },
      communication_type: 'marketing',
      communication_channel: 'sms',
      status: 'draft',
      user_count: 0,
      excluded: { no_address: 0, no_consent: 0, unsubscribed: 0, bounced: 0, inactive: 0 },
      calculated_at: null,
      progress: 0,
      is_stale: false,
      is_time_dependent: false,
      campaigns_count: 0,
    })
    expect((await get(`/v1/segments/${segment.id}`)).body).toEqual(segment)
  })

  it('detects an expression that depends on the time', async () => {
    const segment = await givenSegment({ ...tenant(), expression: 'user.last_seen < now - duration("720h")' })
    expect(segment).toMatchObject({ is_time_dependent: true, edition: null, edition_id: null })
  })

  it('points at the place of each error in the expression', async () => {
    const expression = 'user.is_active &&\n  user.emial == "a"'
    const { status, body } = await post('/v1/segments', {
      ...tenant(),
      name: 'x',
      communication_type: 'marketing',
      communication_channel: 'email',
      expression,
    })
    expect(describeRefusal({ status, body })).toBe('400 validation_error: no_such_key #/expression')
    expect(body.errors).toMatchObject([{ code: 'no_such_key', attr: 'expression', pointer: '#/expression', line: 2 }])
    const [{ start, end, column }] = body.errors
    expect(expression.slice(start, end)).toContain('emial')
    expect(column).toBeGreaterThan(0)
  })

  it.each([
    ['stats.order_count', 'not_boolean'],
    [`user.id in [${Array.from({ length: 501 }, () => '"a"').join(',')}]`, 'limit_exceeded'],
    [`${'!'.repeat(60)}user.is_active`, 'limit_exceeded'],
    ['user.email.matches("a+")', 'function_not_allowed'],
  ])('refuses %s', async (expression, code) => {
    const { status, body } = await post('/v1/segments', {
      ...tenant(),
      name: 'x',
      communication_type: 'marketing',
      communication_channel: 'email',
      expression,
    })
    expect([status, body.errors[0].code, body.errors[0].pointer]).toEqual([400, code, '#/expression'])
  })

  it('requires a role of the organisation for a segment of the whole organisation', async () => {
    const { token } = await givenMember(organisation, 'manager', edition.id)
    const body = {
      ...tenant(),
      name: 'x',
      communication_type: 'marketing',
      communication_channel: 'email',
      expression: 'user.is_active',
    }
    expect((await post('/v1/segments', body, token)).body.code).toBe('permission_denied')
    expect((await post('/v1/segments', { ...body, edition_id: edition.id }, token)).status).toBe(201)
  })
})

describe('listSegments', () => {
  describe('of two segments', () => {
    let organization_id: string
    let edition_id: string
    let names: Map<string, string>
    beforeAll(async () => {
      const newOrganization = await givenOrganization()
      organization_id = newOrganization.id
      edition_id = (await seedEdition(newOrganization)).id
      const one = await givenSegment({ organization_id, name: 'Ærlige', communication_type: 'marketing' })
      const two = await givenSegment({
        organization_id,
        edition_id,
        name: 'Billigst',
        description: 'søde folk',
        communication_channel: 'sms',
      })
      names = new Map([
        [one.id, 'one'],
        [two.id, 'two'],
      ])
      await seedPeople({ organization: organization_id }, [{}, {}])
      await seedConsent({ organization: organization_id, edition: null })
      await calculate(one.id)
    })

    const listNames = async (query: string) =>
      (await get(`/v1/segments?organization_id=${organization_id}&${query}`)).body.results.map(
        ({ id }: { id: string }) => names.get(id) ?? id,
      )

    it.each([
      ['', ['two', 'one']],
      ['ordering=created', ['one', 'two']],
      ['ordering=-calculated_at', ['one', 'two']],
      ['status=ready', ['one']],
      ['communication_type=marketing', ['one']],
      ['communication_channel=sms', ['two']],
      ['search=AERLIG', ['one']],
      ['search=sode', ['two']],
    ])('finds and sorts by "%s"', async (query, expected) => {
      expect(await listNames(query)).toEqual(expected)
    })

    it('finds those of an edition', async () => {
      expect(await listNames(`edition_id=${edition_id}`)).toEqual(['two'])
    })
  })

  it('refuses an unknown status', async () => {
    expect((await get('/v1/segments?status=strange')).body.errors[0].code).toBe('invalid_choice')
  })

  it('lists to an edition role only the segments of its edition', async () => {
    const { token } = await givenMember(organisation, 'viewer', edition.id)
    const wide = await givenSegment(tenant())
    const narrow = await givenSegment({ ...tenant(), edition_id: edition.id })
    const { body } = await get('/v1/segments?page_size=500', token)
    const ids = body.results.map((item: { id: string }) => item.id)
    expect([ids.includes(wide.id), ids.includes(narrow.id)]).toEqual([false, true])
    expect((await get(`/v1/segments/${wide.id}`, token)).status).toBe(404)
  })
})

describe('getSegment', () => {
  it('counts its campaigns, and is stale a day after its calculation', async () => {
    const day = 86_400_000
    const old = { status: 'ready' as const, epoch: 1, members_epoch: 1 }
    const stale = await seedSegment(place(), { ...old, calculated_at: Date.now() - day })
    const good = await seedSegment(place(), { ...old, calculated_at: Date.now() - day + 3_600_000 })
    await seedCampaign(place(), stale.id, { status: 'sent' })
    expect((await get(`/v1/segments/${stale.id}`)).body).toMatchObject({
      is_stale: true,
      campaigns_count: 1,
      progress: 1,
    })
    expect((await get(`/v1/segments/${good.id}`)).body).toMatchObject({ is_stale: false, campaigns_count: 0 })
  })
})

describe('updateSegment', () => {
  const ready = { status: 'ready' as const, epoch: 3, members_epoch: 3, user_count: 7, calculated_at: 1 }

  it('keeps the members when only the texts change', async () => {
    const { id } = await seedSegment(place(), ready)
    const { body } = await patch(`/v1/segments/${id}`, { name: 'Other', description: 'words' })
    expect(body).toMatchObject({ name: 'Other', description: 'words', status: 'ready', user_count: 7 })
    expect((await get(`/v1/segments?search=words&organization_id=${organisation.id}`)).body.count).toBe(1)
  })

  it.each([
    { expression: 'user.is_verified' },
    { communication_type: 'marketing' },
    { communication_channel: 'sms' },
    { edition_id: null },
  ])('makes the segment a draft when its members may change: %j', async (change) => {
    const { id, seq } = await seedSegment(place(), ready)
    const { body } = await patch(`/v1/segments/${id}`, change)
    expect(body).toMatchObject({ ...change, status: 'draft', user_count: 0, calculated_at: null })
    expect(await loadSegment(id)).toMatchObject({ epoch: 4, members_epoch: 0 })
    expect(await db.all(sql`select epoch from segment_leftovers where segment_seq = ${seq}`)).toEqual([{ epoch: 3 }])
  })

  it('keeps the members when the same expression is sent', async () => {
    const { id, expression } = await seedSegment(place(), ready)
    const { body } = await patch(`/v1/segments/${id}`, { expression, communication_type: 'transactional' })
    expect(body).toMatchObject({ status: 'ready', user_count: 7 })
  })

  it('allows changes of texts, and not of the expression, during a calculation', async () => {
    const { id } = await seedSegment(place(), { status: 'calculating', epoch: 1, heartbeat_at: Date.now() })
    const refusal = await patch(`/v1/segments/${id}`, { expression: 'user.is_verified' })
    expect(describeRefusal(refusal)).toBe('409 segment_calculating')
    expect(refusal.body.current_status).toBe('calculating')
    expect((await patch(`/v1/segments/${id}`, { name: 'Meanwhile' })).body).toMatchObject({ status: 'calculating' })
  })

  it('refuses an invalid expression and changes nothing', async () => {
    const { id } = await seedSegment(place(), ready)
    const { status, body } = await patch(`/v1/segments/${id}`, { name: 'Changed', expression: 'user.is_active &&' })
    expect([status, body.errors[0].pointer, typeof body.errors[0].start]).toEqual([400, '#/expression', 'number'])
    expect((await loadSegment(id)).version).toBe(1)
  })

  it('moves a segment only to a place where the caller has a role', async () => {
    const { id } = await seedSegment(place())
    const { token } = await givenMember(organisation, 'manager', edition.id)
    const other = await seedEdition(organisation)
    expect((await patch(`/v1/segments/${id}`, { edition_id: other.id }, token)).body.errors[0].code).toBe(
      'does_not_exist',
    )
    expect((await patch(`/v1/segments/${id}`, { edition_id: null }, token)).body.code).toBe('permission_denied')
  })
})

describe('deleteSegment', () => {
  it('is refused while unfinished campaigns use the segment', async () => {
    const { id } = await seedSegment(place())
    const needing = await Promise.all(
      (['draft', 'scheduled', 'calculating', 'sending'] as const).map((status) =>
        seedCampaign(place(), id, { status: status, name: status }),
      ),
    )
    await seedCampaign(place(), id, { status: 'sent' })
    const { status, body } = await remove(`/v1/segments/${id}`)
    expect(describeRefusal({ status, body })).toBe('409 segment_in_use')
    expect(body.related_objects.map((object: { id: string }) => object.id).toSorted()).toEqual(
      needing.map((campaign) => campaign.id).toSorted(),
    )
    for (const related of body.related_objects)
      expect(related).toEqual({ type: 'campaign', id: expect.any(String), name: expect.any(String) })
    expect((await get(`/v1/segments/${id}`)).status).toBe(200)
  })

  it('hides the segment everywhere', async () => {
    const { id, seq } = await seedSegment(place(), { status: 'ready', epoch: 2, members_epoch: 2, name: 'Gone away' })
    await seedCampaign(place(), id, { status: 'sent' })
    expect((await remove(`/v1/segments/${id}`)).status).toBe(204)
    for (const path of ['', '/export', '/explain?user_id=usr_x'])
      expect((await get(`/v1/segments/${id}${path}`)).status).toBe(404)
    for (const path of ['recalculate', 'reset-to-draft'])
      expect((await post(`/v1/segments/${id}/${path}`, undefined)).status).toBe(404)
    expect((await remove(`/v1/segments/${id}`)).status).toBe(404)
    const ids = (await get(`/v1/segments?edition_id=${edition.id}&page_size=500`)).body.results.map(
      (item: { id: string }) => item.id,
    )
    expect(ids).not.toContain(id)
    expect(await db.all(sql`select epoch from segment_leftovers where segment_seq = ${seq}`)).toEqual([{ epoch: 2 }])
  })
})
