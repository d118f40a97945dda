import { z } from '@hono/zod-openapi'
import { admins, managers } from '../../../domain/accounts/access.ts'
import { deliveryStatuses, maxMissedEvents } from '../../../domain/webhooks/webhooks.ts'
import { Count, Id, IdParams, Instant, Timestamp, waitingFields } from '../../../http/fields.ts'
import { action, operation } from '../../../http/operations/operation.ts'
import { type ListRequest, BooleanFilter, ListPage, IdFilter, listQuery } from '../../../http/requests/list-query.ts'
import { EventKindName } from '../endpoint-contract.ts'
import { CreatedAfter, CreatedBefore, OnlyOrganizationFilter, ResourceFilter } from '../events/feed-contract.ts'

export const WebhookDelivery = z
  .object({
    id: Id('whd'),
    endpoint_id: Id('whk'),
    event_id: Id('evn').openapi({ description: 'The `webhook-id` header of every attempt.' }),
    status: z.enum(deliveryStatuses).openapi({
      description:
        '`exhausted`: every attempt of the schedule failed. `failed`: it ended earlier, because the endpoint answered 410 or was switched off, or its address is forbidden.',
    }),
    event: z.string().openapi({ description: 'The kind of the event.', example: 'purchase.action' }),
    attempts: Count.openapi({ description: 'The number of attempts so far.' }),
    response_status_code: z.int().nullable().openapi({
      description: 'The status of the latest answer. Null before the first attempt and when no answer came.',
    }),
    last_attempt_at: Timestamp.nullable().openapi({ description: 'Null before the first attempt.' }),
    next_retry_at: Timestamp.nullable().openapi({ description: 'Null when no further attempt is planned.' }),
    created: Timestamp,
  })
  .openapi('WebhookDelivery')

/** Manual retries can make any number of attempts. */
export const maxListedAttempts = 100

const Attempt = z
  .object({
    number: z.int().min(1),
    started_at: Timestamp,
    duration_ms: Count,
    status_code: z.int().nullable().openapi({ description: 'Null when no answer came.' }),
    error: z.string().nullable().openapi({
      description:
        'Null for a success. Otherwise `timeout`, `connection_refused`, `connection_reset`, `connection_lost` (refused, or closed before an answer), `dns_failure`, `tls_failure`, `network_error` (the cause is unknown), `redirect`, `http_error` or `destination_forbidden` (nothing was sent).',
    }),
    response_text: z.string().nullable().openapi({
      description:
        'The first 1024 bytes of the answer as plain text, without control characters. Null when no answer came.',
      example: 'unknown topic',
    }),
    is_manual: z.boolean(),
    next_retry_at: Timestamp.nullable().openapi({ description: 'Null when no further attempt is planned.' }),
    next_reason: z.string().nullable().openapi({
      description:
        'What set the time of the next attempt: `schedule`, `retry_after` or `breaker`. Null when none is planned.',
    }),
  })
  .openapi('WebhookAttempt')

export const WebhookDeliveryDetail = WebhookDelivery.extend({
  payload: z.string().openapi({ description: 'The request body, byte for byte.' }),
  signature: z.string().max(64).openapi({
    description:
      'The signature of the latest attempt by the secret of that time, `v1,<base64>`. Empty before the first attempt.',
    example: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  }),
  signed_at: Timestamp.nullable().openapi({
    description: 'The `webhook-timestamp` of the latest attempt. Null before the first.',
  }),
  attempt_log: z.array(Attempt).max(maxListedAttempts).openapi({ description: 'The latest attempts, oldest first.' }),
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
  until: Instant.optional().openapi({ description: 'The default is now.' }),
  include_missed: z.boolean().default(false).openapi({
    description:
      '`true` also sends the events of this time that the endpoint subscribes to and has no delivery for, because it was switched off, did not exist or did not subscribe when they happened.',
  }),
})

export const Recovered = z
  .object({
    recovered: Count.openapi({
      description: 'The number of deliveries that had ended without success and are sent again.',
      example: 12,
    }),
    waiting: Count.openapi({
      description:
        'The number of deliveries of this time that are `pending` or `retrying`. They are sent without your doing and keep their schedule.',
      example: 3,
    }),
    missed: Count.max(maxMissedEvents).openapi({
      description: `The number of events without a delivery that are sent now: with \`include_missed\`, the oldest ${maxMissedEvents}.`,
      example: 0,
    }),
    has_more_missed: z.boolean().openapi({
      description: 'True when more events were missed. Send the request again until it is false.',
      example: false,
    }),
    ...waitingFields,
  })
  .openapi('WebhookRecovery')

