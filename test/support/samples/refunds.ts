import { type SeededRefund, seedRefund, seedRefunds } from '../seeding/sales/refunds.ts'
import { seedTrade } from '../seeding/sales/trades.ts'
import type { Person, World } from '../world.ts'
import {
  getFirstPlace,
  getForeignPlace,
  getSiblingPlace,
  makeOnce,
  buildPathId,
  buildQueryId,
  type Sample,
  type SampleOf,
} from './sample.ts'

type Columns = Parameters<typeof seedRefund>[1]

/** Makes a request of another organisation, and one of another edition. */
const refundsOfOthers = makeOnce(async (world): Promise<[SeededRefund, SeededRefund]> => {
  return [await seedRefund(getForeignPlace(world)), await seedRefund(getSiblingPlace(world))]
})

/** Makes a request for each place, in one state; `body` is sent with it. */
const ofRequest =
  (columns: (caller: Person) => Columns, body?: Record<string, unknown>) =>
  async (world: World, caller: Person): Promise<Sample> => {
    const mine = await seedRefund(getFirstPlace(world), columns(caller))
    const [theirs, beside] = await refundsOfOthers(world)
    return {
      path: { id: mine.refund },
      ...(body ? { body } : {}),
      references: [buildPathId('id', theirs.refund, beside.refund)],
    }
  }

const input = {
  amount: 50,
  currency: 'dkk',
  reason: 'customer_request',
  comment: 'Is ill',
  include_fees: false,
  cancel_purchase: true,
  notify_customer: true,
  metadata: { ticket: 7 },
}

export const refundSamples: Record<string, SampleOf> = {
  createPurchaseRefundRequest: {
    make: async (world) => ({
      path: { id: (await seedTrade(getFirstPlace(world))).purchase },
      body: input,
      references: [buildPathId('id', world.b.editions[0].purchase, world.a.editions[1].purchase)],
    }),
  },

  createRefundRequest: {
    make: async (world) => ({
      body: { order_id: (await seedTrade(getFirstPlace(world))).order, ...input },
    }),
  },

  listRefundRequests: {
    make: async (world) => {
      const [own, foreign, sibling] = [getFirstPlace(world), getForeignPlace(world), getSiblingPlace(world)]
      const [theirs, beside] = await refundsOfOthers(world)
      return {
        query: { edition_id: own.edition },
        references: [
          buildQueryId('edition_id', foreign.edition, sibling.edition),
          buildQueryId('organization_id', foreign.organization),
          buildQueryId('order_id', theirs.order, beside.order),
          buildQueryId('purchase_id', theirs.purchase, beside.purchase),
          buildQueryId('customer_id', theirs.user, beside.user),
        ],
      }
    },
    fill: (world, count) => seedRefunds(getFirstPlace(world), count),
  },

  getRefundRequest: { make: ofRequest(() => ({})) },

  approveRefundRequest: {
    make: ofRequest(() => ({}), { amount: 40, note: 'As agreed', cancel_purchase: true, notify_customer: true }),
  },

  rejectRefundRequest: { make: ofRequest(() => ({}), { reason: 'Too late', notify_customer: true }) },

  cancelRefundRequest: { make: ofRequest(({ who, account }) => ({ requested_by: who === 'root' ? 'root' : account })) },

  retryRefundRequest: {
    make: ofRequest(() => ({ status: 'failed', failure_code: 'declined', approved_minor: 5_000, attempts: 1 })),
  },
}
