import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { get, patch, post, remove, readLinkPath } from '../support/api.ts'
import { readCost } from '../support/cost.ts'
import { describeRefusal } from '../support/refusals.ts'
import { givenMember, seedAccount, seedMember, seedToken } from '../support/seeding/members.ts'
import { givenEvent, givenOrganization } from '../support/seeding/organizations.ts'
import { next } from '../support/seeding/rows.ts'
import { givenSession } from '../support/sign-in.ts'
import { buildWorld, seedPerson, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
})

const listIds = (reply: { body: { results: { id: string }[] } }) => reply.body.results.map(({ id }) => id)

const createOrganization = async (body: object) => {
  const reply = await post('/v1/organizations', body)
  expect(reply.status, reply.text).toBe(201)
  return reply
}

const admins = async (organization: string): Promise<number> =>
  (await env.DB.prepare(
    "select count(*) as n from members where organization_id = ? and role = 'admin' and edition_id is null",
  )
    .bind(organization)
    .first<number>('n')) ?? -1

describe('createOrganization', () => {
  it('makes a slug of the name, and another one when it is taken', async () => {
    const first = await createOrganization({ name: ' Ærø Sommerfest ' })
    expect(first.body).toMatchObject({ name: 'Ærø Sommerfest', slug: 'aero-sommerfest', avatar: null })
    expect(first.body.created).toBe(first.body.modified)
    expect((await createOrganization({ name: 'Aero Sommerfest' })).body.slug).toBe('aero-sommerfest-2')
    expect((await createOrganization({ name: '日本' })).body.slug).toMatch(/^organization(-\d+)?$/)
    const readReply = await get(readLinkPath(first.headers.get('location')))
    expect(readReply.body).toEqual(first.body)
    expect(readReply.headers.get('etag')).toBe(first.headers.get('etag'))
  })

  it('refuses a slug that is taken', async () => {
    await createOrganization({ name: 'One', slug: 'Taken_1' })
    const secondReply = await post('/v1/organizations', { name: 'Two', slug: 'Taken_1' })
    expect(describeRefusal(secondReply)).toBe('400 validation_error: unique #/slug')
    for (const slug of ['', 'a b', 'é', 'a/b', 'a.b', 'x'.repeat(201)])
      expect([slug, (await post('/v1/organizations', { name: 'Odd', slug })).status]).toEqual([slug, 400])
  })
})

describe('updateOrganization', () => {
  it('changes the fields of the body and no others', async () => {
    const { body } = await createOrganization({ name: 'Before' })
    const renamed = await patch(`/v1/organizations/${body.id}`, { name: 'After' })
    expect(renamed.body).toMatchObject({ id: body.id, name: 'After', slug: body.slug, created: body.created })
    const moved = await patch(`/v1/organizations/${body.id}`, { slug: `moved-${next()}` })
    expect(moved.body).toMatchObject({ name: 'After', slug: expect.stringMatching(/^moved-/) })
    expect((await get(`/v1/organizations/${body.id}`)).body).toEqual(moved.body)
    expect(listIds(await get('/v1/organizations?search=AFTER'))).toContain(body.id)
    expect(listIds(await get('/v1/organizations?search=before'))).not.toContain(body.id)
  })

  it('refuses a slug of another organisation', async () => {
    const { body } = await createOrganization({ name: 'Other' })
    const reply = await patch(`/v1/organizations/${world.a.id}`, { slug: body.slug })
    expect([reply.status, reply.body.errors?.[0]?.code]).toEqual([400, 'unique'])
  })

  it('lets only the superuser change the slug, so that members cannot find out which slugs exist', async () => {
    const { body } = await createOrganization({ name: 'Hidden' })
    const path = `/v1/organizations/${world.a.id}`
    const { token } = world.people.OA
    const before = (await get(path)).body
    const [takenReply, free] = [
      await patch(path, { name: 'Mine', slug: body.slug }, token),
      await patch(path, { name: 'Mine', slug: `free-${next()}` }, token),
    ]
    for (const reply of [takenReply, free]) {
      expect(describeRefusal(reply)).toBe('403 permission_denied: superuser_only #/slug')
      expect(reply.body.required_roles).toEqual([])
      expect(reply.body.errors).toMatchObject([{ pointer: '#/slug', code: 'superuser_only' }])
    }
    expect(takenReply.body.detail).toBe(free.body.detail)
    expect((await get(path)).body).toEqual(before)
    const renamed = await patch(path, { name: 'Ours', slug: before.slug }, token)
    expect([renamed.status, renamed.body.name, renamed.body.slug]).toEqual([200, 'Ours', before.slug])
  })
})

