import { signInLinks } from '../../../src/db/schema/accounts.ts'
import { insert } from '../../../src/db/write.ts'
import { sha256, toHex } from '../../../src/domain/text/encoding.ts'
import { dayMs } from '../../../src/domain/time/instants.ts'
import { seedToken, seedTokens } from '../seeding/members.ts'
import { freshId, next, write } from '../seeding/rows.ts'
import { buildPathId, type SampleOf } from './sample.ts'

/** Makes the secret of a link that signs the member in once. */
async function seedSignInLink(member: string): Promise<string> {
  const secret = freshId('request')
  const now = Date.now()
  const row = { id: freshId('sign_in_link'), member_id: member, expires_at: now + dayMs, created_at: now }
  await write(insert(signInLinks, { ...row, secret_hash: toHex(await sha256(secret)) }))
  return secret
}

export const authSamples: Record<string, SampleOf> = {
  getUserInfo: { make: () => ({}) },

  listAccessTokens: {
    make: () => ({}),
    fill: ({ people }, count) => seedTokens(people.OA.account, count),
  },

  createAccessToken: {
    make: ({ a }, caller) => ({
      body: {
        name: 'Box office',
        scopes: ['read'],
        expires_at: new Date(Date.now() + 90 * dayMs).toISOString(),
        ...(caller.who === 'OA' || caller.who === 'root' ? { member_id: a.member } : {}),
      },
    }),
  },

  listAuthMethods: { make: () => ({}) },

  requestSignInCode: { make: () => ({ body: { email: `signing-in-${next()}@example.test`, language: 'en' } }) },

  createSession: { make: async ({ people }) => ({ body: { link: await seedSignInLink(people.OA.member) } }) },

  createSignInLink: { make: ({ a }) => ({ body: { member_id: a.member } }) },

  revokeAccessToken: {
    make: async ({ people, b }, caller) => {
      const owner = caller.who === 'root' || caller.who === 'nobody' ? people.OA : caller
      return { path: { id: (await seedToken(owner.account)).id }, references: [buildPathId('id', b.boundToken)] }
    },
  },
}
