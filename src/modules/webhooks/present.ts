import type { z } from '@hono/zod-openapi'
import type { Ctx } from '../../context.ts'
import { mayAt, admins } from '../../domain/accounts/access.ts'
import { toIso, toIsoOrNull } from '../../domain/time/instants.ts'
import { presentWait } from '../../domain/waiting.ts'
import type { Recovered, WebhookDelivery, WebhookDeliveryDetail } from './delivery/delivery-contract.ts'
import type { Recovery } from './delivery/manual-sends.ts'
import type { WebhookEndpoint, WebhookEndpointDetail } from './endpoint-contract.ts'
import type { StoredEvent } from './events/feed-contract.ts'
import { formatCursor } from './events/feed.ts'
import type { EventRow } from './events/list.ts'
import type { RatedEndpointRow } from './list.ts'
import {
  type DeliveryDetailRow,
  type DeliveryRow,
  type EndpointRow,
  getEndpointTenant,
  getEndpointWait,
} from './queries.ts'

const presentEndpointFields = (row: EndpointRow) => ({
  id: row.id,
  organization_id: row.organization_id,
  name: row.name,
  url: row.url,
  edition_id: row.edition_id,
  events: row.events,
  is_active: row.is_active,
  timeout_seconds: row.timeout_seconds,
  created: toIso(row.created_at),
  modified: toIso(row.modified_at),
  disabled_at: toIsoOrNull(row.disabled_at),
  failing_since: toIsoOrNull(row.failing_since),
})

export const presentEndpointItem = (row: RatedEndpointRow): z.input<typeof WebhookEndpoint> => ({
  ...presentEndpointFields(row),
  success_rate: row.success_rate,
})

export const presentEndpoint = (row: EndpointRow, ctx: Ctx): z.input<typeof WebhookEndpointDetail> => ({
  ...presentEndpointFields(row),
  ...(ctx.caller.scopes.includes('write') && mayAt(ctx.caller, admins, getEndpointTenant(row))
    ? { secret: row.secret }
    : {}),
  previous_secret_expires_at:
    row.previous_secret_until !== null && row.previous_secret_until > ctx.now()
      ? toIso(row.previous_secret_until)
      : null,
  disabled_reason: row.disabled_reason,
  ...presentWait(getEndpointWait(row, ctx)),
})

export const presentDeliveryItem = (row: DeliveryRow): z.input<typeof WebhookDelivery> => ({
  id: row.id,
  endpoint_id: row.endpoint_id,
  event_id: row.event_id,
  status: row.status,
  event: row.kind,
  attempts: row.attempts,
  response_status_code: row.response_status_code,
  last_attempt_at: toIsoOrNull(row.last_attempt_at),
  next_retry_at: toIsoOrNull(row.next_retry_at),
  created: toIso(row.created_at),
})

export const presentDelivery = (row: DeliveryDetailRow): z.input<typeof WebhookDeliveryDetail> => ({
  ...presentDeliveryItem(row),
  payload: row.payload,
  signature: row.signature ?? '',
  signed_at: toIsoOrNull(row.signed_at),
  attempt_log: row.attempt_log.map((attempt) => ({
    number: attempt.number,
    started_at: toIso(attempt.started_at),
    duration_ms: attempt.duration_ms,
    status_code: attempt.status_code,
    error: attempt.error,
    is_manual: attempt.is_manual,
    next_retry_at: toIsoOrNull(attempt.next_retry_at),
    next_reason: attempt.next_reason,
    response_text: attempt.response_text,
  })),
})

export const presentRecovery = ({
  recovered,
  waiting,
  missed,
  has_more_missed,
  ...wait
}: Recovery): z.input<typeof Recovered> => ({
  recovered,
  waiting,
  missed,
  has_more_missed,
  ...presentWait(wait),
})

export const presentEvent = (row: EventRow): z.input<typeof StoredEvent> => ({
  id: row.id,
  kind: row.kind,
  organization_id: row.organization_id,
  edition_id: row.edition_id,
  created: toIso(row.created_at),
  cursor: formatCursor(row.organization_id, row.seq),
  payload: row.payload,
})
