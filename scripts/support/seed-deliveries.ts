import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../src/context.ts'
import type { Statement } from '../../src/db/database.ts'
import { webhookAttempts, webhookDeliveries } from '../../src/db/schema/webhooks.ts'
import { insertAll } from '../../src/db/write.ts'
import { toIso } from '../../src/domain/time/instants.ts'
import { listResourceIds } from '../../src/domain/webhooks/event-resources.ts'
import { signHeaders } from '../../src/domain/webhooks/webhook-signature.ts'
import { standardSchedule } from '../../src/domain/webhooks/webhooks.ts'
import { insertEvents } from '../../src/modules/webhooks/events/event-rows.ts'
import type { RowsRequest } from './seed-rows.ts'

interface Sale {
  id: string
  status: string
  product_id: string
  product_name: string
  order_id: string
  order_number: string
  user_id: string
  email: string | null
}

interface Endpoint {
  secret: string
  previous_secret: string | null
  previous_secret_until: number | null
}

const hourMs = 3_600_000
const deliveries = 8

/** Lists the status that the receiver answers to each attempt. */
function listStatusCodes(index: number): number[] {
  if (index === 0) return Array<number>(standardSchedule.length + 1).fill(503)
  return index === 1 ? [500, 204] : [204]
}

const buildEventData = (sale: Sale, at: number) => ({
  action: 'activated',
  purchase: {
    id: sale.id,
    vendor_code: null,
    status: sale.status,
    product: { api_id: sale.product_id, name: sale.product_name },
    variant: null,
  },
  order: { id: sale.order_id, order_number: sale.order_number },
  user: { api_id: sale.user_id, email: sale.email },
  refund_request: null,
  occurred_at: toIso(at),
})

interface DeliverySource {
  endpoint: Endpoint
  request: RowsRequest
}

async function buildDelivery(job: JobCtx, { endpoint, request }: DeliverySource, sale: Sale, index: number) {
  const { organization_id, edition_id, endpoint_id } = request
  // The first delivery failed through the whole schedule, which takes three and a half days.
  const at = request.seeded_at - (index === 0 ? 100 : index) * hourMs
  const id = job.newId('webhook_event')
  const head = { id, type: 'purchase.action', created: toIso(at), api_version: 'v1', organization_id, edition_id }
  const data = buildEventData(sale, at)
  const event = {
    id,
    organization_id,
    edition_id,
    kind: 'purchase.action' as const,
    payload: JSON.stringify({ ...head, data }),
    resource_ids: listResourceIds(data),
    created_at: at,
  }
  const delivery_id = job.newId('webhook_delivery')
  const statusCodes = listStatusCodes(index)
  let started_at = at
  const attempts = statusCodes.map((status_code, number) => {
    started_at += (standardSchedule[number - 1] ?? 0) * 1000
    const wait = number < statusCodes.length - 1 ? standardSchedule[number] : undefined
    return {
      delivery_id,
      number: number + 1,
      started_at,
      duration_ms: 40 + 7 * index,
      status_code,
      error: status_code === 204 ? null : 'http_error',
      is_manual: false,
      next_retry_at: wait === undefined ? null : started_at + wait * 1000,
      next_reason: wait === undefined ? null : ('schedule' as const),
    }
  })
  const { primary } = await signHeaders(endpoint, event, started_at)
  const delivery = {
    id: delivery_id,
    endpoint_id,
    event_id: id,
    edition_id,
    kind: event.kind,
    attempts: attempts.length,
    status: statusCodes.at(-1) === 204 ? ('success' as const) : ('exhausted' as const),
    step: attempts.length,
    response_status_code: statusCodes.at(-1) ?? null,
    signature: primary,
    signed_at: Math.floor(started_at / 1000) * 1000,
    last_attempt_at: started_at,
    created_at: at,
    modified_at: started_at,
  }
  return { event, delivery, attempts }
}

/** Builds the events of the newest purchases with finished deliveries, so nothing is left to send. */
export async function buildDeliveryRows(job: JobCtx, request: RowsRequest): Promise<Statement[]> {
  const [endpoint, sales] = await Promise.all([
    job.db.first(
      sql<Endpoint>`select secret, previous_secret, previous_secret_until from webhook_endpoints
        where id = ${request.endpoint_id} and organization_id = ${request.organization_id}`,
    ),
    job.db.all(
      sql<Sale>`select purchases.id, purchases.status, purchases.product_id, products.name as product_name,
          purchases.order_id, orders.order_number, purchases.user_id, users.email
        from purchases join orders on orders.id = purchases.order_id join users on users.id = purchases.user_id
        join products on products.id = purchases.product_id
        where purchases.edition_id = ${request.edition_id} and purchases.status = 'active'
        order by purchases.created_at desc limit ${deliveries}`,
    ),
  ])
  if (!endpoint) throw new Error('There is no such endpoint.')
  const newDeliveries = await Promise.all(
    sales.map((sale, index) => buildDelivery(job, { endpoint, request }, sale, index)),
  )
  return [
    ...insertEvents(newDeliveries.map(({ event }) => event).toSorted((a, b) => a.created_at - b.created_at)),
    ...insertAll(
      webhookDeliveries,
      newDeliveries.map(({ delivery }) => delivery),
    ),
    ...insertAll(
      webhookAttempts,
      newDeliveries.flatMap(({ attempts }) => attempts),
    ),
  ]
}
