import { seedSuppressions } from '../seeding/messaging/suppressions.ts'
import { next } from '../seeding/rows.ts'
import type { World } from '../world.ts'
import { buildPathId, buildQueryId, type Sample, type SampleOf } from './sample.ts'

const makeSuppression = async ({ a, b }: World): Promise<Sample> => ({
  path: { id: (await seedSuppressions(a.id, 1))[0] ?? '' },
  references: [buildPathId('id', (await seedSuppressions(b.id, 1))[0] ?? '')],
})

export const suppressionSamples: Record<string, SampleOf> = {
  listSuppressions: {
    make: async ({ a, b }) => {
      await seedSuppressions(b.id, 1)
      return { query: { organization_id: a.id }, references: [buildQueryId('organization_id', b.id)] }
    },
    fill: async ({ a }, count) => void (await seedSuppressions(a.id, count)),
  },

  addSuppression: {
    make: ({ a }) => ({
      body: {
        organization_id: a.id,
        channel: 'email',
        address: `left-${next()}@example.test`,
        reason: 'unsubscribed',
        detail: 'By telephone',
        created: '2025-03-01T10:00:00Z',
      },
    }),
  },

  importSuppressions: {
    make: ({ a }) => ({
      body: {
        organization_id: a.id,
        channel: 'email',
        csv: `email,reason,date\nleft-${next()}@example.test,unsubscribed,2025-03-01\n`,
      },
    }),
  },

  exportSuppressions: {
    make: ({ a, b }) => ({
      query: { organization_id: a.id },
      references: [{ ...buildQueryId('organization_id', b.id), refuses: true }],
    }),
  },

  getSuppression: { make: makeSuppression },

  liftSuppression: {
    make: async (world) => ({ ...(await makeSuppression(world)), body: { lift_reason: 'Asked for it' } }),
  },
}
