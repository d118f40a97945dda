import { next, seededAt } from '../seeding/rows.ts'
import {
  neverOpen,
  seedDeliveries,
  seedDelivery,
  seedEndpoint,
  seedEndpoints,
  seedEvents,
} from '../seeding/webhooks.ts'
import type { World } from '../world.ts'
import { buildPathId, buildQueryId, type SampleOf, getFirstPlace } from './sample.ts'

const referToEndpoint = ({ a, b }: World) => buildPathId('id', b.editions[0].webhook, a.editions[1].webhook)
const referToDelivery = ({ a, b }: World) => buildPathId('delivery_id', b.editions[0].delivery, a.editions[1].delivery)

const freshEndpoint = async (world: World) => ({
  path: { id: (await seedEndpoint(getFirstPlace(world))).id },
  references: [referToEndpoint(world)],
})

const freshDelivery = async (world: World) => {
  const { id } = await seedEndpoint(getFirstPlace(world))
  // The probe of an open breaker is taken, so the requested retry stays as it is.
  await seedDelivery(getFirstPlace(world), id, {
    status: 'retrying',
    next_retry_at: neverOpen,
    claimed_until: neverOpen,
  })
  const delivery = await seedDelivery(getFirstPlace(world), id)
  return { path: { id, delivery_id: delivery.id }, references: [referToEndpoint(world), referToDelivery(world)] }
}

const changedEndpoints = new WeakMap<World, Promise<{ id: string }>>()

/** Nothing else is posted to this endpoint, because another address closes the breaker and releases what waits. */
async function changedEndpoint(world: World): Promise<string> {
  const endpoint = changedEndpoints.get(world) ?? seedEndpoint(getFirstPlace(world))
  changedEndpoints.set(world, endpoint)
  return (await endpoint).id
}

export const webhookSamples: Record<string, SampleOf> = {
  listWebhooks: {
    make: ({ a, b }) => ({
      query: { edition_id: a.editions[0].id },
      references: [
        buildQueryId('edition_id', b.editions[0].id, a.editions[1].id),
        buildQueryId('organization_id', b.id),
      ],
    }),
    fill: (world, count) => seedEndpoints(getFirstPlace(world), count),
  },

  createWebhook: {
    make: (world) => ({
      body: {
        organization_id: world.a.id,
        name: `Warehouse ${next()}`,
        url: 'https://hooks.example.com/events',
        events: ['purchase.action', 'consent.given'],
        edition_id: world.a.editions[0].id,
        is_active: true,
        timeout_seconds: 10,
      },
    }),
  },

  listWebhookEventKinds: { make: () => ({}) },

  listOrganizationWebhookDeliveries: {
    make: ({ a, b }) => ({
      query: { organization_id: a.id },
      references: [
        buildQueryId('organization_id', b.id),
        { ...buildQueryId('edition_id', b.editions[0].id, a.editions[1].id), narrows: true },
        { ...buildQueryId('endpoint_id', b.editions[0].webhook, a.editions[1].webhook), narrows: true },
      ],
    }),
    fill: (world, count) => seedDeliveries(getFirstPlace(world), world.a.editions[0].webhook, count),
    sortValue: { name: (item) => item['event'], modified: (item) => item['last_attempt_at'] },
  },

  listWebhookEvents: {
    make: ({ a, b }) => ({
      query: { organization_id: a.id },
      references: [
        buildQueryId('organization_id', b.id),
        { ...buildQueryId('edition_id', b.editions[0].id, a.editions[1].id), narrows: true },
      ],
    }),
    fill: (world, count) => seedEvents(getFirstPlace(world), count),
    sortValue: { cursor: ({ cursor }) => Number(String(cursor).split(':')[1]) },
  },

  streamWebhookEvents: {
    make: ({ a, b }) => ({
      query: { organization_id: a.id },
      references: [
        { ...buildQueryId('organization_id', b.id), refuses: true },
        { ...buildQueryId('edition_id', b.editions[0].id, a.editions[1].id), refuses: true, narrows: true },
      ],
    }),
  },

  getWebhook: {
    make: (world) => ({ path: { id: world.a.editions[0].webhook }, references: [referToEndpoint(world)] }),
  },

  updateWebhook: {
    make: async (world) => ({
      path: { id: await changedEndpoint(world) },
      body: {
        name: `Warehouse ${next()}`,
        url: 'https://other.example.com/events',
        edition_id: world.a.editions[0].id,
        events: ['wallet.vendorB.pass-added'],
        is_active: true,
        timeout_seconds: 20,
      },
      references: [referToEndpoint(world)],
    }),
  },

  deleteWebhook: { make: freshEndpoint },

  rotateWebhookSecret: { make: freshEndpoint },

  testWebhook: {
    make: async (world) => ({ ...(await freshEndpoint(world)), body: { event: 'purchase.action' } }),
  },

  recoverWebhookDeliveries: {
    make: async (world) => {
      const { id } = await seedEndpoint(getFirstPlace(world))
      await seedDeliveries(getFirstPlace(world), id, 2)
      return {
        path: { id },
        body: { since: new Date(seededAt).toISOString(), until: '2027-01-01T00:00:00+01:00' },
        references: [referToEndpoint(world)],
      }
    },
  },

  listWebhookDeliveries: {
    make: (world) => ({
      path: { id: world.a.editions[0].webhook },
      references: [
        referToEndpoint(world),
        buildQueryId('edition_id', world.b.editions[0].id, world.a.editions[1].id),
        buildQueryId('organization_id', world.b.id),
      ],
    }),
    fill: (world, count) => seedDeliveries(getFirstPlace(world), world.a.editions[0].webhook, count),
    // An item has its event as its name, and changed when it was last attempted.
    sortValue: { name: (item) => item['event'], modified: (item) => item['last_attempt_at'] },
  },

  getWebhookDelivery: {
    make: (world) => ({
      path: { id: world.a.editions[0].webhook, delivery_id: world.a.editions[0].delivery },
      references: [referToEndpoint(world), referToDelivery(world)],
    }),
  },

  retryWebhookDelivery: { make: freshDelivery },
}
