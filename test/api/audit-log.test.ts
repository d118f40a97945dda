import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { dayMs, toIso } from '../../src/domain/time/instants.ts'
import { get, patch, post, type Reply, remove } from '../support/api.ts'
import { countEntries, listEntries } from '../support/audit.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedEntries } from '../support/seeding/audit-log.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember, type Member, seedMember, seedToken } from '../support/seeding/members.ts'
import { seedSegment } from '../support/seeding/messaging/segments.ts'
import { givenOrganization, type Organization } from '../support/seeding/organizations.ts'

interface Entry {
  id: string
  action: string
  changes: { field: string; before: unknown; after: unknown; is_hidden: boolean }[]
  [field: string]: unknown
}

const readLog = async (organisation: { id: string }, query = '', token?: string): Promise<Entry[]> => {
  const reply = await get(`/v1/audit-log?organization_id=${organisation.id}${query}`, token)
  expect(reply.status, reply.text).toBe(200)
  return reply.body.results as Entry[]
}

let organisation: Organization
let admin: Member
beforeAll(async () => {
  organisation = await givenOrganization()
  admin = await givenMember(organisation, 'admin')
})

const listHidden = (entry: Entry | undefined) =>
  entry?.changes
    .filter(({ is_hidden }) => is_hidden)
    .map(({ field }) => field)
    .toSorted()

const countEntriesWith = async (text: string) =>
  (await env.DB.prepare('select id from audit_log where instr(changes, ?)').bind(text).all()).results.length

describe('listAuditLog', () => {
  it('shows who changed which field from what to what, with the newest first', async () => {
    const { name } = organisation
    const changeReply = await patch(`/v1/organizations/${organisation.id}`, { name: 'Sydlys' }, admin.token)
    const back = await patch(`/v1/organizations/${organisation.id}`, { name }, admin.token)
    const [second, first] = await readLog(organisation, '', admin.token)
    expect(first).toMatchObject({
      action: 'updateOrganization',
      actor: { id: admin.account_id, email: admin.email, member_id: admin.id, is_superuser: false },
      organization_id: organisation.id,
      edition_id: null,
      resource_type: 'organization',
      resource_id: organisation.id,
      request_id: changeReply.headers.get('x-request-id'),
    })
    expect(first?.changes).toContainEqual({ field: 'name', before: name, after: 'Sydlys', is_hidden: false })
    expect(first?.changes.map(({ field }) => field)).not.toContain('modified')
    expect(second?.request_id).toBe(back.headers.get('x-request-id'))
    expect(second?.['token_id']).toMatch(/^tok_/)
  })

  it('shows what the superuser did', async () => {
    const event = await post('/v1/events', { organization_id: organisation.id, name: 'Vinter' })
    const [entry] = await readLog(organisation, `&resource_id=${event.body.id}`, admin.token)
    expect(entry).toMatchObject({
      action: 'createEvent',
      actor: { id: 'root', email: null, member_id: null, is_superuser: true },
      token_id: null,
      resource_type: 'event',
    })
    expect(entry?.changes).toContainEqual({ field: 'name', before: null, after: 'Vinter', is_hidden: false })
  })

  it('shows what a deleted resource held', async () => {
    const member = await givenMember(organisation, 'viewer')
    await remove(`/v1/organizations/${organisation.id}/members/${member.id}`, admin.token)
    const [entry] = await readLog(organisation, `&action=removeOrganizationMember`, admin.token)
    expect(entry).toMatchObject({ resource_type: 'member', resource_id: member.id })
    expect(entry?.changes).toContainEqual({ field: 'role', before: 'viewer', after: null, is_hidden: false })
  })

  it('shows that a file of people was exported, and which columns', async () => {
    const segment = await seedSegment(
      { organization: organisation.id, edition: (await seedEdition(organisation)).id },
      { status: 'ready', epoch: 1, members_epoch: 1 },
    )
    const reply = await get(`/v1/segments/${segment.id}/export?columns=id,email`, admin.token)
    expect(reply.status).toBe(200)
    const [entry] = await readLog(organisation, `&resource_id=${segment.id}`, admin.token)
    expect(entry).toMatchObject({ action: 'exportSegmentUsers', resource_type: 'segment' })
    expect(entry?.changes).toContainEqual({ field: 'columns', before: null, after: ['id', 'email'], is_hidden: false })
  })

  it('finds entries by actor, action, resource and time', async () => {
    const place = await givenOrganization()
    const start = Date.UTC(2026, 3, 1)
    for (const [day, actor_id, action, resource_type, resource_id] of [
      [0, 'usr_one', 'updateSegment', 'segment', 'seg_one'],
      [1, 'usr_two', 'updateSegment', 'segment', 'seg_two'],
      [2, 'usr_one', 'deleteCampaign', 'campaign', 'cmp_one'],
    ] as const)
      await seedEntries(place.id, 1, { created_at: start + day * dayMs, actor_id, action, resource_type, resource_id })
    const findEntries = async (query: string) =>
      (await readLog(place, `&created_before=2026-05-01T00:00:00Z${query}`)).map(({ resource_id }) => resource_id)
    expect(await findEntries('')).toEqual(['cmp_one', 'seg_two', 'seg_one'])
    expect(await findEntries('&ordering=created')).toEqual(['seg_one', 'seg_two', 'cmp_one'])
    expect(await findEntries('&actor_id=usr_one')).toEqual(['cmp_one', 'seg_one'])
    expect(await findEntries('&action=updateSegment')).toEqual(['seg_two', 'seg_one'])
    expect(await findEntries('&resource_type=campaign')).toEqual(['cmp_one'])
    expect(await findEntries('&resource_id=seg_two')).toEqual(['seg_two'])
    const [first, last] = [toIso(start + dayMs), toIso(start + 2 * dayMs)]
    expect(await findEntries(`&created_after=${first}`)).toEqual(['cmp_one', 'seg_two'])
    expect((await readLog(place, `&created_before=${last}`)).map(({ resource_id }) => resource_id)).toEqual([
      'seg_two',
      'seg_one',
    ])
  })

  it('requires the organisation, except from the superuser', async () => {
    const reply = await get('/v1/audit-log', admin.token)
    expect([reply.status, reply.body.errors]).toMatchObject([400, [{ code: 'required', attr: 'organization_id' }]])
    const all = await get('/v1/audit-log')
    expect(all.status).toBe(200)
    for (const entry of all.body.results) expect(entry.organization_id).toBeNull()
  })

  it('shows no entries of an organisation to admins of another one, nor to roles below admin', async () => {
    const other = await givenOrganization()
    await seedMember(admin.account_id, { organization: other.id, role: 'manager' })
    await seedEntries(other.id, 3)
    expect(await readLog(other, '', admin.token)).toEqual([])
    expect((await readLog(other)).length).toBeGreaterThanOrEqual(3)
  })
})

