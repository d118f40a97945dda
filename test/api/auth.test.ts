import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { isWellFormedToken } from '../../src/domain/accounts/tokens.ts'
import { sha256, toHex } from '../../src/domain/text/encoding.ts'
import { dayMs } from '../../src/domain/time/instants.ts'
import { call, get, post, remove } from '../support/api.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedAccount, seedMember, seedToken } from '../support/seeding/members.ts'
import { freshId, next } from '../support/seeding/rows.ts'
import { buildWorld, seedPerson, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
})

const create = (body: object, token: string) => post('/v1/auth/tokens', body, token)

const loadToken = (id: string) => env.DB.prepare('select * from access_tokens where id = ?').bind(id).first()

const readStatus = async (token: string, path = '/v1/auth/user-info') => (await get(path, token)).status

describe('createAccessToken', () => {
  it('shows the token once and stores only its hash', async () => {
    const { token } = world.people.OA
    const reply = await create({ name: '  Box office ' }, token)
    expect(reply.status).toBe(201)
    expect(isWellFormedToken(reply.body.token)).toBe(true)
    expect(reply.body).toMatchObject({
      name: 'Box office',
      kind: 'personal',
      organization_id: null,
      prefix: reply.body.token.slice(0, 8),
      scopes: ['read', 'write'],
      last_used_at: null,
    })
    expect(await loadToken(reply.body.id)).toMatchObject({ token_hash: toHex(await sha256(reply.body.token)) })
    expect(await readStatus(reply.body.token)).toBe(200)
    const listReply = await get('/v1/auth/tokens', token)
    expect(listReply.body.results.find((item: { id: string }) => item.id === reply.body.id)).not.toHaveProperty('token')
    expect(listReply.text).not.toContain(reply.body.token)
  })

  it('expires after a year by default', async () => {
    const before = Date.now()
    const { body } = await create({ name: 'Year' }, world.people.OA.token)
    const expiry = Date.parse(body.expires_at)
    expect(expiry).toBeGreaterThanOrEqual(before + 365 * dayMs)
    expect(expiry).toBeLessThanOrEqual(Date.now() + 365 * dayMs)
  })

  it.each([
    [null, null],
    ['2090-06-01T10:00:00+02:00', '2090-06-01T08:00:00.000Z'],
  ])('expires when you ask for that: %s', async (expires_at, expected) => {
    const { body } = await create({ name: 'Until', expires_at }, world.people.OA.token)
    expect(body.expires_at).toBe(expected)
  })

  it('cannot expire in the past', async () => {
    const past = await create(
      { name: 'Past', expires_at: new Date(Date.now() - 1).toISOString() },
      world.people.OA.token,
    )
    expect(describeRefusal(past)).toBe('400 validation_error: in_past #/expires_at')
  })

  it.each(['2090-06-01T10:00:00', '2090-06-01', '2090-02-30T00:00:00Z', '9999-12-31T23:59:59-14:00'])(
    'cannot expire at %s, which is no instant',
    async (expires_at) => {
      expect((await create({ name: 'x', expires_at }, world.people.OA.token)).status).toBe(400)
    },
  )

  it('refuses scopes that the caller’s token lacks', async () => {
    const { account } = world.people.OA
    const writer = await seedToken(account, { scopes: ['write'] })
    const refusal = await create({ name: 'Wider', scopes: ['read', 'write'] }, writer.token)
    expect(describeRefusal(refusal)).toBe('400 validation_error: scope_not_held #/scopes')
    const same = await create({ name: 'Same' }, writer.token)
    expect(same.body.scopes).toEqual(['write'])
    const reader = await create({ name: 'Reader', scopes: ['read', 'read'] }, world.people.OA.token)
    expect(reader.body.scopes).toEqual(['read'])
    expect((await create({ name: 'No', scopes: ['read'] }, reader.body.token)).status).toBe(403)
  })

  it('binds a token that an admin makes for another member to the organisation', async () => {
    const person = await seedPerson('OM', world.a)
    const reply = await create({ name: 'Desk', member_id: person.member }, world.people.OA.token)
    expect(reply.body).toMatchObject({ kind: 'service', organization_id: world.a.id })
    const info = await get('/v1/auth/user-info', reply.body.token)
    expect(info.body).toMatchObject({ id: person.member, token: { kind: 'service', id: reply.body.id } })
    const renewed = await create({ name: 'From a bound token' }, reply.body.token)
    expect(renewed.body.organization_id).toBe(world.a.id)
  })

  it('makes no tokens for other members without the role, and does not reveal who is a member', async () => {
    const { OV, EA, EM, EV } = world.people
    for (const { who, token } of [OV, EA, EM, EV, world.stranger]) {
      const headers = { 'x-request-id': 'fixed' }
      const request = (member_id: string) => call('/v1/auth/tokens', { body: { name: 'x', member_id }, token, headers })
      const reply = await request(world.a.member)
      expect([who, reply.status, reply.body.errors]).toMatchObject([who, 400, [{ code: 'does_not_exist' }]])
      expect([who, reply.text]).toEqual([who, (await request(freshId('member'))).text])
    }
  })

  it('tells managers, who list the members, which role makes tokens for them', async () => {
    const { OM } = world.people
    const reply = await create({ name: 'x', member_id: world.a.member }, OM.token)
    expect(describeRefusal(reply)).toBe('403 permission_denied: admin_only #/member_id')
    expect(reply.body.required_roles).toEqual(['OA'])
    for (const member_id of [freshId('member'), world.b.member])
      expect((await create({ name: 'x', member_id }, OM.token)).status).toBe(400)
  })

  it('makes tokens of the superuser only for a member', async () => {
    expect((await post('/v1/auth/tokens', { name: 'x', member_id: world.a.member })).status).toBe(201)
    const nameless = await post('/v1/auth/tokens', { name: 'x' })
    expect([nameless.status, nameless.body.errors[0].pointer]).toEqual([400, '#/member_id'])
  })

  describe('for a member who is an admin elsewhere', () => {
    let account: string
    let token: string
    beforeAll(async () => {
      const person = await seedPerson('OV', world.a)
      await seedMember(person.account, { organization: world.b.id, role: 'admin' })
      await seedMember(person.account, { organization: world.b.id, edition: world.b.editions[0].id, role: 'admin' })
      account = person.account
      token = (await create({ name: 'Bound', member_id: person.member }, world.people.OA.token)).body.token
    })

    it('makes a token that shows its own organisation alone', async () => {
      const info = await get('/v1/auth/user-info', token)
      expect(info.body.organizations.map((organization: { id: string }) => organization.id)).toEqual([world.a.id])
      expect(info.text).not.toContain(world.b.id)
    })

    it('makes a token that reads nothing elsewhere', async () => {
      for (const path of [
        `/v1/organizations/${world.b.id}`,
        `/v1/organizations/${world.b.id}/members`,
        `/v1/editions/${world.b.editions[0].id}`,
        `/v1/orders/${world.b.editions[0].order}`,
        `/v1/user/${world.b.editions[0].user}`,
      ])
        expect([path, [403, 404].includes(await readStatus(token, path))]).toEqual([path, true])
    })

    it('makes a token that lists nothing from elsewhere', async () => {
      for (const path of [
        '/v1/organizations',
        '/v1/events',
        '/v1/editions',
        '/v1/user',
        `/v1/orders?organization_id=${world.b.id}`,
        '/v1/auth/tokens',
      ]) {
        const reply = await get(path, token)
        for (const id of [world.b.id, world.b.event, world.b.editions[0].id, world.b.editions[0].user])
          expect([path, reply.text.includes(id)]).toEqual([path, false])
      }
    })

    it('makes a token that writes nothing elsewhere', async () => {
      const written = await post('/v1/events', { organization_id: world.b.id, name: 'x' }, token)
      expect(written.status).toBeGreaterThanOrEqual(400)
      const strangers = await create({ name: 'x', member_id: world.b.member }, token)
      expect(strangers.status).toBeGreaterThanOrEqual(400)
    })

    it('makes a token that neither lists nor revokes the personal tokens of the member', async () => {
      const personal = await seedToken(account)
      expect(await readStatus(personal.token, `/v1/organizations/${world.b.id}`)).toBe(200)
      expect((await get('/v1/auth/tokens', token)).text).not.toContain(personal.id)
      expect((await remove(`/v1/auth/tokens/${personal.id}`, token)).status).toBe(404)
    })
  })
})

