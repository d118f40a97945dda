import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { dayMs } from '../../src/domain/time/instants.ts'
import { callWith, get, post, publicUrl, remove } from '../support/api.ts'
import { later } from '../support/later.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedMember, seedToken } from '../support/seeding/members.ts'
import { db } from '../support/seeding/rows.ts'
import { createSession, givenSession, receiveCode, seedMemberWithEmail } from '../support/sign-in.ts'
import { buildWorld, seedPerson, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
})

const minute = 60_000
const hour = 60 * minute

const readStatus = async (token: string) => (await get('/v1/auth/user-info', token)).status

const revoke = (id: string, token: string) => remove(`/v1/auth/tokens/${id}`, token)

const listEntries = async (organization: string, resource: string) => {
  const { body } = await get(`/v1/audit-log?organization_id=${organization}&resource_id=${resource}`)
  return body.results as { action: string; actor: { id: string }; token_id: string | null; changes: unknown[] }[]
}

describe('createSession', () => {
  it('answers with a token that reads and writes for 12 hours, and stores only its hash', async () => {
    const { email, account } = await seedMemberWithEmail(world.a.id, 'manager')
    const reply = await createSession({ ...(await receiveCode(email)), name: 'Laptop' })
    expect(reply.body).toEqual({
      id: expect.stringMatching(/^tok_/),
      token: expect.stringMatching(/^ecm_/),
      email,
      name: 'Laptop',
      kind: 'session',
      organization_id: null,
      prefix: reply.body.token.slice(0, 8),
      scopes: ['read', 'write'],
      created: expect.any(String),
      signed_in_at: reply.body.created,
      expires_at: new Date(Date.parse(reply.body.created) + 12 * hour).toISOString(),
      last_used_at: null,
    })
    const info = await get('/v1/auth/user-info', reply.body.token)
    expect(info.body).toMatchObject({
      id: account,
      email,
      token: { id: reply.body.id, kind: 'session', signed_in_at: reply.body.signed_in_at },
      organizations: [{ id: world.a.id, role: 'manager' }],
    })
    const rows = await db.all(sql`select * from access_tokens where account_id = ${account}`)
    expect(JSON.stringify(rows)).not.toContain(reply.body.token)
  })

  it('covers all memberships of the account, as they are at each request', async () => {
    const { email, account, member } = await seedMemberWithEmail(world.a.id)
    await seedMember(account, { organization: world.b.id, role: 'admin' })
    const { token } = await givenSession(email)
    const readOrganizations = async () =>
      (await get('/v1/auth/user-info', token)).body.organizations.map(({ id }: { id: string }) => id).toSorted()
    expect(await readOrganizations()).toEqual([world.a.id, world.b.id].toSorted())
    expect((await remove(`/v1/organizations/${world.a.id}/members/${member}`)).status).toBe(204)
    expect(await readOrganizations()).toEqual([world.b.id])
  })

  it('is noted in the audit log of every organisation of the member, and so is the sign-out', async () => {
    const { email, account } = await seedMemberWithEmail(world.a.id)
    await seedMember(account, { organization: world.b.id, role: 'viewer' })
    const session = await givenSession(email)
    expect((await revoke(session.id, session.token)).status).toBe(204)
    for (const organization of [world.a.id, world.b.id])
      expect(await listEntries(organization, session.id)).toMatchObject([
        { action: 'revokeAccessToken', actor: { id: account }, token_id: session.id },
        {
          action: 'createSession',
          actor: { id: account },
          token_id: null,
          changes: [{ field: 'method', before: null, after: 'code' }],
        },
      ])
  })

  it('names the superuser as the one who ended it, if so', async () => {
    const { email, account } = await seedMemberWithEmail(world.a.id)
    const session = await givenSession(email)
    expect((await remove(`/v1/auth/tokens/${session.id}`)).status).toBe(204)
    expect(await readStatus(session.token)).toBe(401)
    expect((await listEntries(world.a.id, session.id)).slice(1)).toMatchObject([
      { action: 'revokeAccessToken', actor: { id: 'root' }, token_id: null },
      { action: 'createSession', actor: { id: account } },
    ])
  })

  it('is refused without any way to sign in', async () => {
    expect(describeRefusal(await createSession({}))).toBe('403 sign_in_method_unavailable')
  })
})