describe('an entry', () => {
  it('is not written when an update changes nothing', async () => {
    const before = await countEntries()
    const { name } = (await get(`/v1/organizations/${organisation.id}`)).body
    expect((await patch(`/v1/organizations/${organisation.id}`, { name }, admin.token)).status).toBe(200)
    expect(await countEntries()).toBe(before)
  })

  it('is written for each of several successful changes of a row at the same time', async () => {
    const replies = await Promise.all(
      Array.from({ length: 4 }, (_, at) =>
        patch(`/v1/organizations/${organisation.id}`, { name: `Race ${at}` }, admin.token),
      ),
    )
    for (const reply of replies) expect((await listEntries(reply)).length).toBe(reply.status === 200 ? 1 : 0)
  })

  it('is written once when a token is revoked twice', async () => {
    const token = await post('/v1/auth/tokens', { name: 'once', member_id: admin.id })
    const replies: Reply[] = []
    for (let tries = 0; tries < 2; tries++) replies.push(await remove(`/v1/auth/tokens/${token.body.id}`, admin.token))
    expect(replies.map(({ status }) => status)).toEqual([204, 204])
    expect((await listEntries(replies[0] as Reply)).length).toBe(1)
    expect((await listEntries(replies[1] as Reply)).length).toBe(0)
  })

  it('is written once for an import, however many orders it has', async () => {
    const edition = await seedEdition(organisation)
    const orders = Array.from({ length: 60 }, (_, at) => ({
      external_id: `many-${at}`,
      currency: 'dkk',
      customer: { email: `many-${at}@example.dk`, first_name: 'Signe', last_name: 'Marker-Person' },
      items: [{ product: 'Day ticket', quantity: 1, unit_price: 10 }],
    }))
    const body = { organization_id: organisation.id, edition_id: edition.id, source: 'shop', orders }
    const before = await countEntries()
    const dry = await post('/v1/data-imports/external-orders', { ...body, dry_run: true }, admin.token)
    expect(dry.status).toBe(201)
    expect(await countEntries()).toBe(before)
    const reply = await post('/v1/data-imports/external-orders', body, admin.token)
    const entries = await listEntries(reply)
    expect(entries).toMatchObject([
      { action: 'importExternalOrders', resource_type: 'data_import', edition_id: edition.id },
    ])
    expect(await countEntries()).toBe(before + 1)
    expect(JSON.parse(entries[0]?.changes ?? '[]')).toContainEqual({ field: 'results', is_hidden: true })
    expect(entries[0]?.changes).not.toContain('many-1@example.dk')
    expect(entries[0]?.changes).not.toContain('Marker-Person')
  })

  it('says only that the contents of a message changed, and not to what', async () => {
    const edition = await seedEdition(organisation)
    const place = { organization_id: organisation.id, edition_id: edition.id }
    const message = await post(
      '/v1/email-messages',
      { ...place, title: 'News', type: 'campaign', scope: 'edition', subject: { en: 'MARKER-SUBJECT' } },
      admin.token,
    )
    expect(message.status, message.text).toBe(201)
    const blocks = [{ type: 'heading', data: { text: { en: 'MARKER-BLOCK' } } }]
    const changeReply = await patch(
      `/v1/email-messages/${message.body.id}`,
      { title: 'Better news', subject: { en: 'MARKER-CHANGED' }, preheader: { en: 'MARKER-PREHEADER' }, blocks },
      admin.token,
    )
    expect(changeReply.status, changeReply.text).toBe(200)
    const [entry] = await readLog(organisation, `&resource_id=${message.body.id}`, admin.token)
    expect(listHidden(entry)).toEqual(['blocks', 'preheader', 'subject', 'subject_translations'])
    expect(entry?.changes).toContainEqual({
      field: 'title',
      before: 'News',
      after: 'Better news',
      is_hidden: false,
    })
    expect(await countEntriesWith('MARKER-')).toBe(0)
  })

  it('says only that a secret changed, and not to what', async () => {
    const edition = await seedEdition(organisation)
    const extra = { api_key: 'MARKED-KEY' }
    const updated = await patch(`/v1/editions/${edition.id}`, { merchant_account_extra_parameters: extra }, admin.token)
    expect(updated.status, updated.text).toBe(200)
    const [entry] = await readLog(organisation, `&resource_id=${edition.id}`, admin.token)
    expect(listHidden(entry)).toEqual(['merchant_account_extra_parameters'])
    expect(await countEntriesWith('MARKED-')).toBe(0)
  })
})

