import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { call, get, patch, post, remove } from '../support/api.ts'
import { listIds } from '../support/lists.ts'
import { givenAdmin, givenMember, seedMember, seedToken } from '../support/seeding/members.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { db, write } from '../support/seeding/rows.ts'
import { buildWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
})

const buildPath = (organization: string, token = '') =>
  `/v1/organizations/${organization}/tokens${token === '' ? '' : `/${token}`}`

describe('listOrganizationTokens', () => {
  it('shows an admin each token with its holder, scopes and last use, and never a secret', async () => {
    const admin = await givenAdmin()
    const member = await givenMember(admin, 'viewer')
    await patch(`/v1/organizations/${admin.id}/members/${member.id}`, { first_name: 'Åse', last_name: 'Lund' })
    const created = await post(
      '/v1/auth/tokens',
      { name: 'Box office', member_id: member.id, scopes: ['read'] },
      admin.token,
    )
    await get('/v1/auth/user-info', created.body.token)
    const reply = await get(`${buildPath(admin.id)}?ordering=-created`, admin.token)
    expect([reply.status, reply.body.count]).toEqual([200, 3])
    const token = reply.body.results.find(({ id }: { id: string }) => id === created.body.id)
    expect(token).toMatchObject({
      name: 'Box office',
      kind: 'service',
      organization_id: admin.id,
      scopes: ['read'],
      holder: { member_id: member.id, email: member.email, full_name: 'Åse Lund' },
      last_used_at: expect.any(String),
    })
    const hashes = await db.all(sql<{ token_hash: string }>`select token_hash from access_tokens
      where organization_id = ${admin.id}`)
    for (const secret of [created.body.token, ...hashes.map(({ token_hash }) => token_hash), member.account_id])
      expect(reply.text).not.toContain(secret)
  })

  it('leaves out what is no longer valid', async () => {
    const admin = await givenAdmin()
    const member = await givenMember(admin, 'admin')
    const { body: parent } = await post('/v1/auth/tokens', { name: 'parent', member_id: member.id }, admin.token)
    const { body: child } = await post('/v1/auth/tokens', { name: 'child' }, parent.token)
    const expired = await seedToken(member.account_id, { organization: admin.id, expires_at: 1 })
    const list = async () => listIds(await get(`${buildPath(admin.id)}?page_size=500`, admin.token))
    expect(await list()).toEqual(expect.arrayContaining([parent.id, child.id]))
    expect(await list()).not.toContain(expired.id)
    await remove(buildPath(admin.id, parent.id), admin.token)
    for (const { id } of [parent, child]) expect(await list()).not.toContain(id)
  })

  it('tells an organisation nothing about the tokens of its members elsewhere', async () => {
    const [mine, theirs] = [await givenAdmin(), await givenOrganization()]
    const member = await givenMember(mine, 'viewer')
    await seedMember(member.account_id, { organization: theirs.id, role: 'admin' })
    const personal = await seedToken(member.account_id, { name: 'Everywhere' })
    const elsewhere = await seedToken(member.account_id, { organization: theirs.id, name: 'Elsewhere' })
    const reply = await get(`${buildPath(mine.id)}?page_size=500`, mine.token)
    for (const { id } of [personal, elsewhere]) {
      expect(listIds(reply)).not.toContain(id)
      expect((await remove(buildPath(mine.id, id), mine.token)).status).toBe(404)
    }
    expect((await get('/v1/auth/user-info', personal.token)).status).toBe(200)
  })

  it('is for admins of the organisation alone', async () => {
    for (const who of ['OM', 'OV', 'EA', 'EM', 'EV'] as const)
      expect((await get(buildPath(world.a.id), world.people[who].token)).status).toBe(403)
    expect((await get(buildPath(world.a.id), world.stranger.token)).status).toBe(404)
    expect((await get(buildPath(world.a.id), world.people.OA.token)).status).toBe(200)
  })
})

describe('revokeOrganizationToken', () => {
  it('ends the token and those that it created at once, and records it', async () => {
    const admin = await givenAdmin()
    const member = await givenMember(admin, 'admin')
    const { body: parent } = await post('/v1/auth/tokens', { name: 'parent', member_id: member.id }, admin.token)
    const { body: child } = await post('/v1/auth/tokens', { name: 'child' }, parent.token)
    const path = buildPath(admin.id, parent.id)
    expect((await remove(path, admin.token)).status).toBe(204)
    for (const { token } of [parent, child]) expect((await get('/v1/auth/user-info', token)).status).toBe(401)
    expect((await get('/v1/auth/user-info', member.token)).status).toBe(200)
    expect((await remove(path, admin.token)).status).toBe(204)
    const entries = await get(`/v1/audit-log?organization_id=${admin.id}&action=revokeOrganizationToken`)
    expect(entries.body.results[0]).toMatchObject({ resource_type: 'access_token', resource_id: parent.id })
  })

  it('revokes nothing of another organisation, and nothing without the role', async () => {
    const token = await seedToken(world.people.OA.account, { organization: world.a.id })
    const isValid = async () => (await get('/v1/auth/user-info', token.token)).status === 200
    const path = buildPath(world.a.id, token.id)
    for (const who of ['OM', 'OV'] as const) expect((await remove(path, world.people[who].token)).status).toBe(403)
    expect((await remove(path, world.stranger.token)).status).toBe(404)
    expect((await remove(buildPath(world.b.id, token.id), world.people.OA.token)).status).toBe(404)
    expect((await remove(buildPath(world.a.id, world.b.boundToken), world.people.OA.token)).status).toBe(404)
    expect(await isValid()).toBe(true)
    await write(sql`update access_tokens set scopes = 'read' where id = ${token.id}`)
    expect((await call(path, { method: 'DELETE', token: token.token })).status).toBe(403)
    expect(await isValid()).toBe(true)
  })
})
