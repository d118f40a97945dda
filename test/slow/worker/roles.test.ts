import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import type { RoleCode } from '../../../src/domain/accounts/access.ts'
import { call } from '../../support/api.ts'
import { buildPath, guarded, make, reads, replaceId, send, sharedSample, writes } from '../../support/operations.ts'
import { describeRefusal } from '../../support/refusals.ts'
import { seedMember, seedToken } from '../../support/seeding/members.ts'
import { seedSegment } from '../../support/seeding/messaging/segments.ts'
import { db, write } from '../../support/seeding/rows.ts'
import { buildWorld, everyone, seedPerson, type Person, type Who, type World } from '../../support/world.ts'

let world: World
/** Headers without a valid token. */
const strangers: Record<string, Record<string, string>> = {}
let removed: Person
let readOnly: string
let writeOnly: string

beforeAll(async () => {
  world = await buildWorld()
  const { account } = world.people.OA
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
  const revoked = await seedToken(account, { revoked_at: Date.now() - 1000 })
  const expired = await seedToken(account, { expires_at: Date.now() - 1000 })
  const valid = world.people.OA.token
  const typo = valid.slice(0, 10) + (valid[10] === 'a' ? 'b' : 'a') + valid.slice(11)
  Object.assign(strangers, {
    'no token': {},
    'an empty token': { authorization: 'Bearer ' },
    'another scheme': { authorization: `Basic ${btoa(`x:${valid}`)}` },
    'a mistyped token': bearer(typo),
    'half a token': bearer(valid.slice(0, 20)),
    'something like a JWT': bearer('eyJhbGciOiJub25lIn0.e30.'),
    'a revoked token': bearer(revoked.token),
    'an expired token': bearer(expired.token),
  })
  readOnly = (await seedToken(account, { scopes: ['read'] })).token
  writeOnly = (await seedToken(account, { scopes: ['write'] })).token
  removed = await seedPerson('OA', world.a)
  const reply = await call(`/v1/organizations/${world.a.id}/members/${removed.member}`, { method: 'DELETE' })
  expect(reply.status).toBe(204)
})

const isAllowed = (roles: readonly RoleCode[], who: Who): boolean =>
  who === 'root' || (who !== 'nobody' && roles.includes(who))

describe.each(guarded)('$id', (operation) => {
  it('refuses every request without a valid token, and tells no ended token from one that never was', async () => {
    const sample = await sharedSample(operation, world, world.people.OA)
    const details: Record<string, string> = {}
    for (const [name, headers] of Object.entries(strangers)) {
      const reply = await send(operation, sample, { token: null, headers: { ...headers, 'x-request-id': 'fixed' } })
      expect([name, reply.status, reply.body.code]).toEqual([name, 401, 'not_authenticated'])
      expect(reply.headers.get('www-authenticate')).toMatch(/^Bearer realm=/)
      details[name] = reply.body.detail
    }
    const beginnings = Object.values(details).map(
      (detail) => /^(Send an|This is not an|This) access token/.exec(detail)?.[1],
    )
    expect(new Set(beginnings)).toEqual(new Set(['Send an', 'This is not an', 'This']))
    expect(details['a revoked token']).toBe(details['an expired token'])
  })

  it.each(everyone)('accepts or refuses %s as its roles say', async (who) => {
    const caller = world.people[who]
    const isOpen = isAllowed(operation.roles, who)
    const changes = isOpen && operation.scope === 'write'
    const sample = await (changes ? make : sharedSample)(operation, world, caller)
    const reply = await send(operation, sample, { token: caller.token })
    if (isOpen) {
      expect([who, reply.status, reply.status < 400 || reply.text]).toEqual([who, operation.status, true])
      return
    }
    if (who.startsWith('E') && reply.status === 404) return
    expect([who, reply.status]).toEqual([who, 403])
    expect(reply.body).toMatchObject({ code: 'permission_denied', required_roles: operation.roles })
  })

  it('treats a removed member as a caller without roles', async () => {
    const reply = await send(operation, await sharedSample(operation, world, removed), { token: removed.token })
    expect(describeRefusal(reply)).toBe('403 permission_denied')
  })
})

describe.each(writes)('$id', (operation) => {
  it('refuses a token that may only read', async () => {
    const sample = await sharedSample(operation, world, world.people.OA)
    const reply = await send(operation, sample, { token: readOnly })
    expect(describeRefusal(reply)).toBe('403 insufficient_scope')
    expect(reply.body.required_scope).toEqual('write')
  })
})