describe('listAccessTokens', () => {
  it('lists your own tokens that still work', async () => {
    const person = await seedPerson('OV', world.a)
    const usableToken = await seedToken(person.account)
    const revokedToken = await seedToken(person.account, { revoked_at: 1 })
    const old = await seedToken(person.account, { expires_at: Date.now() - 1 })
    const reply = await get('/v1/auth/tokens', person.token)
    const ids = reply.body.results.map((item: { id: string }) => item.id)
    expect(ids.toSorted()).toEqual([person.tokenId, usableToken.id].toSorted())
    for (const hidden of [revokedToken.id, old.id, world.people.OA.tokenId]) expect(ids).not.toContain(hidden)
  })
})

describe('revokeAccessToken', () => {
  it('takes effect at once and is final', async () => {
    const { account, token } = world.people.OM
    const victim = await seedToken(account)
    expect(await readStatus(victim.token)).toBe(200)
    expect((await remove(`/v1/auth/tokens/${victim.id}`, token)).status).toBe(204)
    expect(await readStatus(victim.token)).toBe(401)
    const first = (await loadToken(victim.id))?.['revoked_at']
    expect((await remove(`/v1/auth/tokens/${victim.id}`, token)).status).toBe(204)
    expect((await loadToken(victim.id))?.['revoked_at']).toBe(first)
  })

  it('revokes the calling token itself', async () => {
    const ownToken = await seedToken(world.people.OV.account)
    expect((await remove(`/v1/auth/tokens/${ownToken.id}`, ownToken.token)).status).toBe(204)
    expect(await readStatus(ownToken.token)).toBe(401)
  })

  it('lets an admin revoke tokens of the organisation, and list no others', async () => {
    const person = await seedPerson('OV', world.a)
    const bound = await seedToken(person.account, { organization: world.a.id })
    for (const role of ['OM', 'EA'] as const)
      expect((await remove(`/v1/auth/tokens/${bound.id}`, world.people[role].token)).status).toBe(404)
    expect((await remove(`/v1/auth/tokens/${bound.id}`, world.stranger.token)).status).toBe(404)
    expect((await remove(`/v1/auth/tokens/${bound.id}`, world.people.OA.token)).status).toBe(204)
    expect(await readStatus(bound.token)).toBe(401)
    expect((await remove(`/v1/auth/tokens/${person.tokenId}`, world.people.OA.token)).status).toBe(404)
    expect(await readStatus(person.token)).toBe(200)
  })
})

