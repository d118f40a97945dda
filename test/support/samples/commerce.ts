import { sql } from 'drizzle-orm'
import { dataImports } from '../../../src/db/schema/data-imports.ts'
import { editions } from '../../../src/db/schema/editions.ts'
import { orders } from '../../../src/db/schema/orders.ts'
import { purchases } from '../../../src/db/schema/purchases.ts'
import { update } from '../../../src/db/write.ts'
import { buildNumberKey } from '../../../src/domain/orders/orders.ts'
import { seedLocation } from '../seeding/catalogue.ts'
import { seedDataImports } from '../seeding/imports/data-imports.ts'
import { seedReceiptMessage } from '../seeding/messaging/email-messages.ts'
import { seedEmailsTo } from '../seeding/messaging/transactional-emails.ts'
import { next, write } from '../seeding/rows.ts'
import { seedTrade, seedTrades, seedUse, seedUsesOf } from '../seeding/sales/trades.ts'
import { makeOnce, buildPathId, buildQueryId, type SampleOf } from './sample.ts'

const firstEdition = (world: { a: { id: string; editions: readonly [{ id: string }, unknown] } }) => ({
  organization: world.a.id,
  edition: world.a.editions[0].id,
})

/** A purchase without a limit of uses, which many requests share, and a location. */
const passOf = makeOnce(async (world) => {
  const trade = await seedTrade(firstEdition(world))
  await write(update(purchases, { is_unlimited_use: true }, sql`id = ${trade.purchase}`))
  return { purchase: trade.purchase, location: await seedLocation(firstEdition(world)) }
})

/** Uses that other organisations and editions have recorded. */
const usesOfOthers = makeOnce(async (world) => {
  const foreign = await seedUse({ organization: world.b.id, edition: world.b.editions[0].id })
  const sibling = await seedUse({ organization: world.a.id, edition: world.a.editions[1].id })
  return [buildPathId('id', foreign.purchase, sibling.purchase), buildPathId('use_id', foreign.use, sibling.use)]
})

async function seedCompletedOrder(place: Parameters<typeof seedTrade>[0]): Promise<string> {
  const { order } = await seedTrade(place)
  await write(update(orders, { status: 'completed' }, sql`id = ${order}`))
  return order
}

/** The message for receipts of the first edition. */
const receiptMessageOf = makeOnce(async (world) => {
  const message = await seedReceiptMessage({ id: world.a.id })
  await write(update(editions, { transaction_receipt_email_id: message }, sql`id = ${world.a.editions[0].id}`))
})

/** An import that has ended, in an organisation without running imports. */
async function undoable(place: Parameters<typeof seedDataImports>[0]): Promise<string> {
  const [id = ''] = await seedDataImports(place, 1)
  await write(
    update(dataImports, { phase: null, heartbeat_at: null }, sql`organization_id = ${place.organization}`),
    update(dataImports, { undo_until: Date.now() + 86_400_000 }, sql`id = ${id}`),
  )
  return id
}

