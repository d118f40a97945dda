import { seedTrade } from '../seeding/sales/trades.ts'
import { type SeededRefund, seedRefund, seedRefunds } from '../seeding/sales/refunds.ts'
import type { Person, World } from '../world.ts'
import {
  firstPlace,
  foreignPlace,
  siblingPlace,
  onceInWorld,
  pathId,
  queryId,
  type Sample,
  type SampleOf,
} from './sample.ts'

type Columns = Parameters<typeof seedRefund>[1]

/** Makes a request of another organisation, and one of another edition. */
const refundsOfOthers = onceInWorld(async (world): Promise<[SeededRefund, SeededRefund]> => {
  return [await seedRefund(foreignPlace(world)), await seedRefund(siblingPlace(world))]
})

/** Makes a request for each place, in one state; `body` is sent with it. */
const ofRequest =
  (columns: (caller: Person) => Columns, body?: Record<string, unknown>) =>
  async (world: World, caller: Person): Promise<Sample> => {
    const mine = await seedRefund(firstPlace(world), columns(caller))
    const [theirs, beside] = await refundsOfOthers(world)
    return {
      path: { id: mine.refund },
      ...(body ? { body } : {}),
      references: [pathId('id', theirs.refund, beside.refund)],
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
      path: { id: (await seedTrade(firstPlace(world))).purchase },
      body: input,
      references: [pathId('id', world.b.editions[0].purchase, world.a.editions[1].purchase)],
    }),
  },

  createRefundRequest: {
    make: async (world) => ({
      body: { order_id: (await seedTrade(firstPlace(world))).order, ...input },
    }),
  },

  listRefundRequests: {
    make: async (world) => {
      const [own, foreign, sibling] = [firstPlace(world), foreignPlace(world), siblingPlace(world)]
      const [theirs, beside] = await refundsOfOthers(world)
      return {
        query: { edition_id: own.edition },
        references: [
          queryId('edition_id', foreign.edition, sibling.edition),
          queryId('organization_id', foreign.organization),
          queryId('order_id', theirs.order, beside.order),
          queryId('purchase_id', theirs.purchase, beside.purchase),
          queryId('customer_id', theirs.user, beside.user),
        ],
      }
    },
    fill: (world, count) => seedRefunds(firstPlace(world), count),
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
