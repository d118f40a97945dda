import { env } from 'cloudflare:workers'
import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { dayMs } from '../../src/domain/time/instants.ts'
import { get, post, remove } from '../support/api.ts'
import { readCost } from '../support/cost.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedAccount, seedMember, seedToken } from '../support/seeding/members.ts'
import { buildWorld, seedPerson, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
})

const mint = (body: object, token?: string) => post('/v1/auth/tokens', { name: 'minted', ...body }, token)

const readStatus = async (token: string) => (await get('/v1/auth/user-info', token)).status

const revoke = (id: string, token?: string) => remove(`/v1/auth/tokens/${id}`, token)

const removeMember = (member: string, organization = world.a.id) =>
  remove(`/v1/organizations/${organization}/members/${member}`)

describe('a minted token', () => {
  it('ends when the token that minted it ends, unless an earlier end was asked for', async () => {
    const end = Date.now() + 3 * dayMs
    const minter = await seedToken(world.people.OA.account, { expires_at: end })
    const usual = await mint({}, minter.token)
    expect([usual.status, usual.body.expires_at]).toEqual([201, new Date(end).toISOString()])
    expect((await mint({ expires_at: new Date(end).toISOString() }, minter.token)).status).toBe(201)
    expect((await mint({ expires_at: new Date(end - dayMs).toISOString() }, minter.token)).status).toBe(201)
    for (const expires_at of [new Date(end + 1).toISOString(), '2090-01-01T00:00:00Z', null]) {
      const reply = await mint({ expires_at }, minter.token)
      expect(describeRefusal(reply)).toBe('400 validation_error: too_late #/expires_at')
    }
    const member = await seedPerson('OV', world.a)
    const forMember = await mint({ member_id: member.member }, minter.token)
    expect(forMember.body.expires_at).toBe(new Date(end).toISOString())
  })

  it('is revoked with the token that minted it, and so are the tokens that it minted', async () => {
    const { account, member } = await seedPerson('OA', world.a)
    const [first, other] = [await seedToken(account), await seedToken(account)]
    const second = await mint({}, first.token)
    const third = await mint({ member_id: member }, second.body.token)
    const sibling = await mint({}, other.token)
    const tokens = [second.body.token, third.body.token, sibling.body.token]
    expect(await Promise.all(tokens.map(readStatus))).toEqual([200, 200, 200])
    expect((await revoke(first.id, other.token)).status).toBe(204)
    expect(await Promise.all(tokens.map(readStatus))).toEqual([401, 401, 200])
    const listReply = await get('/v1/auth/tokens', other.token)
    const listedIds = listReply.body.results.map((item: { id: string }) => item.id)
    for (const dead of [first.id, second.body.id, third.body.id]) expect(listedIds).not.toContain(dead)
    expect(listedIds).toContain(sibling.body.id)
  })

  it('ends with its expired minter, although its own row has no end', async () => {
    const minter = await seedToken(world.people.OV.account, { expires_at: Date.now() + dayMs })
    const minted = await mint({}, minter.token)
    await env.DB.prepare('update access_tokens set expires_at = ? where id = ?')
      .bind(Date.now() - 1, minter.id)
      .run()
    expect(await readStatus(minted.body.token)).toBe(401)
  })

  it('ends for good when the admin who minted it for another member is removed', async () => {
    const account = await seedAccount()
    const admin = await seedMember(account, { organization: world.a.id, role: 'admin' })
    await seedMember(account, { organization: world.b.id, role: 'admin' })
    const { token } = await seedToken(account)
    const here = await seedPerson('OM', world.a)
    const there = await seedPerson('OM', world.b)
    const inA = await mint({ member_id: here.member }, token)
    const fromA = await mint({}, inA.body.token)
    const inB = await mint({ member_id: there.member }, token)
    expect((await removeMember(admin)).status).toBe(204)
    const tokens = [inA.body.token, fromA.body.token, inB.body.token, token]
    expect(await Promise.all(tokens.map(readStatus))).toEqual([401, 401, 200, 200])
    await seedMember(account, { organization: world.a.id, role: 'admin' })
    expect(await Promise.all(tokens.map(readStatus))).toEqual([401, 401, 200, 200])
  })

  it('stays valid whatever other tokens end when the superuser made it', async () => {
    const member = await seedPerson('OV', world.a)
    const mintedToken = await mint({ member_id: member.member, expires_at: null })
    expect([mintedToken.status, mintedToken.body.expires_at]).toEqual([201, null])
    expect(await readStatus(mintedToken.body.token)).toBe(200)
  })

  it('has at most eight tokens above it, because each use looks all of them up', async () => {
    let { token } = await seedToken(world.people.OV.account)
    for (let generation = 1; generation <= 8; generation++) {
      const reply = await mint({}, token)
      expect([generation, reply.status]).toEqual([generation, 201])
      token = reply.body.token
    }
    const refusal = await mint({}, token)
    expect([refusal.status, refusal.body.errors[0].code]).toEqual([400, 'too_many_generations'])
    const plain = readCost(await get('/v1/auth/user-info', world.people.OV.token))
    const deep = readCost(await get('/v1/auth/user-info', token))
    expect(deep.queries).toBe(plain.queries)
    // The query reads the token and the eight above it, each twice.
    expect(deep.rows_read - plain.rows_read).toBe(18)
  })

  it('is valid exactly while every token and member above it is, in any order of events', async () => {
    type Known = { id: string; token: string; parent: number; admin: number | null; isRevoked: boolean }
    const step = fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({ kind: fc.constant('mint' as const), at: fc.nat(), isForMember: fc.boolean() }),
      },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('revoke' as const), at: fc.nat() }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), at: fc.nat() }) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
        const people = [await seedPerson('OA', world.b), await seedPerson('OA', world.b)]
        // The member keeps a role elsewhere, so that only a dead token is refused.
        for (const { account } of people) await seedMember(account, { organization: world.a.id, role: 'viewer' })
        const target = await seedPerson('OV', world.b)
        const removed = new Set<number>()
        const tokens: Known[] = people.map(({ tokenId, token }) => ({
          id: tokenId,
          token,
          parent: -1,
          admin: null,
          isRevoked: false,
        }))
        const owner = (index: number): number => {
          const parent = tokens[index]?.parent ?? -1
          return parent < 0 ? index : owner(parent)
        }
        const isBound = (index: number): boolean =>
          index >= 0 && (tokens[index]?.admin !== null || isBound(tokens[index]?.parent ?? -1))
        const stands = (index: number): boolean => {
          const one = tokens[index]
          if (!one) return true
          if (one.isRevoked || (one.admin !== null && removed.has(one.admin))) return false
          return stands(one.parent)
        }
        for (const nextStep of steps) {
          const index = nextStep.at % tokens.length
          const from = tokens[index]
          if (!from) continue
          if (nextStep.kind === 'revoke') {
            from.isRevoked = true
            expect((await revokeDirectly(from.id)).success).toBe(true)
          } else if (nextStep.kind === 'remove') {
            const who = nextStep.at % 2
            if (!removed.has(who)) await removeMember(people[who]?.member ?? '', world.b.id)
            removed.add(who)
          } else {
            const isForMember = nextStep.isForMember && !isBound(index) && !removed.has(owner(index))
            const reply = await mint(isForMember ? { member_id: target.member } : {}, from.token)
            expect(reply.status).toBe(stands(index) ? 201 : 401)
            if (reply.status === 201)
              tokens.push({
                id: reply.body.id,
                token: reply.body.token,
                parent: index,
                admin: isForMember ? owner(index) : null,
                isRevoked: false,
              })
          }
        }
        const expected = tokens.map((_, index) => (stands(index) ? 200 : 401))
        expect(await Promise.all(tokens.map(({ token }) => readStatus(token)))).toEqual(expected)
      }),
      { numRuns: 12 },
    )
  })
})

