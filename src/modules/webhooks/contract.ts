import { z } from '@hono/zod-openapi'
import { roleCodes } from '../../domain/accounts/access.ts'
import { IdParams } from '../../http/fields.ts'
import { BooleanFilter, ListPage, type ListFilters, IdFilter, listQuery } from '../../http/requests/list-query.ts'
import { operation } from '../../http/operations/operation.ts'
import {
  CreateWebhook,
  EventKindName,
  keepers,
  readers,
  UpdateWebhook,
  WebhookEndpoint,
  WebhookEndpointDetail,
} from './endpoint-contract.ts'

const EventKinds = z
  .object({
    results: z.array(
      z.object({
        kind: EventKindName,
        meaning: z.string(),
        schema: z.record(z.string(), z.unknown()).openapi({ description: 'JSON Schema of the whole payload.' }),
        example: z.record(z.string(), z.unknown()).openapi({ description: 'A whole payload.' }),
      }),
    ),
  })
  .openapi('WebhookEventKinds')

const tag = 'Webhooks' as const

const listWebhooksQuery = listQuery({
  ordering: ['created', 'modified', 'name'],
  filters: {
    edition_id: IdFilter.optional(),
    organization_id: IdFilter.optional(),
    is_active: BooleanFilter.optional(),
  },
})

export type WebhookFilters = ListFilters<typeof listWebhooksQuery>
export type WebhookOrdering = z.output<typeof listWebhooksQuery>['ordering']

export const listWebhooks = operation({
  id: 'listWebhooks',
  tag,
  method: 'get',
  path: '/v1/webhooks',
  summary: 'List webhook endpoints',
  description: 'Newest first. Endpoints without an edition are seen by roles of the organisation alone.',
  roles: readers,
  query: listWebhooksQuery,
  response: ListPage(WebhookEndpoint),
})

export const createWebhook = operation({
  id: 'createWebhook',
  tag,
  method: 'post',
  path: '/v1/webhooks',
  summary: 'Create a webhook endpoint',
  description:
    'The answer has the secret that signs the requests. An admin of an edition names that edition in `edition_id`.',
  roles: keepers,
  status: 201,
  body: CreateWebhook,
  example: {
    organization_id: 'org_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
    name: 'Warehouse',
    url: 'https://hooks.example.com/event-commerce',
    events: ['purchase.action', 'consent.withdrawn'],
  },
  response: WebhookEndpointDetail,
  errors: ['edition_archived'],
})

export const listWebhookEventKinds = operation({
  id: 'listWebhookEventKinds',
  tag,
  method: 'get',
  path: '/v1/webhooks/event-kinds',
  summary: 'List the kinds of events',
  description: 'Each kind that endpoints can subscribe to, with what it means, the JSON Schema of its payload and one.',
  roles: roleCodes,
  response: EventKinds,
})

export const getWebhook = operation({
  id: 'getWebhook',
  tag,
  method: 'get',
  path: '/v1/webhooks/{id}',
  summary: 'Retrieve a webhook endpoint',
  description: 'With the secret for admins whose token has the scope `write`, without it for others.',
  roles: readers,
  params: IdParams('whk'),
  response: WebhookEndpointDetail,
})

export const updateWebhook = operation({
  id: 'updateWebhook',
  tag,
  method: 'patch',
  path: '/v1/webhooks/{id}',
  summary: 'Update a webhook endpoint',
  description:
    'Fields that are left out stay. Attempts go to the address of their moment. Moving an endpoint needs a role at both places; without an edition that is a role of the organisation.',
  roles: keepers,
  params: IdParams('whk'),
  body: UpdateWebhook,
  example: { name: 'Warehouse', is_active: false },
  response: WebhookEndpointDetail,
  errors: ['edition_archived'],
})

export const deleteWebhook = operation({
  id: 'deleteWebhook',
  tag,
  method: 'delete',
  path: '/v1/webhooks/{id}',
  summary: 'Delete a webhook endpoint',
  description: 'With all its deliveries; nothing more is sent to it.',
  roles: keepers,
  status: 204,
  params: IdParams('whk'),
})

export const rotateWebhookSecret = operation({
  id: 'rotateWebhookSecret',
  tag,
  method: 'post',
  path: '/v1/webhooks/{id}/rotate-secret',
  summary: 'Rotate the secret',
  description:
    'Answers with a new secret. For 24 hours requests carry two signatures, by the new secret and by the one before; rotating again in that time ends the one before at once.',
  roles: keepers,
  params: IdParams('whk'),
  response: WebhookEndpointDetail,
})
