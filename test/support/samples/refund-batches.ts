import { seedRefundBatches } from '../seeding/sales/refund-batches.ts'
import type { World } from '../world.ts'
import { getFirstPlace, getForeignPlace, getSiblingPlace, buildPathId, type Sample, type SampleOf } from './sample.ts'

const seedDraft = async (place: { organization: string; edition: string }): Promise<string> =>
  (await seedRefundBatches(place, 1))[0] ?? ''

/** Makes a draft for each place. */
async function draft(world: World): Promise<Sample> {
  const [own, foreign, sibling] = [getFirstPlace(world), getForeignPlace(world), getSiblingPlace(world)]
  return {
    path: { id: await seedDraft(own) },
    references: [buildPathId('id', await seedDraft(foreign), await seedDraft(sibling))],
  }
}

const ofEdition = (world: World): Pick<Sample, 'path' | 'references'> => {
  const [own, foreign, sibling] = [getFirstPlace(world), getForeignPlace(world), getSiblingPlace(world)]
  return { path: { id: own.edition }, references: [buildPathId('id', foreign.edition, sibling.edition)] }
}

export const refundBatchSamples: Record<string, SampleOf> = {
  createRefundBatch: {
    make: (world) => ({
      ...ofEdition(world),
      body: {
        filter: { uses: 'unused', created_after: '2020-01-01T00:00:00Z' },
        amount: 'percent',
        percent: 50,
        reason: 'event_changed',
        message: 'The second day is off',
        include_fees: true,
        cancel_purchases: false,
        notify_customers: true,
      },
    }),
  },

  listRefundBatches: {
    make: ofEdition,
    fill: async (world, count) => void (await seedRefundBatches(getFirstPlace(world), count)),
  },

  getRefundBatch: { make: draft },
  startRefundBatch: { make: draft },
  cancelRefundBatch: { make: draft },
}