describe('a session', () => {
  it('ends after 12 hours, however much it is used, and cannot prolong itself', async () => {
    const { email } = await seedMemberWithEmail(world.a.id)
    const { token } = await givenSession(email)
    expect(await later(12 * hour - minute, () => readStatus(token))).toBe(200)
    expect(await later(12 * hour + minute, () => readStatus(token))).toBe(401)
    for (const body of [{ identity_token: token }, { link: token }, {}])
      expect([401, 403]).toContain((await createSession(body, { authorization: `Bearer ${token}` })).status)
  })

  it('is listed among the tokens of its owner, is found by nobody else, and is revoked like them', async () => {
    const { email } = await seedMemberWithEmail(world.a.id)
    const [one, other] = [await givenSession(email), await givenSession(email)]
    const list = async () =>
      (await get('/v1/auth/tokens', other.token)).body.results.map(({ id, kind }: { id: string; kind: string }) => [
        id,
        kind,
      ])
    expect((await list()).toSorted()).toEqual(
      [
        [one.id, 'session'],
        [other.id, 'session'],
      ].toSorted(),
    )
    const admin = await seedPerson('OA', world.a)
    expect((await revoke(one.id, admin.token)).status).toBe(404)
    expect((await revoke(one.id, world.people.OV.token)).status).toBe(404)
    expect((await revoke(one.id, other.token)).status).toBe(204)
    expect(await readStatus(one.token)).toBe(401)
    expect(await list()).toEqual([[other.id, 'session']])
  })

  it('ends for good when the last membership of its account is removed', async () => {
    const { email, account, member } = await seedMemberWithEmail(world.a.id)
    const inB = await seedMember(account, { organization: world.b.id, role: 'viewer' })
    const { token } = await givenSession(email)
    expect((await remove(`/v1/organizations/${world.a.id}/members/${member}`)).status).toBe(204)
    expect(await readStatus(token)).toBe(200)
    expect((await get(`/v1/organizations/${world.a.id}`, token)).status).toBe(404)
    expect((await remove(`/v1/organizations/${world.b.id}/members/${inB}`)).status).toBe(204)
    expect(await readStatus(token)).toBe(401)
    await seedMember(account, { organization: world.a.id, role: 'viewer' })
    expect(await readStatus(token)).toBe(401)
  })

  it('is recorded when it is used after its end, like a token', async () => {
    const { email } = await seedMemberWithEmail(world.a.id)
    const session = await givenSession(email)
    await revoke(session.id, session.token)
    expect(await readStatus(session.token)).toBe(401)
    const [entry] = await listEntries(world.a.id, session.id)
    expect(entry).toMatchObject({ action: 'rejectAccessToken', token_id: session.id })
  })
})

describe('a token that a session creates', () => {
  const mint = (token: string, body: object = {}) => post('/v1/auth/tokens', { name: 'minted', ...body }, token)

  it('outlives the session, and has the lifetime of its member’s role', async () => {
    const { email } = await seedMemberWithEmail(world.a.id, 'admin')
    const session = await givenSession(email)
    const reply = await mint(session.token)
    expect(reply.status).toBe(201)
    expect(reply.body).toMatchObject({ kind: 'personal', signed_in_at: null })
    const end = Date.parse(reply.body.expires_at)
    expect(end).toBeGreaterThan(Date.now() + 89 * dayMs)
    expect(end).toBeLessThanOrEqual(Date.now() + 90 * dayMs)
    const endless = await mint(session.token, { expires_at: null })
    expect(describeRefusal(endless)).toBe('400 validation_error: too_late #/expires_at')
    expect((await revoke(session.id, session.token)).status).toBe(204)
    expect(await readStatus(session.token)).toBe(401)
    expect(await readStatus(reply.body.token)).toBe(200)
    expect(await later(13 * hour, () => readStatus(reply.body.token))).toBe(200)
  })

  it('ends with the membership of the admin who made it for another member', async () => {
    const { email, member } = await seedMemberWithEmail(world.a.id, 'admin')
    const { token } = await givenSession(email)
    const colleague = await seedPerson('OV', world.a)
    const reply = await mint(token, { member_id: colleague.member })
    expect(await readStatus(reply.body.token)).toBe(200)
    expect((await remove(`/v1/organizations/${world.a.id}/members/${member}`)).status).toBe(204)
    expect(await readStatus(reply.body.token)).toBe(401)
  })

  it('needs a sign-in at most ten minutes old', async () => {
    const { email } = await seedMemberWithEmail(world.a.id, 'admin')
    const { token } = await givenSession(email)
    const colleague = await seedPerson('OV', world.a)
    expect((await later(9 * minute, () => mint(token))).status).toBe(201)
    for (const body of [{}, { member_id: colleague.member }]) {
      const reply = await later(10 * minute, () => mint(token, body))
      expect(describeRefusal(reply)).toBe('403 recent_sign_in_required')
    }
    expect(await later(11 * minute, () => readStatus(token))).toBe(200)
  })

  it('can itself create tokens later, which end with it', async () => {
    const { email } = await seedMemberWithEmail(world.a.id)
    const { token } = await givenSession(email)
    const first = await mint(token)
    const second = await later(hour, () => mint(first.body.token))
    expect(second.status).toBe(201)
    await revoke(first.body.id, token)
    expect(await readStatus(second.body.token)).toBe(401)
  })
})