describe('listOrganizations', () => {
  it('lists organisations in which the caller has any role', async () => {
    for (const role of ['OA', 'OV', 'EA', 'EV'] as const)
      expect([role, listIds(await get('/v1/organizations', world.people[role].token))]).toEqual([role, [world.a.id]])
    const all = listIds(await get('/v1/organizations?page_size=500'))
    expect(all).toEqual(expect.arrayContaining([world.a.id, world.b.id]))
  })

  it('finds a part of the name, without regard to case and accents, and treats wildcards as text', async () => {
    const { body } = await createOrganization({ name: `Çirkus Ørsted 100%_${next()}` })
    for (const search of ['cirkus', 'ØRSTED', 'orsted 100', '100%_'])
      expect([search, listIds(await get(`/v1/organizations?search=${encodeURIComponent(search)}`))]).toEqual([
        search,
        [body.id],
      ])
    for (const search of ['1%0', 'c_rkus', '"', "'"])
      expect([search, listIds(await get(`/v1/organizations?search=${encodeURIComponent(search)}`))]).toEqual([
        search,
        [],
      ])
    const long = await get(`/v1/organizations?search=${'é'.repeat(254)}`)
    expect([long.status, long.body.count]).toEqual([200, 0])
  })
})

describe('addOrganizationMember', () => {
  const path = () => `/v1/organizations/${world.a.id}/members`

  it('gives a role in the organisation', async () => {
    const email = `Kaare-${next()}@Example.test`
    const member = { email, role: 'viewer', first_name: 'Kåre', last_name: 'Berg' }
    const { body } = await post(path(), member, world.people.OA.token)
    expect(body).toMatchObject({
      email: email.toLowerCase(),
      role: 'viewer',
      full_name: 'Kåre Berg',
      edition_id: null,
    })
  })

  it('gives a role in one edition to somebody who has another in the organisation', async () => {
    const email = `kaare-${next()}@example.test`
    await post(path(), { email, role: 'viewer' }, world.people.OA.token)
    const edition_id = world.a.editions[0].id
    const { body } = await post(path(), { email, role: 'admin', edition_id }, world.people.OA.token)
    expect(body).toMatchObject({ email, edition_id, role: 'admin' })
  })

  it('gives nobody a second role in the same place', async () => {
    const email = `kaare-${next()}@example.test`
    await post(path(), { email, role: 'viewer' }, world.people.OA.token)
    const secondReply = await post(path(), { email: email.toUpperCase(), role: 'admin' }, world.people.OA.token)
    expect(describeRefusal(secondReply)).toBe('400 validation_error: unique #/email')
  })

  it.each(['oﬃce@acme.example', 'ｏｆｆｉｃｅ@acme.example', 'off\u200bice@acme.example', '"office"@acme.example'])(
    'refuses %s, which looks like the address of somebody else',
    async (email) => {
      const { status, body } = await post(path(), { email, role: 'viewer' }, world.people.OA.token)
      expect([status, body.errors]).toMatchObject([400, [{ code: 'invalid_email', pointer: '#/email' }]])
    },
  )

  it('finds a person of another organisation, and makes one account for many simultaneous requests', async () => {
    const email = `busy-${next()}@example.test`
    const replies = await Promise.all([
      post(path(), { email, role: 'viewer' }),
      post(`/v1/organizations/${world.b.id}/members`, { email, role: 'viewer' }),
      post(path(), { email, role: 'viewer', edition_id: world.a.editions[0].id }),
    ])
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201])
    const accounts = await env.DB.prepare('select id from accounts where email = ?').bind(email).all()
    expect(accounts.results).toHaveLength(1)
  })
})