export const commerceSamples: Record<string, SampleOf> = {
  listOrders: {
    make: ({ a, b }) => ({
      query: { edition_id: a.editions[0].id },
      references: [
        buildQueryId('edition_id', b.editions[0].id, a.editions[1].id),
        buildQueryId('organization_id', b.id),
        buildQueryId('customer_id', b.editions[0].user, a.editions[1].user),
        { ...buildQueryId('transaction_id', b.editions[0].transaction, a.editions[1].transaction), narrows: true },
      ],
    }),
    fill: (world, count) => seedTrades(firstEdition(world), count),
    sortValue: { order_number: (item) => buildNumberKey(item['order_number'] as string | null) },
  },

  exportOrders: {
    make: ({ a, b }) => ({
      query: { edition_id: a.editions[0].id },
      references: [
        { ...buildQueryId('edition_id', b.editions[0].id, a.editions[1].id), refuses: true },
        { ...buildQueryId('after', b.editions[0].order, a.editions[1].order), refuses: true },
      ],
    }),
  },

  getOrder: {
    make: ({ a, b }) => ({
      path: { id: a.editions[0].order },
      references: [buildPathId('id', b.editions[0].order, a.editions[1].order)],
    }),
  },

  exportPurchases: {
    make: ({ a, b }) => ({
      query: { edition_id: a.editions[0].id },
      references: [
        { ...buildQueryId('edition_id', b.editions[0].id, a.editions[1].id), refuses: true },
        { ...buildQueryId('after', b.editions[0].purchase, a.editions[1].purchase), refuses: true },
      ],
    }),
  },

  cancelOrder: {
    make: async (world) => ({
      path: { id: await seedCompletedOrder(firstEdition(world)) },
      body: {
        accept: ['used'],
        refund: true,
        reason: 'customer_request',
        comment: 'Is ill',
        include_fees: true,
        notify_customer: true,
      },
      references: [buildPathId('id', world.b.editions[0].order, world.a.editions[1].order)],
    }),
  },

  resendReceipt: {
    make: async (world) => {
      const order = await seedCompletedOrder(firstEdition(world))
      await receiptMessageOf(world)
      return {
        path: { id: order },
        references: [buildPathId('id', world.b.editions[0].order, world.a.editions[1].order)],
      }
    },
  },

  getPurchase: {
    make: ({ a, b }) => ({
      path: { id: a.editions[0].purchase },
      references: [buildPathId('id', b.editions[0].purchase, a.editions[1].purchase)],
    }),
  },

  listPurchases: {
    make: ({ a, b }) => ({
      query: { edition_id: a.editions[0].id },
      references: [buildQueryId('edition_id', b.editions[0].id, a.editions[1].id)],
    }),
    fill: (world, count) => seedTrades(firstEdition(world), count),
  },

  createPurchaseUse: {
    make: async (world) => {
      const { purchase, location } = await passOf(world)
      return {
        path: { id: purchase },
        body: { quantity: 1, location_id: location, used_at: '2026-02-01T10:00:00Z' },
        references: [buildPathId('id', world.b.editions[0].purchase, world.a.editions[1].purchase)],
      }
    },
  },

  revertPurchaseUse: {
    make: async (world) => {
      const { purchase, use } = await seedUse(firstEdition(world))
      return { path: { id: purchase, use_id: use }, references: await usesOfOthers(world) }
    },
  },

  listUsers: {
    make: ({ a, b }) => ({
      query: { edition_id: a.editions[0].id },
      references: [
        buildQueryId('edition_id', b.editions[0].id, a.editions[1].id),
        buildQueryId('organization_id', b.id),
      ],
    }),
    fill: (world, count) => seedTrades(firstEdition(world), count),
  },

  getUser: {
    make: ({ a, b }) => ({
      path: { id: a.editions[0].user },
      references: [buildPathId('id', b.editions[0].user, a.editions[1].user)],
    }),
  },

  updateUser: {
    make: async (world) => ({
      path: { id: (await seedTrade(firstEdition(world))).user },
      body: {
        email: `changed-${next()}@example.test`,
        phone_number: `+4530${String(100_000 + next())}`,
        first_name: 'Ingrid',
        last_name: 'Berg',
      },
      references: [buildPathId('id', world.b.editions[0].user, world.a.editions[1].user)],
    }),
  },

  eraseUser: {
    make: async (world) => ({
      path: { id: (await seedTrade(firstEdition(world))).user },
      body: { reason: 'Asked for by the customer' },
      references: [buildPathId('id', world.b.editions[0].user, world.a.editions[1].user)],
    }),
  },

  // Campaigns of the first edition may be under way, and refuse the merge of its customers.
  mergeUsers: {
    make: async ({ a, b }) => {
      const place = { organization: a.id, edition: a.editions[1].id }
      return {
        path: { id: (await seedTrade(place)).user },
        body: { user_id: (await seedTrade(place)).user },
        references: [buildPathId('id', b.editions[0].user, a.editions[1].user)],
      }
    },
  },

  exportUser: {
    make: ({ a, b }) => ({
      path: { id: a.editions[0].user },
      references: [buildPathId('id', b.editions[0].user, a.editions[1].user)],
    }),
  },

  listOrderActivity: {
    make: ({ a, b }) => ({
      path: { id: a.editions[0].order },
      references: [buildPathId('id', b.editions[0].order, a.editions[1].order)],
    }),
    fill: ({ a }, count) => seedUsesOf(a.editions[0].purchase, count),
  },

  listUserActivity: {
    make: ({ a, b }) => ({
      path: { id: a.editions[0].user },
      references: [buildPathId('id', b.editions[0].user, a.editions[1].user)],
    }),
    fill: ({ a }, count) => seedUsesOf(a.editions[0].purchase, count),
  },

  listUserMessages: {
    make: ({ a, b }) => ({
      path: { id: a.editions[0].user },
      references: [buildPathId('id', b.editions[0].user, a.editions[1].user)],
    }),
    fill: (world, count) => seedEmailsTo(firstEdition(world), world.a.editions[0].user, count),
  },

  listDataImports: {
    make: ({ a, b }) => ({
      query: { edition_id: a.editions[0].id },
      references: [
        buildQueryId('edition_id', b.editions[0].id, a.editions[1].id),
        buildQueryId('organization_id', b.id),
      ],
    }),
    fill: (world, count) => seedDataImports(firstEdition(world), count),
  },

  getDataImport: {
    make: ({ a, b }) => ({
      path: { id: a.editions[0].dataImport },
      references: [buildPathId('id', b.editions[0].dataImport, a.editions[1].dataImport)],
    }),
  },

  undoDataImport: {
    make: async (world) => {
      const { a, b } = world
      return {
        path: { id: await undoable(firstEdition(world)) },
        references: [buildPathId('id', b.editions[0].dataImport, a.editions[1].dataImport)],
      }
    },
  },

  createUser: {
    make: ({ a }) => ({
      body: {
        organization_id: a.id,
        edition_id: a.editions[0].id,
        email: `reader-${next()}@example.test`,
        first_name: 'Ægir',
        last_name: 'Holm',
      },
    }),
  },

  importUsers: {
    itemwise: ['users'],
    make: ({ a }) => ({
      body: {
        organization_id: a.id,
        edition_id: a.editions[0].id,
        source: 'mailchimp',
        dry_run: false,
        emit_webhooks: false,
        users: [{ email: `reader-${next()}@example.test`, first_name: 'Ægir', last_name: 'Holm' }],
      },
    }),
  },

  importExternalOrders: {
    itemwise: ['orders'],
    make: ({ a }) => ({
      body: {
        organization_id: a.id,
        edition_id: a.editions[0].id,
        source: 'shop',
        on_duplicate: 'skip',
        dry_run: false,
        emit_webhooks: false,
        send_receipts: false,
        orders: [
          {
            external_id: `A-${next()}`,
            created: '2026-02-01T10:00:00Z',
            currency: 'dkk',
            customer: { email: `buyer-${next()}@example.test`, first_name: 'Ægir', last_name: 'Holm' },
            items: [{ product: 'Day ticket', quantity: 2, unit_price: 225.5 }],
          },
        ],
      },
    }),
  },
}