const revokeDirectly = (id: string) =>
  env.DB.prepare('update access_tokens set revoked_at = 1 where id = ?').bind(id).run()

describe('a token without an end', () => {
  it.each(['OM', 'OV', 'EA', 'EM', 'EV'] as const)(
    'cannot be made by %s, and neither can one that ends too late',
    async (role) => {
      const { token } = world.people[role]
      const reply = await mint({ expires_at: null }, token)
      expect([reply.status, reply.body.required_roles, reply.body.errors[0].pointer]).toEqual([
        403,
        ['OA'],
        '#/expires_at',
      ])
      const lateReply = await mint({ expires_at: '2090-01-01T00:00:00Z' }, token)
      expect([lateReply.status, lateReply.body.errors[0].code]).toEqual([400, 'too_late'])
    },
  )

  it('can be made only by an admin of each organisation that it reaches', async () => {
    const account = await seedAccount()
    await seedMember(account, { organization: world.a.id, role: 'admin' })
    await seedMember(account, { organization: world.b.id, role: 'manager' })
    const both = await seedToken(account)
    expect((await mint({ expires_at: null }, both.token)).status).toBe(403)
    const bound = await seedToken(account, { organization: world.a.id })
    expect((await mint({ expires_at: null }, bound.token)).body).toMatchObject({ expires_at: null })
    const elsewhere = await seedToken(account, { organization: world.b.id })
    expect((await mint({ expires_at: null }, elsewhere.token)).status).toBe(403)
  })
})