describe('addOrganizationMember for a person with an account in another organisation', () => {
  const path = () => `/v1/organizations/${world.a.id}/members`

  it('returns the same fields and empty names, at the same cost, as for an unknown person', async () => {
    const knownEmail = `known-${next()}@example.test`
    const account = await seedAccount(knownEmail)
    await seedMember(account, { organization: world.b.id, role: 'admin' })
    const { token } = world.people.OA
    const [old, fresh] = [
      await post(path(), { email: knownEmail, role: 'viewer' }, token),
      await post(path(), { email: `fresh-${next()}@example.test`, role: 'viewer' }, token),
    ]
    expect([old.status, fresh.status]).toEqual([201, 201])
    expect(Object.keys(old.body)).toEqual(Object.keys(fresh.body))
    expect(old.body).toMatchObject({ first_name: '', last_name: '', full_name: fresh.body.full_name })
    const { rows_written: _old, ...work } = readCost(old)
    const { rows_written: _fresh, ...freshWork } = readCost(fresh)
    expect(work.queries).toBe(freshWork.queries)
    expect(work.round_trips).toBe(freshWork.round_trips)
    const listReply = await get(`${path()}?page_size=500`, token)
    for (const reply of [old, fresh, listReply])
      for (const hidden of [account, 'account_id', 'usr_', 'last_seen'])
        expect([hidden, reply.text.includes(hidden)]).toEqual([hidden, false])
    const members = await env.DB.prepare('select account_id from members where id = ?').bind(old.body.id).first()
    expect(members).toEqual({ account_id: account })
  })
})

describe('listOrganizationMembers', () => {
  it('filters by role', async () => {
    const viewers = await get(`/v1/organizations/${world.a.id}/members?role=viewer`, world.people.OM.token)
    expect(listIds(viewers)).toContain(world.people.EV.member)
    expect(new Set(viewers.body.results.map((item: { role: string }) => item.role))).toEqual(new Set(['viewer']))
  })

  it('filters by edition', async () => {
    const query = `edition_id=${world.a.editions[0].id}&role=admin`
    const reply = await get(`/v1/organizations/${world.a.id}/members?${query}`, world.people.OM.token)
    expect(listIds(reply)).toContain(world.people.EA.member)
    expect(listIds(reply)).not.toContain(world.people.OA.member)
  })

  it('filters by account, among the members of the organisation alone', async () => {
    const [own, other] = [
      await givenMember({ id: world.a.id }, 'viewer'),
      await givenMember({ id: world.b.id }, 'viewer'),
    ]
    const list = (account: string) =>
      get(`/v1/organizations/${world.a.id}/members?account_id=${account}`, world.people.OM.token)
    expect(listIds(await list(own.account_id))).toEqual([own.id])
    expect(listIds(await list(other.account_id))).toEqual([])
  })

  it('refuses an unknown role', async () => {
    const refusal = await get(`/v1/organizations/${world.a.id}/members?role=owner`, world.people.OM.token)
    expect([refusal.status, refusal.body.errors]).toMatchObject([
      400,
      [{ code: 'invalid_choice', attr: 'role', pointer: null }],
    ])
  })
})

describe('removeOrganizationMember', () => {
  const buildPath = (organization: string, member: string) => `/v1/organizations/${organization}/members/${member}`

  it('takes effect at once, also for tokens', async () => {
    const person = await seedPerson('OM', world.a)
    const bound = await seedToken(person.account, { organization: world.a.id })
    const elsewhere = await seedToken(person.account, { organization: world.b.id })
    await seedMember(person.account, { organization: world.b.id, role: 'viewer' })
    const status = async (token: string) => (await get(`/v1/organizations/${world.a.id}`, token)).status
    expect([await status(person.token), await status(bound.token)]).toEqual([200, 200])
    expect((await remove(buildPath(world.a.id, person.member), world.people.OA.token)).status).toBe(204)
    expect([await status(person.token), await status(bound.token)]).toEqual([404, 401])
    expect((await get(`/v1/organizations/${world.b.id}`, elsewhere.token)).status).toBe(200)
    expect((await remove(buildPath(world.a.id, person.member), world.people.OA.token)).status).toBe(404)
  })

  it('keeps a bound token valid while the member has another role there', async () => {
    const person = await seedPerson('OV', world.a)
    await seedMember(person.account, { organization: world.a.id, edition: world.a.editions[0].id, role: 'viewer' })
    const bound = await seedToken(person.account, { organization: world.a.id })
    await remove(buildPath(world.a.id, person.member), world.people.OA.token)
    expect((await get('/v1/auth/user-info', bound.token)).body.editions_count).toBe(1)
  })

  it('keeps one admin when two are removed at once', async () => {
    const { body } = await createOrganization({ name: 'Two admins' })
    const members = await Promise.all(
      [1, 2].map(async () => seedMember(await seedAccount(), { organization: body.id, role: 'admin' })),
    )
    const replies = await Promise.all(members.map((member) => remove(buildPath(body.id, member))))
    expect(replies.map(({ status }) => status).toSorted()).toEqual([204, 409])
    expect(replies.find(({ status }) => status === 409)?.body.code).toBe('last_admin')
    expect(await admins(body.id)).toBe(1)
  })

  it('does not count admins of an edition as admins of the organisation', async () => {
    const { body } = await createOrganization({ name: 'One admin' })
    const only = await seedMember(await seedAccount(), { organization: body.id, role: 'admin' })
    await seedMember(await seedAccount(), { organization: body.id, edition: world.a.editions[0].id, role: 'admin' })
    expect((await remove(buildPath(body.id, only))).body?.code).toBe('last_admin')
  })
})