describe('getUserInfo', () => {
  it('returns the caller with the organisations and editions that the caller reaches', async () => {
    const email = `anna-${next()}@example.test`
    const account = await seedAccount(email)
    await seedMember(account, { organization: world.a.id, role: 'manager' })
    await seedMember(account, { organization: world.b.id, edition: world.b.editions[1].id, role: 'viewer' })
    const { token, id } = await seedToken(account, { name: 'Mine' })
    const { body } = await get('/v1/auth/user-info', token)
    expect(body).toMatchObject({
      id: account,
      email,
      full_name: 'Mette Holm',
      is_superuser: false,
      token: { id, kind: 'personal', name: 'Mine', scopes: ['read', 'write'] },
      editions_count: 3,
    })
    const organizations = Object.fromEntries(
      body.organizations.map((organization: { id: string; role: string }) => [organization.id, organization.role]),
    )
    expect(organizations).toEqual({ [world.a.id]: 'manager', [world.b.id]: null })
    const editions = Object.fromEntries(
      body.editions.map((edition: { id: string; role: string; source: string }) => [
        edition.id,
        `${edition.role} by ${edition.source}`,
      ]),
    )
    expect(editions).toEqual({
      [world.a.editions[0].id]: 'manager by organization',
      [world.a.editions[1].id]: 'manager by organization',
      [world.b.editions[1].id]: 'viewer by edition',
    })
  })

  it('returns only what its organisation holds about the member when the token is bound', async () => {
    const account = await seedAccount()
    const here = await seedMember(account, { organization: world.a.id, role: 'manager' })
    const edition = world.a.editions[0].id
    await seedMember(account, { organization: world.a.id, edition, role: 'viewer' })
    const there = await seedMember(account, { organization: world.b.id, role: 'viewer' })
    const name = (member: string, first: string, last: string) =>
      env.DB.prepare('update members set first_name = ?, last_name = ? where id = ?').bind(first, last, member).run()
    await name(here, 'Here', 'Known')
    await name(there, 'There', 'Secret')
    await env.DB.prepare('update accounts set last_seen_at = 1893456000000, created_at = 1577836800000 where id = ?')
      .bind(account)
      .run()
    const bound = await seedToken(account, { organization: world.a.id })
    const { body, text } = await get('/v1/auth/user-info', bound.token)
    expect(body).toMatchObject({ id: here, full_name: 'Here Known', last_seen: null })
    expect(Date.parse(body.date_joined)).toBe(Date.UTC(2026, 0, 15, 9))
    for (const hidden of [account, there, world.b.id, 'There', 'Secret', '2030-01-01', '2020-01-01'])
      expect([hidden, text.includes(hidden)]).toEqual([hidden, false])
    const personal = await get('/v1/auth/user-info', (await seedToken(account)).token)
    expect(personal.body).toMatchObject({ id: account, last_seen: '2030-01-01T00:00:00.000Z' })
    const foreignToken = await seedToken(await seedAccount(), { organization: world.a.id })
    const nobody = await get('/v1/auth/user-info', foreignToken.token)
    expect([nobody.status, nobody.text.includes('usr_')]).toEqual([403, false])
  })

  it('returns the stronger of two roles in an edition', async () => {
    const account = await seedAccount()
    await seedMember(account, { organization: world.a.id, role: 'viewer' })
    await seedMember(account, { organization: world.a.id, edition: world.a.editions[0].id, role: 'admin' })
    const { token } = await seedToken(account)
    const { body } = await get('/v1/auth/user-info', token)
    const listedEdition = body.editions.find((edition: { id: string }) => edition.id === world.a.editions[0].id)
    expect(listedEdition).toMatchObject({ role: 'admin', source: 'edition' })
  })

  it('stores the time of the last use, but not at each use', async () => {
    const { token, id } = await seedToken(world.people.OV.account)
    await env.DB.prepare('update access_tokens set last_used_at = null where id = ?').bind(id).run()
    const before = Date.now()
    await get('/v1/auth/user-info', token)
    await expect.poll(async () => (await loadToken(id))?.['last_used_at']).toBeGreaterThanOrEqual(before)
    const first = (await loadToken(id))?.['last_used_at']
    await get('/v1/auth/user-info', token)
    expect((await loadToken(id))?.['last_used_at']).toBe(first)
  })

  it('accepts the word Bearer in any case', async () => {
    const { token } = world.people.OV
    const reply = await call('/v1/auth/user-info', { token: null, headers: { authorization: `bearer  ${token} ` } })
    expect(reply.status).toBe(200)
  })
})