export type RecoverDeliveriesInput = z.output<typeof RecoverDeliveries>

const tag = 'Webhooks' as const

const StatusCodeFilter = z
  .string()
  .regex(/^[1-5]\d\d$/, 'Must be an HTTP status, for example 500.')
  .transform(Number)
  .openapi({ type: 'integer', minimum: 100, maximum: 599 })

const ordering = ['created', 'modified', 'name'] as const

const deliveryFilters = {
  status: z.enum(deliveryStatuses).optional(),
  event: EventKindName.optional().openapi({ description: 'The kind of the event.' }),
  response_status_code: StatusCodeFilter.optional().openapi({ description: 'The status of the latest answer.' }),
  edition_id: IdFilter.optional().openapi({ description: 'The edition of the event.' }),
  resource_id: ResourceFilter.optional(),
  created_after: CreatedAfter.optional(),
  created_before: CreatedBefore.optional(),
}

const listDeliveriesQuery = listQuery({
  ordering,
  filters: {
    ...deliveryFilters,
    organization_id: IdFilter.optional().openapi({ description: 'A filter on the endpoint.' }),
    is_active: BooleanFilter.optional().openapi({ description: 'A filter on the endpoint.' }),
  },
})

const listOrganizationDeliveriesQuery = listQuery({
  ordering,
  filters: {
    ...deliveryFilters,
    organization_id: OnlyOrganizationFilter.optional(),
    endpoint_id: IdFilter.optional(),
  },
})

export type DeliveryQuery = ListRequest<typeof listDeliveriesQuery>
export type OrganizationDeliveryQuery = ListRequest<typeof listOrganizationDeliveriesQuery>

export const listWebhookDeliveries = operation({
  id: 'listWebhookDeliveries',
  tag,
  method: 'get',
  path: '/v1/webhooks/{id}/deliveries',
  summary: 'List deliveries',
  description: 'Newest first. `name` sorts by the kind of the event.',
  roles: managers,
  params: IdParams('whk'),
  query: listDeliveriesQuery,
  response: ListPage(WebhookDelivery),
})

export const listOrganizationWebhookDeliveries = operation({
  id: 'listOrganizationWebhookDeliveries',
  tag,
  method: 'get',
  path: '/v1/webhooks/deliveries',
  summary: 'List deliveries of all endpoints',
  description: 'Newest first. `name` sorts by the kind of the event.',
  roles: managers,
  query: listOrganizationDeliveriesQuery,
  response: ListPage(WebhookDelivery),
})

export const getWebhookDelivery = operation({
  id: 'getWebhookDelivery',
  tag,
  method: 'get',
  path: '/v1/webhooks/{id}/deliveries/{delivery_id}',
  summary: 'Retrieve a delivery',
  description: 'Includes the payload, which may contain personal data, and the result of each attempt.',
  roles: admins,
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
    'Makes one attempt now, before all other deliveries and even while the endpoint is paused. A `retrying` delivery keeps its schedule. A delivery that is `failed` or `exhausted` gets this one attempt.',
  agentAccess: 'confirm',
  roles: admins,
  params: DeliveryParams,
  response: WebhookDeliveryDetail,
  errors: ['delivery_already_succeeded', 'delivery_in_progress', 'endpoint_inactive'],
})

export const testWebhook = operation({
  id: 'testWebhook',
  tag,
  ...action('/v1/webhooks', 'whk', 'test'),
  summary: 'Send a test event',
  description:
    'Delivers the example of an event kind in the same way as a real event. The endpoint need not subscribe to it.',
  agentAccess: 'confirm',
  roles: admins,
  status: 201,
  body: TestWebhook,
  example: { event: 'purchase.action' },
  response: WebhookDeliveryDetail,
  errors: ['endpoint_inactive'],
})

export const recoverWebhookDeliveries = operation({
  id: 'recoverWebhookDeliveries',
  tag,
  ...action('/v1/webhooks', 'whk', 'recover'),
  summary: 'Send failed deliveries again',
  description:
    'Starts the retry schedule again for `failed` and `exhausted` deliveries that were created from `since` to `until`. While the endpoint fails, the answer says what its deliveries wait for and when the next one is attempted. Events that happened while the endpoint was switched off have no deliveries: `include_missed` sends them too.',
  agentAccess: 'confirm',
  roles: admins,
  body: RecoverDeliveries,
  example: { since: '2026-06-01T00:00:00Z', until: '2026-06-02T00:00:00Z' },
  response: Recovered,
  errors: ['endpoint_inactive'],
})
