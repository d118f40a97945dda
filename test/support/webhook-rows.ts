import { sql } from 'drizzle-orm'
import type { webhookDeliveries, webhookEndpoints, webhookEvents } from '../../src/db/schema/webhooks.ts'
import { callWith, type Reply, type Request } from './api.ts'
import { db } from './seeding/rows.ts'

interface EnqueuedJob {
  endpoint_id: string
  delaySeconds: number
}

interface Message {
  body: { endpoint_id: string }
  delaySeconds: number
}

/** Makes a client of the API whose job queue only records messages in `enqueued`. */
export function createQuietClient() {
  const enqueued: EnqueuedJob[] = []
  const bindings = {
    WEBHOOKS: {
      sendBatch: async (messages: Message[]) => {
        for (const { body, delaySeconds } of messages) enqueued.push({ endpoint_id: body.endpoint_id, delaySeconds })
      },
    },
  }
  const send = (path: string, request: Request = {}): Promise<Reply> => callWith(bindings, path, request)
  return {
    enqueued,
    send,
    post: (path: string, body: unknown, token?: string) =>
      send(path, { method: 'POST', ...(body === undefined ? {} : { body }), ...(token ? { token } : {}) }),
  }
}

type EndpointRow = typeof webhookEndpoints.$inferSelect
type EventRow = typeof webhookEvents.$inferSelect
type DeliveryRow = typeof webhookDeliveries.$inferSelect

export const buildEndpointRow = (id: string): Promise<EndpointRow | undefined> =>
  db.first(sql<EndpointRow>`select * from webhook_endpoints where id = ${id}`)

export const buildDeliveryRow = (id: string): Promise<DeliveryRow | undefined> =>
  db.first(sql<DeliveryRow>`select * from webhook_deliveries where id = ${id}`)

export const loadDeliveries = (endpointId: string): Promise<DeliveryRow[]> =>
  db.all(sql<DeliveryRow>`select * from webhook_deliveries where endpoint_id = ${endpointId} order by id`)

export const listEvents = (organizationId: string): Promise<EventRow[]> =>
  db.all(sql<EventRow>`select * from webhook_events where organization_id = ${organizationId}
    order by seq, id`)

export const listPurchaseEvents = async (organizationId: string): Promise<EventRow[]> =>
  (await listEvents(organizationId)).filter(({ kind }) => kind === 'purchase.action')
