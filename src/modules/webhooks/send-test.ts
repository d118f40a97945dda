import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import type { EventKind } from '../../domain/webhooks/webhooks.ts'
import { type Announcement, announceTo } from './events/announce.ts'
import { exampleData } from './events/example-contract.ts'
import type { DeliveryDetailRow, EndpointRow } from './queries.ts'
import { endpointInactive } from './endpoint-checks.ts'

/** Delivers the example of a kind to the endpoint, by the way that real events take. */
export async function sendTest(ctx: Ctx, endpoint: EndpointRow, kind: EventKind): Promise<DeliveryDetailRow> {
  if (!endpoint.is_active) throw endpointInactive()
  const { organization_id, edition_id } = endpoint
  const announcement = { kind, organization_id, edition_id, data: exampleData[kind] } as Announcement
  const { event, delivery, statements } = announceTo(ctx, endpoint, announcement)
  const row: DeliveryDetailRow = {
    ...delivery,
    payload: event.payload,
    attempt_log: [],
    attempts: 0,
    step: 0,
    manual: null,
    response_status_code: null,
    signature: null,
    signed_at: null,
    last_attempt_at: null,
    lease_until: null,
  }
  return commit(ctx, row, statements)
}
