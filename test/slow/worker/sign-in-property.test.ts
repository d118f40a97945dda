import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { afterEach, expect, it, vi } from 'vitest'
import { deriveSignInCode } from '../../../src/domain/accounts/sign-in.ts'
import { get, remove } from '../../support/api.ts'
import { seedMember } from '../../support/seeding/members.ts'
import { givenOrganization } from '../../support/seeding/organizations.ts'
import { db } from '../../support/seeding/rows.ts'
import { createSession, requestCode, seedMemberWithEmail } from '../../support/sign-in.ts'

const minute = 60_000
const key = 'link-signing-key-of-the-tests'

afterEach(() => vi.restoreAllMocks())

/** A code as it should be. */
interface ModelCode {
  id: string
  code: string
  person: number
  requestedAt: number
  tries: number
  isUsed: boolean
}

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('request' as const), person: fc.nat(1) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('try' as const),
      at: fc.nat(),
      /** The code of which request is sent: its own, that of the next one, or none of them. */
      sent: fc.constantFrom('own' as const, 'other' as const, 'wrong' as const),
      times: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), minutes: fc.constantFrom(1, 9, 30) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), person: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('add' as const), person: fc.nat(1) }) },
)

const readCodeOf = async (id: string): Promise<string | null> => {
  const row = await db.first(sql<{ salt: string }>`select salt from sign_in_codes where id = ${id}`)
  return row ? deriveSignInCode(key, { id, salt: row.salt }) : null
}

it('a code signs in exactly once, in ten minutes, with at most five tries, while its owner is a member', async () => {
  const { id: organization } = await givenOrganization()
  let now = Date.now()
  vi.spyOn(Date, 'now').mockImplementation(() => now)
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 15 }), async (steps) => {
      const people = [await seedMemberWithEmail(organization), await seedMemberWithEmail(organization)]
      const memberships: (string | null)[] = people.map(({ member }) => member)
      const codes: ModelCode[] = []
      const sessions: { token: string; person: number }[] = []
      const ended = new Set<string>()
      for (const action of steps) {
        now += 1
        if (action.kind === 'wait') now += action.minutes * minute
        if (action.kind === 'request') {
          const { person } = action
          const recent = codes.filter((one) => one.person === person && one.requestedAt > now - 60 * minute)
          const { body } = await requestCode(people[person]?.email ?? '')
          const code = await readCodeOf(body.request_id)
          expect(code === null).toBe(recent.length >= 5)
          // A code that was requested without a membership never signs in, also after one was added.
          const isUsed = memberships[person] === null
          if (code !== null) codes.push({ id: body.request_id, code, person, requestedAt: now, tries: 0, isUsed })
        }
        if (action.kind === 'try' && codes.length > 0) {
          const index = action.at % codes.length
          const target = codes[index] as ModelCode
          const other = codes[(index + 1) % codes.length] as ModelCode
          const code = { own: target.code, other: other.code, wrong: '00000000' }[action.sent]
          const replies = await Promise.all(
            Array.from({ length: action.times }, () => createSession({ request_id: target.id, code })),
          )
          const isOpen = !target.isUsed && target.tries < 5 && now < target.requestedAt + 10 * minute
          const isRight = code === target.code && memberships[target.person] !== null
          const signedIn = replies.filter(({ status }) => status === 201)
          expect([action, signedIn.length]).toEqual([action, isOpen && isRight ? 1 : 0])
          expect(replies.filter(({ status }) => status === 401)).toHaveLength(action.times - signedIn.length)
          if (isOpen) target.tries += isRight ? 1 : action.times
          if (signedIn.length > 0) target.isUsed = true
          for (const { body } of signedIn) sessions.push({ token: body.token, person: target.person })
        }
        if (action.kind === 'remove' && memberships[action.person]) {
          const path = `/v1/organizations/${organization}/members/${memberships[action.person]}`
          expect((await remove(path)).status).toBe(204)
          memberships[action.person] = null
          for (const { token, person } of sessions) if (person === action.person) ended.add(token)
        }
        if (action.kind === 'add' && memberships[action.person] === null) {
          const account = people[action.person]?.account ?? ''
          memberships[action.person] = await seedMember(account, { organization, role: 'viewer' })
        }
      }
      for (const { token } of sessions)
        expect((await get('/v1/auth/user-info', token)).status).toBe(ended.has(token) ? 401 : 200)
    }),
    { numRuns: 25 },
  )
})
