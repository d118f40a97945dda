import {
  webhookEndpoints,
  webhookDeliveries,
  type webhookEvents,
  webhookAttempts,
} from '../../../src/db/schema/webhooks.ts'
import { insertAll } from '../../../src/db/write.ts'
import { buildSortKey } from '../../../src/domain/text/fold.ts'
import { mintSecret } from '../../../src/domain/webhooks/webhook-signature.ts'
import { insertEvents } from '../../../src/modules/webhooks/events/event-rows.ts'
import { givenOrganization } from './organizations.ts'
import { freshId, next, randomBytes, seededAt, type WidePlace, write } from './rows.ts'

export type EndpointRow = typeof webhookEndpoints.$inferSelect

type DeliveryRow = typeof webhookDeliveries.$inferSelect

/** A time so late that no test sends what waits for the breaker. */
export const neverOpen = Date.UTC(2100, 0, 1)

/** Seeds endpoints with an open breaker, whose deliveries stay as they are. */
export async function seedEndpoints(
  place: WidePlace,
  count: number,
  columns: Partial<EndpointRow> = {},
): Promise<EndpointRow[]> {
  const rows = Array.from({ length: count }, (): EndpointRow => {
    const number = next()
    const at = seededAt + Math.floor(number / 3) * 1000
    const { name = `Endpoint ${Math.floor(number / 2)}` } = columns
    return {
      id: freshId('webhook_endpoint'),
      organization_id: place.organization,
      edition_id: place.edition,
      name,
      name_key: buildSortKey(name),
      url: 'https://hooks.example.com/events',
      events: ['purchase.action'],
      is_active: true,
      timeout_seconds: 0,
      secret: mintSecret(randomBytes),
      previous_secret: null,
      previous_secret_until: null,
      disabled_at: null,
      disabled_reason: null,
      failing_since: null,
      failing_reason: null,
      next_attempt_at: null,
      failures_in_row: 0,
      breaker_until: neverOpen,
      is_slow: false,
      version: 1,
      created_at: at,
      modified_at: at,
      ...columns,
    }
  })
  await write(...insertAll(webhookEndpoints, rows))
  return rows
}

export async function seedEndpoint(place: WidePlace, columns: Partial<EndpointRow> = {}): Promise<EndpointRow> {
  const [row] = await seedEndpoints(place, 1, columns)
  if (!row) throw new Error('no endpoint was made')
  return row
}

/** Seeds an endpoint with an address of its own that gets events, and an organisation unless the columns name one. */
export async function seedOpenEndpoint(columns: Partial<EndpointRow> = {}): Promise<EndpointRow> {
  const organization = columns.organization_id ?? (await givenOrganization()).id
  const url = `https://receiver-${next()}.example.com/hook`
  const now = Date.now()
  const open = { url, breaker_until: null, created_at: now, modified_at: now }
  return seedEndpoint({ organization, edition: columns.edition_id ?? null }, { ...open, ...columns })
}

/** Seeds failed deliveries of an event each, with the log of their one attempt. */
export async function seedDeliveries(
  place: WidePlace,
  endpoint: string,
  count: number,
  columns: Partial<DeliveryRow> = {},
): Promise<DeliveryRow[]> {
  const kinds = ['purchase.action', 'consent.given', 'consent.withdrawn'] as const
  const rows = Array.from({ length: count }, (): DeliveryRow => {
    const number = next()
    const at = seededAt + Math.floor(number / 3) * 1000
    return {
      id: freshId('webhook_delivery'),
      endpoint_id: endpoint,
      event_id: freshId('webhook_event'),
      edition_id: place.edition,
      kind: kinds[number % 3] ?? 'purchase.action',
      status: 'failed',
      attempts: 1,
      step: 1,
      manual: null,
      response_status_code: 500,
      signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
      signed_at: at,
      last_attempt_at: at + (number % 2),
      next_retry_at: null,
      claimed_until: null,
      created_at: at,
      modified_at: at + (number % 2),
      last_attempt: null,
      ...columns,
    }
  })
  const events = rows.map((row) => ({
    id: row.event_id,
    organization_id: place.organization,
    edition_id: row.edition_id,
    kind: row.kind,
    payload: `{"id":"${row.event_id}","type":"${row.kind}","note":"Ægir & søn"}`,
    resource_ids: '',
    created_at: row.created_at,
  }))
  const attempts = rows.map((row) => ({
    delivery_id: row.id,
    number: 1,
    started_at: row.created_at,
    duration_ms: 12,
    status_code: 500,
    error: 'http_error',
    is_manual: false,
    next_retry_at: row.created_at + 5000,
    next_reason: 'schedule' as const,
  }))
  await write(...insertEvents(events), ...insertAll(webhookDeliveries, rows), ...insertAll(webhookAttempts, attempts))
  return rows
}

export async function seedDelivery(
  place: WidePlace,
  endpoint: string,
  columns: Partial<DeliveryRow> = {},
): Promise<DeliveryRow> {
  const [row] = await seedDeliveries(place, endpoint, 1, columns)
  if (!row) throw new Error('no delivery was made')
  return row
}

export type EventRow = typeof webhookEvents.$inferSelect

/** Seeds events that no endpoint gets. */
export async function seedEvents(
  place: WidePlace,
  count: number,
  columns: Partial<EventRow> = {},
): Promise<Omit<EventRow, 'seq'>[]> {
  const rows = Array.from({ length: count }, (_, index): Omit<EventRow, 'seq'> => {
    const id = columns.id ?? freshId('webhook_event')
    const kind = columns.kind ?? (index % 2 === 0 ? 'purchase.action' : 'consent.given')
    return {
      id,
      organization_id: place.organization,
      edition_id: place.edition,
      kind,
      payload: `{"id":"${id}","type":"${kind}","note":"Ægir & søn"}`,
      resource_ids: '',
      dedup_key: null,
      created_at: seededAt + Math.floor(next() / 3) * 1000,
      ...columns,
    }
  })
  await write(...insertEvents(rows))
  return rows
}