describe('using a token that is no longer valid', () => {
  const uses = async (id: string): Promise<Record<string, unknown>[]> =>
    (
      await env.DB.prepare("select * from audit_log where token_id = ? and action = 'rejectAccessToken' order by id")
        .bind(id)
        .all()
    ).results

  it.each([
    ['revoked', { revoked_at: 1 }],
    ['expired', { expires_at: 1 }],
  ] as const)('is recorded when it was %s, once an hour for any number of tries', async (reason, columns) => {
    const ended = await seedToken(admin.account_id, { organization: organisation.id, ...columns })
    const replies = await Promise.all(Array.from({ length: 5 }, () => get('/v1/auth/user-info', ended.token)))
    replies.push(await get('/v1/auth/user-info', ended.token))
    for (const reply of replies) expect(describeRefusal(reply)).toBe('401 not_authenticated')
    const [entry, ...more] = await uses(ended.id)
    expect(more).toEqual([])
    expect(entry).toMatchObject({
      organization_id: organisation.id,
      actor_id: admin.account_id,
      resource_type: 'access_token',
      resource_id: ended.id,
      changes: JSON.stringify([{ field: 'refused_for', before: null, after: reason }]),
    })
    await env.DB.prepare('update access_tokens set refused_at = refused_at - 3600001 where id = ?').bind(ended.id).run()
    await get('/v1/auth/user-info', ended.token)
    expect((await uses(ended.id)).length).toBe(2)
    expect((await readLog(organisation, `&resource_id=${ended.id}`, admin.token)).length).toBe(2)
  })

  it('is recorded in every organisation of the owner when the token is not bound to one', async () => {
    const other = await givenOrganization()
    const member = await givenMember(organisation, 'viewer')
    await seedMember(member.account_id, { organization: other.id, role: 'viewer' })
    const ended = await seedToken(member.account_id, { revoked_at: 1 })
    await get('/v1/auth/user-info', ended.token)
    expect((await uses(ended.id)).map(({ organization_id }) => organization_id).toSorted()).toEqual(
      [organisation.id, other.id].toSorted(),
    )
  })

  it('is not recorded for an unknown token', async () => {
    const before = await countEntries()
    await get('/v1/auth/user-info', `ecm_${'a'.repeat(36)}`)
    expect(await countEntries()).toBe(before)
  })
})
