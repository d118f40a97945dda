import { mount, mountList, createRouter } from '../../http/operations/mount.ts'
import * as contract from './contract.ts'
import * as deliveries from './delivery/delivery-contract.ts'
import { listWebhookDeliveries } from './delivery/list.ts'
import { recoverWebhookDeliveries, retryWebhookDelivery, testWebhook } from './delivery/manual-sends.ts'
import { eventRequests, listWebhookEventKinds } from './events/event-contract.ts'
import { listWebhooks } from './list.ts'
import {
  presentDelivery,
  presentDeliveryItem,
  presentEndpoint,
  presentEndpointItem,
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

// The path of a single endpoint would take `event-kinds` for an id.
mount(webhookRoutes, contract.listWebhookEventKinds, {
  handle: async () => listWebhookEventKinds(),
  present: (kinds) => kinds,
  maxAge: 300,
})

mount(webhookRoutes, contract.getWebhook, {
  load: (ctx, { id }) => findEndpoint(ctx, id),
  handle: async (_, { loaded }) => loaded,
  present: presentEndpoint,
})

mount(webhookRoutes, contract.updateWebhook, {
  load: (ctx, { id }) => findEndpoint(ctx, id),
  handle: (ctx, { loaded, body }) => updateWebhook(ctx, loaded, body),
  present: presentEndpoint,
})

mount(webhookRoutes, contract.deleteWebhook, {
  load: (ctx, { id }) => findEndpoint(ctx, id),
  handle: (ctx, { loaded }) => deleteWebhook(ctx, loaded),
  represent: (loaded, ctx) => presentEndpoint(loaded, ctx),
})

mount(webhookRoutes, contract.rotateWebhookSecret, {
  load: (ctx, { id }) => findEndpoint(ctx, id),
  handle: (ctx, { loaded }) => rotateWebhookSecret(ctx, loaded),
  present: presentEndpoint,
})

mount(webhookRoutes, deliveries.testWebhook, {
  load: (ctx, { id }) => findEndpoint(ctx, id),
  handle: (ctx, { loaded, body }) => testWebhook(ctx, loaded, body.event),
  present: presentDelivery,
  location: ({ id, endpoint_id }) => `/v1/webhooks/${endpoint_id}/deliveries/${id}`,
})

mount(webhookRoutes, deliveries.recoverWebhookDeliveries, {
  load: (ctx, { id }) => findEndpoint(ctx, id),
  handle: (ctx, { loaded, body }) => recoverWebhookDeliveries(ctx, loaded, body),
  present: presentRecovery,
  represent: (loaded, ctx) => presentEndpoint(loaded, ctx),
})

mountList(webhookRoutes, deliveries.listWebhookDeliveries, {
  load: (ctx, { id }) => findEndpoint(ctx, id),
  list: listWebhookDeliveries,
  present: presentDeliveryItem,
})

mount(webhookRoutes, deliveries.getWebhookDelivery, {
  load: (ctx, { id, delivery_id }) => findDelivery(ctx, id, delivery_id),
  handle: async (ctx, { loaded }) => requireDeliveryRole(ctx, loaded),
  present: presentDelivery,
})

mount(webhookRoutes, deliveries.retryWebhookDelivery, {
  load: (ctx, { id, delivery_id }) => findDelivery(ctx, id, delivery_id),
  handle: (ctx, { loaded }) => retryWebhookDelivery(ctx, requireDeliveryRole(ctx, loaded)),
  present: presentDelivery,
})