describe('a role in another place', () => {
  /** Operations that name a place where the caller's role is not enough. */
  const listClosedTo = (role: RoleCode) =>
    guarded.filter(
      ({ roles, path, body, method }) => !roles.includes(role) && (path.includes('{') || (body && method === 'post')),
    )

  it('gives no right in an organisation where the caller is a viewer', async () => {
    const person = await seedPerson('OV', world.a)
    await seedMember(person.account, { organization: world.b.id, role: 'admin' })
    for (const operation of listClosedTo('OV')) {
      const sample = await sharedSample(operation, world, world.people.OA)
      const reply = await send(operation, sample, { token: person.token })
      expect([operation.id, reply.status, reply.body?.code]).toEqual([operation.id, 403, 'permission_denied'])
    }
  })

  it('gives no right in an edition where the caller is a viewer', async () => {
    const person = await seedPerson('EV', world.a)
    await seedMember(person.account, { organization: world.a.id, edition: world.a.editions[1].id, role: 'admin' })
    await seedMember(person.account, { organization: world.b.id, role: 'admin' })
    for (const operation of listClosedTo('EV')) {
      const sample = await sharedSample(operation, world, world.people.OA)
      const reply = await send(operation, sample, { token: person.token })
      expect([operation.id, [403, 404].includes(reply.status) || reply.text]).toEqual([operation.id, true])
    }
  })
})

describe('a segment of the whole organisation', () => {
  let segmentId: string
  beforeAll(async () => {
    segmentId = (await seedSegment({ organization: world.a.id, edition: null })).id
  })
  const below = (path: string) =>
    guarded
      .filter((operation) => operation.path.startsWith(path))
      .map((operation) => [operation.id, operation] as const)

  it.each(below('/v1/segments/{id}'))('is hidden from roles of editions: %s', async (_, operation) => {
    for (const who of ['EA', 'EM', 'EV'] as const) {
      const { token } = world.people[who]
      const sample = replaceId(await sharedSample(operation, world, world.people.OA), 'path', 'id', segmentId)
      const reply = await send(operation, sample, { token })
      expect([who, reply.status]).toEqual([who, isAllowed(operation.roles, who) ? 404 : 403])
    }
  })

  it.each(below('/v1/campaigns/{id}'))(
    'opens campaigns to it only to roles of the organisation: %s',
    async (_, operation) => {
      const isOpen = operation.roles.includes('EV')
      for (const who of everyone) {
        const caller = world.people[who]
        const sample = await make(operation, world, caller)
        const { id = '' } = sample.path ?? {}
        const before = await db.first(sql<{ segment_id: string }>`select segment_id from campaigns where id = ${id}`)
        await write(sql`update campaigns set segment_id = ${segmentId} where id = ${id}`)
        const reply = await send(operation, sample, { token: caller.token })
        await write(sql`update campaigns set segment_id = ${before?.segment_id} where id = ${id}`)
        if (isAllowed(operation.roles, who) && (isOpen || !who.startsWith('E')))
          expect([who, reply.status, reply.status < 400 || reply.text]).toEqual([who, operation.status, true])
        else expect([who, reply.status, reply.body?.code]).toEqual([who, 403, 'permission_denied'])
        if (!isOpen && isAllowed(operation.roles, who) && who.startsWith('E'))
          expect([who, reply.body?.required_roles]).toEqual([who, ['OA', 'OM']])
      }
    },
  )
})

it('a write-only token cannot read', async () => {
  for (const operation of reads) {
    const sample = await sharedSample(operation, world, world.people.OA)
    const reply = await send(operation, sample, { token: writeOnly })
    expect([operation.id, reply.status, reply.body?.code]).toEqual([operation.id, 403, 'insufficient_scope'])
  }
})

it('the role is checked before the body is read', async () => {
  for (const operation of guarded.filter(({ body }) => body !== null)) {
    const sample = await sharedSample(operation, world, world.people.OA)
    const reply = await call(buildPath(operation, sample), {
      method: operation.method.toUpperCase(),
      token: world.people.nobody.token,
      raw: '{',
      headers: { 'content-type': 'application/json' },
    })
    expect([operation.id, reply.status]).toEqual([operation.id, 403])
  }
})