describe('getOrganizationMember', () => {
  it('shows a member to the admins and managers of the organisation', async () => {
    const path = (member: string) => `/v1/organizations/${world.a.id}/members/${member}`
    const { member } = world.people.EV
    const reply = await get(path(member), world.people.OM.token)
    expect([reply.status, reply.body]).toMatchObject([
      200,
      { id: member, role: 'viewer', edition_id: world.a.editions[0].id },
    ])
    expect((await get(path(member), world.people.OV.token)).status).toBe(403)
    expect((await get(path(world.b.member), world.people.OM.token)).status).toBe(404)
  })
})

describe('updateOrganizationMember', () => {
  const buildPath = (organization: string, member: string) => `/v1/organizations/${organization}/members/${member}`

  it('changes what every token of the member may do at once', async () => {
    const person = await seedPerson('OM', world.a)
    const bound = await seedToken(person.account, { organization: world.a.id })
    const create = async (token: string) =>
      (await post('/v1/events', { organization_id: world.a.id, name: `Event ${next()}` }, token)).status
    expect([await create(person.token), await create(bound.token)]).toEqual([201, 201])
    const reply = await patch(buildPath(world.a.id, person.member), { role: 'viewer' }, world.people.OA.token)
    expect([reply.status, reply.body]).toMatchObject([200, { id: person.member, role: 'viewer' }])
    expect([await create(person.token), await create(bound.token)]).toEqual([403, 403])
    await patch(buildPath(world.a.id, person.member), { role: 'manager' }, world.people.OA.token)
    expect([await create(person.token), await create(bound.token)]).toEqual([201, 201])
    const entries = await get(`/v1/audit-log?organization_id=${world.a.id}&resource_id=${person.member}`)
    expect(entries.body.results.map(({ changes }: { changes: unknown }) => changes)).toMatchObject([
      [{ field: 'role', before: 'viewer', after: 'manager' }],
      [{ field: 'role', before: 'manager', after: 'viewer' }],
    ])
  })

  it('applies to a session that has begun', async () => {
    const organization = await givenOrganization()
    const [admin, member] = [await givenMember(organization, 'admin'), await givenMember(organization, 'admin')]
    const session = await givenSession(member.email)
    const path = `/v1/organizations/${organization.id}/members`
    expect((await get(path, session.token)).status).toBe(200)
    await patch(`${path}/${member.id}`, { role: 'viewer' }, admin.token)
    expect((await get(path, session.token)).status).toBe(403)
  })

  it('ends the tokens that a demoted admin made for others, and keeps the own ones with the new role', async () => {
    const admin = await seedPerson('OA', world.a)
    const other = await seedPerson('OA', world.a)
    const mint = async (member_id: string, token = admin.token) =>
      (await post('/v1/auth/tokens', { name: 'minted', member_id }, token)).body.token
    const [own, foreign] = [await mint(admin.member), await mint(other.member)]
    const child = (await post('/v1/auth/tokens', { name: 'child' }, foreign)).body.token
    const readMembers = async (token: string) => (await get(`/v1/organizations/${world.a.id}/members`, token)).status
    expect([await readMembers(own), await readMembers(foreign), await readMembers(child)]).toEqual([200, 200, 200])
    await patch(buildPath(world.a.id, admin.member), { role: 'viewer' }, world.people.OA.token)
    expect([await readMembers(own), await readMembers(foreign), await readMembers(child)]).toEqual([403, 401, 401])
    expect(await readMembers(other.token)).toBe(200)
  })

  it('keeps one admin, also when two take each other the role at once', async () => {
    const { body } = await createOrganization({ name: 'Two admins' })
    const members = await Promise.all(
      [1, 2].map(async () => seedMember(await seedAccount(), { organization: body.id, role: 'admin' })),
    )
    await seedMember(await seedAccount(), { organization: body.id, edition: world.a.editions[0].id, role: 'admin' })
    const replies = await Promise.all(members.map((member) => patch(buildPath(body.id, member), { role: 'manager' })))
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409])
    expect(replies.find(({ status }) => status === 409)?.body.code).toBe('last_admin')
    expect(await admins(body.id)).toBe(1)
    const last = members[replies.findIndex(({ status }) => status === 409)] ?? ''
    expect((await patch(buildPath(body.id, last), { first_name: 'Åse', role: 'admin' })).body).toMatchObject({
      first_name: 'Åse',
      role: 'admin',
    })
  })

  it('changes a role in an edition, and finds no member of another organisation', async () => {
    const person = await seedPerson('EM', world.a)
    const path = buildPath(world.a.id, person.member)
    expect((await patch(path, { role: 'viewer' }, world.people.OA.token)).body).toMatchObject({
      role: 'viewer',
      edition_id: world.a.editions[0].id,
    })
    expect((await patch(path, { role: 'owner' }, world.people.OA.token)).status).toBe(400)
    for (const member of [world.b.member, 'mem_nothing'])
      expect((await patch(buildPath(world.a.id, member), { role: 'viewer' }, world.people.OA.token)).status).toBe(404)
    for (const who of ['OM', 'OV', 'EA'] as const)
      expect((await patch(path, { role: 'admin' }, world.people[who].token)).status).toBeGreaterThanOrEqual(403)
  })
})

