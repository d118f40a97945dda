import { describe, expect, it } from 'vitest'
import { call, get, post, readLinkPath, publicUrl } from '../support/api.ts'
import { codes, buildRefusal } from '../support/editions.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { givenEvent, givenOrganization } from '../support/seeding/organizations.ts'

describe('createEdition', () => {
  async function givenPlace() {
    const organisation = await givenOrganization()
    const event = await givenEvent(organisation, 'Nordlys Festival')
    return { organisation, event, base: { organization_id: organisation.id, event_id: event.id, name: '2026' } }
  }

  it('makes a draft with every default', async () => {
    const { organisation, event, base } = await givenPlace()
    const reply = await post('/v1/editions', base)
    expect(reply.status).toBe(201)
    expect(reply.body).toEqual({
      id: expect.stringMatching(/^edt_/),
      name: '2026',
      full_name: 'Nordlys Festival 2026',
      slug: 'nordlys-festival-2026',
      organization: { id: organisation.id, name: organisation.name, slug: organisation.slug, avatar: null },
      event: { id: event.id, name: 'Nordlys Festival' },
      start_date: null,
      end_date: null,
      timezone: 'UTC',
      status: 'no_dates',
      default_country_code: '+45',
      is_draft: true,
      is_archived: false,
      published_at: null,
      default_language: 'en',
      enabled_languages: ['en'],
      tax_type: 'none',
      default_price_tax_rate: 0,
      default_deposit_tax_rate: 0,
      default_packaging_deposit_tax_rate: 0,
      currency: 'dkk',
      fee_rule_id: null,
      merchant_account_id: null,
      merchant_account_extra_parameters: {},
      merchant_id: {},
      metadata: {},
      sms_sender_name: 'Unset',
      email_sender_name: null,
      email_sender_address: null,
      email_reply_to: null,
      meta_title: {},
      meta_description: {},
      meta_image: null,
      meta_image_id: null,
      transaction_receipt_email_id: null,
      refund_confirmation_email_id: null,
      created: expect.any(String),
      modified: reply.body.created,
    })
    expect(reply.headers.get('location')).toBe(`${publicUrl}/v1/editions/${reply.body.id}`)
    const readReply = await get(readLinkPath(reply.headers.get('location')))
    expect(readReply.body).toEqual(reply.body)
    expect(readReply.headers.get('etag')).toBe(reply.headers.get('etag'))
  })

  it('stores the fields of the body, ignores read-only fields, and refuses fields of changes only', async () => {
    const { base } = await givenPlace()
    const refusedFields = await post('/v1/editions', { ...base, name: 'x', currency: 'usd', is_draft: false })
    expect(codes(refusedFields)).toEqual(buildRefusal('#/currency unknown_field', '#/is_draft unknown_field'))
    const reply = await post('/v1/editions', {
      ...base,
      name: '  Nordlys Festival: vinter ',
      start_date: '2026-12-01T10:00:00+01:00',
      end_date: '2026-12-01T10:00:00+01:00',
      timezone: 'Europe/Kyiv',
      default_country_code: '+46',
      default_language: 'se',
      enabled_languages: ['se', 'en'],
      tax_type: 'vat',
      slug: 'mine',
    })
    expect(reply.body).toMatchObject({
      name: 'Nordlys Festival: vinter',
      full_name: 'Nordlys Festival: vinter',
      slug: 'nordlys-festival-vinter',
      start_date: '2026-12-01T09:00:00.000Z',
      end_date: '2026-12-01T09:00:00.000Z',
      timezone: 'Europe/Kyiv',
      default_country_code: '+46',
      default_language: 'se',
      enabled_languages: ['se', 'en'],
      tax_type: 'vat',
      currency: 'sek',
      is_draft: true,
    })
  })

  it('makes the default language the only enabled one', async () => {
    const { base } = await givenPlace()
    const { body } = await post('/v1/editions', { ...base, default_language: 'pl' })
    expect(body.enabled_languages).toEqual(['pl'])
  })

  it('gives editions of one name a slug each, and repeats a slug in another organisation', async () => {
    const { base } = await givenPlace()
    const replies = await Promise.all([1, 2, 3, 4].map(() => post('/v1/editions', base)))
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201, 201])
    expect(new Set(replies.map(({ body }) => body.slug))).toEqual(
      new Set([
        'nordlys-festival-2026',
        'nordlys-festival-2026-2',
        'nordlys-festival-2026-3',
        'nordlys-festival-2026-4',
      ]),
    )
    const { base: elsewhere } = await givenPlace()
    expect((await post('/v1/editions', elsewhere)).body.slug).toBe('nordlys-festival-2026')
  })

  it('makes one edition when a request is sent twice with one key', async () => {
    const { organisation, base } = await givenPlace()
    const send = () => call('/v1/editions', { body: base, headers: { 'idempotency-key': `key-${organisation.id}` } })
    const [first, secondReply] = [await send(), await send()]
    expect(secondReply.body).toEqual(first.body)
    expect(secondReply.headers.get('idempotency-replayed')).toBe('true')
    expect((await get(`/v1/editions?organization_id=${organisation.id}`)).body.count).toBe(1)
  })

  it('names every invalid field, and stores nothing', async () => {
    const { organisation, base } = await givenPlace()
    expect(codes(await post('/v1/editions', {}))).toEqual(
      buildRefusal('#/organization_id required', '#/event_id required', '#/name required'),
    )
    const wrong = {
      ...base,
      name: ' ',
      start_date: '2026-06-01T10:00:00',
      end_date: '9999-12-31T23:59:59-12:00',
      timezone: 'utc',
      default_country_code: '+7',
      default_language: 'de',
      enabled_languages: ['en', 'da', 'en'],
      tax_type: null,
    }
    expect(codes(await post('/v1/editions', wrong))).toEqual(
      buildRefusal(
        '#/name blank',
        '#/start_date invalid_date',
        '#/end_date invalid_date',
        '#/timezone invalid_choice',
        '#/default_country_code invalid_choice',
        '#/default_language invalid_choice',
        '#/enabled_languages/2 duplicate',
        '#/tax_type null',
      ),
    )
    expect(codes(await post('/v1/editions', { ...base, name: 'x'.repeat(201) }))).toEqual(
      buildRefusal('#/name max_length'),
    )
    for (const body of [{ enabled_languages: ['da'] }, { default_language: 'pl', enabled_languages: ['en'] }])
      expect(codes(await post('/v1/editions', { ...base, ...body }))).toEqual(
        buildRefusal('#/default_language language_not_enabled'),
      )
    expect(codes(await post('/v1/editions', { ...base, enabled_languages: [] }))).toEqual(
      buildRefusal('#/enabled_languages min_items'),
    )
    for (const timezone of ['+01:00', 'Europe/Atlantis', 'europe/copenhagen'])
      expect(codes(await post('/v1/editions', { ...base, timezone }))).toEqual(
        buildRefusal('#/timezone invalid_choice'),
      )
    const backwards = { ...base, start_date: '2026-06-02T00:00:00Z', end_date: '2026-06-01T23:59:59.999Z' }
    expect(codes(await post('/v1/editions', backwards))).toEqual(buildRefusal('#/end_date end_before_start'))
    expect((await get(`/v1/editions?organization_id=${organisation.id}`)).body.count).toBe(0)
  })

  it('requires an event of the same organisation, and an organisation in the caller’s reach', async () => {
    const { organisation, base } = await givenPlace()
    const foreign = await givenPlace()
    const manager = await givenMember(organisation, 'manager')
    const create = (body: unknown) => post('/v1/editions', body, manager.token)
    expect((await create(base)).status).toBe(201)
    for (const event_id of [foreign.event.id, 'evt_nobody'])
      expect(codes(await create({ ...base, event_id }))).toEqual(buildRefusal('#/event_id does_not_exist'))
    for (const organization_id of [foreign.organisation.id, 'org_nobody'])
      expect(codes(await create({ ...base, organization_id }))).toEqual(
        buildRefusal('#/organization_id does_not_exist'),
      )
    expect(codes(await post('/v1/editions', { ...base, organization_id: 'org_nobody' }))).toEqual(
      buildRefusal('#/organization_id does_not_exist'),
    )
  })

  it('requires an admin or manager of the organisation', async () => {
    const { organisation, base } = await givenPlace()
    const edition = await seedEdition(organisation)
    const viewer = await givenMember(organisation, 'viewer')
    const editionAdmin = await givenMember(organisation, 'admin', edition.id)
    for (const { token } of [viewer, editionAdmin]) {
      const reply = await post('/v1/editions', base, token)
      expect(reply.status).toBe(403)
      expect(reply.body).toMatchObject({ code: 'permission_denied', required_roles: ['OA', 'OM'] })
    }
    const admin = await givenMember(organisation, 'admin')
    expect((await post('/v1/editions', base, admin.token)).status).toBe(201)
  })
})

describe('getEdition', () => {
  it('returns the edition, and 304 to a client that has its ETag', async () => {
    const organisation = await givenOrganization()
    const edition = await seedEdition(organisation)
    const viewer = await givenMember(organisation, 'viewer', edition.id)
    const path = `/v1/editions/${edition.id}`
    const reply = await get(path, viewer.token)
    expect(reply.body).toMatchObject({ id: edition.id, event: { id: edition.event_id, name: 'Nordlys Festival' } })
    const secondReply = await call(path, { headers: { 'if-none-match': reply.headers.get('etag') ?? '' } })
    expect(secondReply.status).toBe(304)
  })

  it('answers alike for a hidden edition and for one that does not exist', async () => {
    const [ours, theirs] = await Promise.all([givenOrganization(), givenOrganization()])
    const mine = await seedEdition(ours)
    const sibling = await seedEdition(ours)
    const foreign = await seedEdition(theirs)
    const member = await givenMember(ours, 'admin', mine.id)
    const unknown = await get('/v1/editions/edt_nobody', member.token)
    expect(unknown.status).toBe(404)
    for (const { id } of [sibling, foreign])
      expect((await get(`/v1/editions/${id}`, member.token)).text).toBe(unknown.text)
  })
})
