import { z } from '@hono/zod-openapi'
import { deliveryStatuses } from '../../../domain/webhooks/webhooks.ts'
import { Count, Id, IdParams, Instant, Timestamp } from '../../../http/fields.ts'
import { type ListRequest, BooleanFilter, ListPage, IdFilter, listQuery } from '../../../http/requests/list-query.ts'
import { operation } from '../../../http/operations/operation.ts'
import { EventKindName, keepers, readers } from '../endpoint-contract.ts'

export const WebhookDelivery = z
  .object({
    id: Id('whd'),
    status: z.enum(deliveryStatuses).openapi({
      description:
        '`exhausted` has used the schedule of attempts up; `failed` ended before: by an answer 410, a forbidden destination, or an endpoint that was switched off.',
    }),
    event: z.string().openapi({ description: 'Kind of the event.', example: 'purchase.action' }),
    attempts: Count.openapi({ description: 'Requests that were made.' }),
    response_status_code: z
      .int()
      .nullable()
      .openapi({ description: 'Of the latest attempt; null before the first and when no answer came.' }),
    last_attempt_at: Timestamp.nullable().openapi({ description: 'Null before the first attempt.' }),
    next_retry_at: Timestamp.nullable().openapi({ description: 'Null when no further attempt is planned.' }),
    created: Timestamp,
  })
  .openapi('WebhookDelivery')

/** The attempts in one answer. Retries by hand make any number of them. */
export const attemptsShown = 100

const Attempt = z
  .object({
    number: z.int().min(1),
    started_at: Timestamp,
    duration_ms: Count,
    status_code: z.int().nullable().openapi({ description: 'Null when no answer came.' }),
    error: z.string().nullable().openapi({
      description:
        'Null for a success; else `timeout`, `connection_refused`, `connection_reset`, `connection_lost` (refused, or closed before an answer: the runtime does not say which), `dns_failure`, `tls_failure`, `network_error` (the runtime does not say what), `redirect`, `http_error` or `destination_forbidden` (nothing was sent).',
    }),
    response_text: z.string().nullable().openapi({
      description:
        'The first 1024 bytes of the answer as plain text, without control characters; null when no answer came.',
      example: 'unknown topic',
    }),
    is_manual: z.boolean(),
    next_retry_at: Timestamp.nullable().openapi({ description: 'Null when no further attempt is planned.' }),
    next_reason: z.string().nullable().openapi({
      description:
        'What the time of the next attempt came from: `schedule`, `retry_after` or `breaker`. Null when none is planned.',
    }),
  })
  .openapi('WebhookAttempt')

export const WebhookDeliveryDetail = WebhookDelivery.extend({
  endpoint_id: Id('whk'),
  event_id: Id('evn').openapi({ description: 'The `webhook-id` of every attempt.' }),
  payload: z.string().openapi({ description: 'The body, byte for byte, that was sent or will be.' }),
  signature: z.string().max(64).openapi({
    description: 'By the current secret of the latest attempt, `v1,<base64>`; empty before the first.',
    example: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  }),
  signed_at: Timestamp.nullable().openapi({
    description: 'The `webhook-timestamp` that was signed; null before the first attempt.',
  }),
  attempt_log: z.array(Attempt).max(attemptsShown).openapi({ description: 'The latest attempts, in their order.' }),
}).openapi('WebhookDeliveryDetail')

const DeliveryParams = IdParams('whk').extend({
  delivery_id: z.string().openapi({
    param: { name: 'delivery_id', in: 'path' },
    example: 'whd_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
  }),
})

const TestWebhook = z.object({ event: EventKindName })

const RecoverDeliveries = z.object({
  since: Instant,
  until: Instant.optional().openapi({ description: 'Now by default.' }),
})

const Recovered = z
  .object({ recovered: Count.openapi({ description: 'Deliveries that will be sent again.', example: 12 }) })
  .openapi('WebhookRecovery')

export type RecoverDeliveriesInput = z.output<typeof RecoverDeliveries>

const tag = 'Webhooks' as const

const listDeliveriesQuery = listQuery({
  ordering: ['created', 'modified', 'name'],
  filters: {
    status: z.enum(deliveryStatuses).optional(),
    edition_id: IdFilter.optional().openapi({ description: 'Of the event, whichever the endpoint is of now.' }),
    organization_id: IdFilter.optional().openapi({ description: 'Of the endpoint.' }),
    is_active: BooleanFilter.optional().openapi({ description: 'Of the endpoint.' }),
  },
})

export type DeliveryQuery = ListRequest<typeof listDeliveriesQuery>

export const listWebhookDeliveries = operation({
  id: 'listWebhookDeliveries',
  tag,
  method: 'get',
  path: '/v1/webhooks/{id}/deliveries',
  summary: 'List deliveries',
  description: 'Newest first. `name` orders by the kind of the event.',
  roles: readers,
  params: IdParams('whk'),
  query: listDeliveriesQuery,
  response: ListPage(WebhookDelivery),
})

export const getWebhookDelivery = operation({
  id: 'getWebhookDelivery',
  tag,
  method: 'get',
  path: '/v1/webhooks/{id}/deliveries/{delivery_id}',
  summary: 'Retrieve a delivery',
  description: 'With the payload, which may name people, and the result of each attempt.',
  roles: keepers,
  params: DeliveryParams,
  response: WebhookDeliveryDetail,
})

export const retryWebhookDelivery = operation({
  id: 'retryWebhookDelivery',
  tag,
  method: 'post',
  path: '/v1/webhooks/{id}/deliveries/{delivery_id}/retry',
  summary: 'Retry a delivery',
  description:
    'Makes one attempt now, before all others and also behind an open breaker. For a delivery that is `retrying` it comes beside the schedule, which goes on; one that has `failed` or is `exhausted` gets this attempt alone.',
  roles: keepers,
  params: DeliveryParams,
  response: WebhookDeliveryDetail,
  errors: ['delivery_already_succeeded', 'delivery_in_progress', 'endpoint_inactive'],
})

export const testWebhook = operation({
  id: 'testWebhook',
  tag,
  method: 'post',
  path: '/v1/webhooks/{id}/test',
  summary: 'Send a test event',
  description: 'Delivers the example of a kind, whether the endpoint subscribes to it or not, as real events are.',
  roles: keepers,
  status: 201,
  params: IdParams('whk'),
  body: TestWebhook,
  example: { event: 'purchase.action' },
  response: WebhookDeliveryDetail,
  errors: ['endpoint_inactive'],
})

export const recoverWebhookDeliveries = operation({
  id: 'recoverWebhookDeliveries',
  tag,
  method: 'post',
  path: '/v1/webhooks/{id}/recover',
  summary: 'Send failed deliveries again',
  description:
    'Deliveries made from `since` to `until` that have `failed` or are `exhausted` go through the whole schedule again, starting now.',
  roles: keepers,
  params: IdParams('whk'),
  body: RecoverDeliveries,
  example: { since: '2026-06-01T00:00:00Z', until: '2026-06-02T00:00:00Z' },
  response: Recovered,
  errors: ['endpoint_inactive'],
})