describe('getOrganization', () => {
  it('returns the organisation to its members, with its refund policy', async () => {
    const { status, body } = await get(`/v1/organizations/${world.a.id}`, world.people.OV.token)
    expect([status, body]).toMatchObject([200, { id: world.a.id, refund_policy: { four_eyes: false } }])
    expect((await get(`/v1/organizations/${world.a.id}`, world.stranger.token)).status).toBe(404)
  })
})

describe('createEvent', () => {
  it('creates an event in an organisation that the caller may change', async () => {
    const reply = await post('/v1/events', { organization_id: world.a.id, name: 'Ny fest' }, world.people.OM.token)
    expect(reply.body).toMatchObject({ organization_id: world.a.id, name: 'Ny fest' })
    expect(listIds(await get('/v1/events?search=NY', world.people.OV.token))).toEqual([reply.body.id])
    const unknown = await post('/v1/events', { organization_id: 'org_nothing', name: 'x' })
    expect(unknown.body.errors).toMatchObject([{ code: 'does_not_exist', pointer: '#/organization_id' }])
  })
})

describe('getEvent', () => {
  it('shows an event to roles of its organisation and of its editions', async () => {
    const other = await givenEvent({ id: world.a.id })
    const read = async (id: string, token: string) => (await get(`/v1/events/${id}`, token)).status
    expect((await get(`/v1/events/${world.a.event}`, world.people.EV.token)).body).toMatchObject({
      id: world.a.event,
      organization_id: world.a.id,
    })
    expect(await read(other.id, world.people.OV.token)).toBe(200)
    expect(await read(other.id, world.people.EV.token)).toBe(404)
    expect(await read(other.id, world.stranger.token)).toBe(404)
  })
})

