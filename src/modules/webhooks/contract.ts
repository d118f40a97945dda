import { z } from '@hono/zod-openapi'
import { roleCodes, admins, managers } from '../../domain/accounts/access.ts'
import { IdParams } from '../../http/fields.ts'
import { action, operation } from '../../http/operations/operation.ts'
import { BooleanFilter, ListPage, type ListRequest, IdFilter, listQuery } from '../../http/requests/list-query.ts'
import {
  CreateWebhook,
  EventKindName,
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
        schema: z.record(z.string(), z.unknown()).openapi({ description: 'The JSON Schema of the request body.' }),
        example: z.record(z.string(), z.unknown()).openapi({ description: 'An example of the request body.' }),
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

export type WebhookQuery = ListRequest<typeof listWebhooksQuery>

export const listWebhooks = operation({
  id: 'listWebhooks',
  tag,
  method: 'get',
  path: '/v1/webhooks',
  summary: 'List webhook endpoints',
  description: 'Newest first. Only roles of the organisation see endpoints without an edition.',
  roles: managers,
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
    'Returns the secret that signs the requests. An admin of an edition must set `edition_id` to that edition.',
  agentAccess: 'confirm',
  roles: admins,
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
  description:
    'The kinds that you can subscribe to, each with its meaning, the JSON Schema of its payload and an example.',
  roles: roleCodes,
  response: EventKinds,
})

export const getWebhook = operation({
  id: 'getWebhook',
  tag,
  method: 'get',
  path: '/v1/webhooks/{id}',
  summary: 'Retrieve a webhook endpoint',
  description: 'Includes the secret if you are an admin and your token has the scope `write`.',
  roles: managers,
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
    'Fields that you leave out do not change. Retries go to the new address. To change `edition_id` you need a role for both editions, or for the organisation when one of them is null.',
  agentAccess: 'confirm',
  roles: admins,
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
  description: 'Deletes the endpoint with all its deliveries. Nothing more is sent to it.',
  agentAccess: 'confirm',
  roles: admins,
  status: 204,
  params: IdParams('whk'),
})

export const rotateWebhookSecret = operation({
  id: 'rotateWebhookSecret',
  tag,
  ...action('/v1/webhooks', 'whk', 'rotate-secret'),
  summary: 'Rotate the secret',
  description:
    'Returns a new secret. For 24 hours requests are signed with both the new and the previous secret. If you rotate again in that time, the older one ends at once.',
  agentAccess: 'none',
  roles: admins,
  response: WebhookEndpointDetail,
})
