import { mountStream } from '../../http/operations/mount-stream.ts'
import { mount, mountList, createRouter } from '../../http/operations/mount.ts'
import * as contract from './contract.ts'
import * as deliveries from './delivery/delivery-contract.ts'
import { listOrganizationWebhookDeliveries, listWebhookDeliveries } from './delivery/list.ts'
import { recoverWebhookDeliveries, retryWebhookDelivery, testWebhook } from './delivery/manual-sends.ts'
import { eventRequests, listWebhookEventKinds } from './events/event-contract.ts'
import * as feed from './events/feed-contract.ts'
import { listWebhookEvents } from './events/list.ts'
import { findStreamScope, streamWebhookEvents } from './events/stream.ts'
import { listWebhooks } from './list.ts'
import {
  presentDelivery,
  presentDeliveryItem,
  presentEndpoint,
  presentEndpointItem,
  presentEvent,
  presentRecovery,
} from './present.ts'
import { findDelivery, findEndpoint, requireDeliveryRole } from './queries.ts'
import { createWebhook, deleteWebhook, rotateWebhookSecret, updateWebhook } from './write-endpoints.ts'

export const webhookRoutes = createRouter()

webhookRoutes.webhooks.push(...eventRequests)

mountList(webhookRoutes, contract.listWebhooks, {
  list: listWebhooks,
  present: presentEndpointItem,
})

mount(webhookRoutes, contract.createWebhook, {
  target: (body) => body,
  handle: (ctx, { body }) => createWebhook(ctx, body),
  present: presentEndpoint,
  location: ({ id }) => `/v1/webhooks/${id}`,
})

// The path of a single endpoint would take `event-kinds`, `events` and `deliveries` for ids.
mount(webhookRoutes, contract.listWebhookEventKinds, {
  handle: async () => listWebhookEventKinds(),
  present: (kinds) => kinds,
  maxAge: 300,
})

mountList(webhookRoutes, feed.listWebhookEvents, {
  list: listWebhookEvents,
  present: presentEvent,
})

mountList(webhookRoutes, deliveries.listOrganizationWebhookDeliveries, {
  list: listOrganizationWebhookDeliveries,
  present: presentDeliveryItem,
})

mountStream(webhookRoutes, feed.streamWebhookEvents, {
  load: (ctx, _, query) => findStreamScope(ctx, query),
  handle: (ctx, input) => streamWebhookEvents(ctx, input),
})

mount(webhookRoutes, contract.getWebhook, {
  load: (ctx, { id }) => findEndpoint(ctx, id),
  handle: async (_, { resource }) => resource,
  present: presentEndpoint,
})

mount(webhookRoutes, contract.updateWebhook, {
  load: (ctx, { id }) => findEndpoint(ctx, id),
  handle: (ctx, { resource, body }) => updateWebhook(ctx, resource, body),
  present: presentEndpoint,
})

mount(webhookRoutes, contract.deleteWebhook, {
  load: (ctx, { id }) => findEndpoint(ctx, id),
  handle: (ctx, { resource }) => deleteWebhook(ctx, resource),
  represent: (resource, ctx) => presentEndpoint(resource, ctx),
})

mount(webhookRoutes, contract.rotateWebhookSecret, {
  load: (ctx, { id }) => findEndpoint(ctx, id),
  handle: (ctx, { resource }) => rotateWebhookSecret(ctx, resource),
  present: presentEndpoint,
})

mount(webhookRoutes, deliveries.testWebhook, {
  load: (ctx, { id }) => findEndpoint(ctx, id),
  handle: (ctx, { resource, body }) => testWebhook(ctx, resource, body.event),
  present: presentDelivery,
  location: ({ id, endpoint_id }) => `/v1/webhooks/${endpoint_id}/deliveries/${id}`,
})

mount(webhookRoutes, deliveries.recoverWebhookDeliveries, {
  load: (ctx, { id }) => findEndpoint(ctx, id),
  handle: (ctx, { resource, body }) => recoverWebhookDeliveries(ctx, resource, body),
  present: presentRecovery,
  represent: (resource, ctx) => presentEndpoint(resource, ctx),
})

mountList(webhookRoutes, deliveries.listWebhookDeliveries, {
  load: (ctx, { id }) => findEndpoint(ctx, id),
  list: listWebhookDeliveries,
  present: presentDeliveryItem,
})

mount(webhookRoutes, deliveries.getWebhookDelivery, {
  load: (ctx, { id, delivery_id }) => findDelivery(ctx, id, delivery_id),
  handle: async (ctx, { resource }) => requireDeliveryRole(ctx, resource),
  present: presentDelivery,
})

mount(webhookRoutes, deliveries.retryWebhookDelivery, {
  load: (ctx, { id, delivery_id }) => findDelivery(ctx, id, delivery_id),
  handle: (ctx, { resource }) => retryWebhookDelivery(ctx, requireDeliveryRole(ctx, resource)),
  present: presentDelivery,
})