describe('updateEvent', () => {
  const seedNamed = async () => {
    const organization = await givenOrganization()
    const event = await givenEvent(organization, 'Nordlys')
    const create = async (name: string) =>
      (await post('/v1/editions', { organization_id: organization.id, event_id: event.id, name })).body
    return { organization, event, create, rename: (name: string) => patch(`/v1/events/${event.id}`, { name }) }
  }
  const readEdition = async (id: string) => (await get(`/v1/editions/${id}`)).body

  it('renames the event and its editions, which the search finds by the new name', async () => {
    const { organization, event, create, rename } = await seedNamed()
    const [first, second] = [await create('2026'), await create('Nordlys 2027')]
    expect([first.full_name, second.full_name]).toEqual(['Nordlys 2026', 'Nordlys 2027'])
    const { etag } = { etag: (await get(`/v1/editions/${first.id}`)).headers.get('etag') }
    const reply = await rename('Sommerlys')
    expect([reply.status, reply.body]).toMatchObject([200, { id: event.id, name: 'Sommerlys' }])
    expect(await readEdition(first.id)).toMatchObject({
      full_name: 'Sommerlys 2026',
      name: '2026',
      slug: first.slug,
      event: { id: event.id, name: 'Sommerlys' },
    })
    expect((await readEdition(second.id)).full_name).toBe('Sommerlys Nordlys 2027')
    expect((await get(`/v1/editions/${first.id}`)).headers.get('etag')).not.toBe(etag)
    const search = await get(`/v1/editions?organization_id=${organization.id}&search=sommerlys 2026`)
    expect(listIds(search)).toEqual([first.id])
    expect(listIds(await get(`/v1/events?organization_id=${organization.id}&search=sommer`))).toEqual([event.id])
    expect((await rename('Sommerlys')).headers.get('etag')).toBe(reply.headers.get('etag'))
  })

  it('leaves archived editions alone, until they are active again', async () => {
    const { create, rename } = await seedNamed()
    const { id } = await create('2020')
    await patch(`/v1/editions/${id}`, { is_archived: true })
    await rename('Sommerlys')
    expect((await readEdition(id)).full_name).toBe('Nordlys 2020')
    await patch(`/v1/editions/${id}`, { is_archived: false })
    expect((await readEdition(id)).full_name).toBe('Sommerlys 2020')
  })

  it('gives every edition the last name, also those that are created, copied or renamed at the same time', async () => {
    const { organization, event, create, rename } = await seedNamed()
    const { id } = await create('2026')
    await Promise.all([
      rename('Sommerlys'),
      create('2027'),
      patch(`/v1/editions/${id}`, { name: 'A' }),
      post(`/v1/editions/${id}/duplicate`, { name: '2028' }),
      create('2029'),
    ])
    const { name } = (await get(`/v1/events?organization_id=${organization.id}`)).body.results[0]
    expect(name).toBe('Sommerlys')
    const editions = (await get(`/v1/editions?organization_id=${organization.id}`)).body.results
    for (const edition of editions) expect(edition.full_name).toBe(`Sommerlys ${(await readEdition(edition.id)).name}`)
    expect(editions.length).toBeGreaterThan(3)
    expect(event.id).toMatch(/^evt_/)
  })

  it('is for managers of the organisation, and finds no event of another one', async () => {
    const event = await givenEvent({ id: world.a.id })
    const path = `/v1/events/${event.id}`
    expect((await patch(path, { name: 'Fest' }, world.people.OM.token)).status).toBe(200)
    expect((await patch(path, { name: 'Fest 2' }, world.people.OV.token)).status).toBe(403)
    expect((await patch(`/v1/events/${world.a.event}`, { name: 'Fest 2' }, world.people.EA.token)).status).toBe(403)
    expect((await patch(path, { name: 'Fest 2' }, world.stranger.token)).status).toBe(404)
    expect((await patch(path, { name: ' ' }, world.people.OM.token)).status).toBe(400)
  })
})

describe('listEvents', () => {
  it('lists events to edition roles only if they are events of their editions', async () => {
    const other = await givenEvent({ id: world.a.id })
    expect(listIds(await get('/v1/events', world.people.EV.token))).toEqual([world.a.event])
    expect(listIds(await get('/v1/events', world.people.OV.token))).toEqual(
      expect.arrayContaining([world.a.event, other.id]),
    )
    expect(listIds(await get('/v1/events', world.stranger.token))).toEqual([world.b.event])
  })
})
