import { dayMs } from '../../../src/domain/time/instants.ts'
import { seedToken, seedTokens } from '../seeding/members.ts'
import { buildPathId, type SampleOf } from './sample.ts'

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

  revokeAccessToken: {
    make: async ({ people, b }, caller) => {
      const owner = caller.who === 'root' || caller.who === 'nobody' ? people.OA : caller
      return { path: { id: (await seedToken(owner.account)).id }, references: [buildPathId('id', b.boundToken)] }
    },
  },
}