describe('createSignInLink', () => {
  const make = (member_id: string, token?: string) => post('/v1/auth/sign-in-links', { member_id }, token)
  const readSecret = (url: string) => url.slice(`${publicUrl}/console#link=`.length)

  it('signs the member in once, and stores only a hash of its secret', async () => {
    const { email, account, member } = await seedMemberWithEmail(world.a.id)
    const reply = await make(member)
    expect(reply.status).toBe(201)
    expect(reply.body).toMatchObject({ member_id: member, organization_id: world.a.id, email })
    expect(reply.body.sign_in_url).toMatch(new RegExp(`^${publicUrl}/console#link=[\\w-]{43}$`))
    expect(Date.parse(reply.body.expires_at) - Date.parse(reply.body.created)).toBe(hour)
    const link = readSecret(reply.body.sign_in_url)
    const rows = await db.all(sql`select * from sign_in_links where member_id = ${member}`)
    expect(rows).toHaveLength(1)
    expect(JSON.stringify(rows)).not.toContain(link)
    const session = await createSession({ link })
    expect(session.body).toMatchObject({ kind: 'session', email })
    expect((await get('/v1/auth/user-info', session.body.token)).body.id).toBe(account)
    expect(describeRefusal(await createSession({ link }))).toBe('401 sign_in_failed')
  })

  it('signs in once when the link is opened many times at once', async () => {
    const { member } = await seedMemberWithEmail(world.a.id)
    const link = readSecret((await make(member)).body.sign_in_url)
    const replies = await Promise.all(Array.from({ length: 5 }, () => createSession({ link })))
    expect(replies.map(({ status }) => status).toSorted()).toEqual([201, 401, 401, 401, 401])
  })

  it('ends after an hour, and with the membership', async () => {
    const { member } = await seedMemberWithEmail(world.a.id)
    const late = readSecret((await make(member)).body.sign_in_url)
    expect((await later(hour, () => createSession({ link: late }))).status).toBe(401)
    const link = readSecret((await make(member)).body.sign_in_url)
    expect((await remove(`/v1/organizations/${world.a.id}/members/${member}`)).status).toBe(204)
    expect(describeRefusal(await createSession({ link }))).toBe('401 sign_in_failed')
  })

  it('is for the superuser alone, and needs a member', async () => {
    const { member } = await seedMemberWithEmail(world.a.id)
    expect(describeRefusal(await make(member, world.people.OA.token))).toBe('403 permission_denied')
    expect(describeRefusal(await make('mem_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8'))).toBe(
      '400 validation_error: does_not_exist #/member_id',
    )
  })

  it('is in the audit log of the organisation without its secret, and the sign-in too', async () => {
    const { account, member } = await seedMemberWithEmail(world.a.id)
    const reply = await make(member)
    const [entry] = await listEntries(world.a.id, reply.body.id)
    expect(entry).toMatchObject({ action: 'createSignInLink', actor: { id: 'root' } })
    const link = readSecret(reply.body.sign_in_url)
    expect(JSON.stringify(entry)).not.toContain(link)
    const session = await createSession({ link })
    const [signIn] = await listEntries(world.a.id, session.body.id)
    expect(signIn).toMatchObject({
      action: 'createSession',
      actor: { id: account },
      changes: [{ field: 'method', after: 'link' }],
    })
  })

  it('answers a repeated request with the same link, and one key never makes two', async () => {
    const { member } = await seedMemberWithEmail(world.a.id)
    const send = () =>
      callWith({}, '/v1/auth/sign-in-links', { body: { member_id: member }, headers: { 'idempotency-key': member } })
    const first = await send()
    const second = await send()
    expect(second.body).toEqual(first.body)
    expect(await db.all(sql`select 1 from sign_in_links where member_id = ${member}`)).toHaveLength(1)
  })
})

describe('a token without a session', () => {
  it('still ends with the token that created it', async () => {
    const { account } = world.people.OV
    const minter = await seedToken(account)
    const minted = await post('/v1/auth/tokens', { name: 'minted' }, minter.token)
    await revoke(minter.id, minter.token)
    expect(await readStatus(minted.body.token)).toBe(401)
  })
})
