import { mount, mountList, createRouter } from '../../http/operations/mount.ts'
import * as contract from './contract.ts'
import * as deliveries from './delivery/delivery-contract.ts'
import { eventRequests, listEventKinds } from './events/event-contract.ts'
import { presentDelivery, presentDeliveryItem, presentEndpoint, presentEndpointItem } from './present.ts'
import { listDeliveries } from './delivery/list.ts'
import { findDelivery, findEndpoint, listEndpoints, requireDeliveryRole } from './queries.ts'
import { recoverDeliveries, retryDelivery, sendTest } from './delivery/manual-sends.ts'
import { createEndpoint, deleteEndpoint, rotateSecret, updateEndpoint } from './write-endpoints.ts'

export const webhooks = createRouter()

webhooks.webhooks.push(...eventRequests)

mountList(webhooks, contract.listWebhooks, {
  list: (ctx, { query, filters, page }) => listEndpoints(ctx, page, query.ordering, filters),
  present: presentEndpointItem,
})

mount(webhooks, contract.createWebhook, {
  target: (body) => body,
  handle: (ctx, { body }) => createEndpoint(ctx, body),
  present: presentEndpoint,
  location: ({ id }) => `/v1/webhooks/${id}`,
})

// The path of a single endpoint would take `event-kinds` for an id.
mount(webhooks, contract.listWebhookEventKinds, {
  handle: async () => listEventKinds(),
  present: (kinds) => kinds,
  maxAge: 300,
})

mount(webhooks, contract.getWebhook, {
  load: (ctx, { id }) => findEndpoint(ctx, id),
  handle: async (_, { loaded }) => loaded,
  present: presentEndpoint,
})

mount(webhooks, contract.updateWebhook, {
  load: (ctx, { id }) => findEndpoint(ctx, id),
  handle: (ctx, { loaded, body }) => updateEndpoint(ctx, loaded, body),
  present: presentEndpoint,
})

mount(webhooks, contract.deleteWebhook, {
  load: (ctx, { id }) => findEndpoint(ctx, id),
  handle: (ctx, { loaded }) => deleteEndpoint(ctx, loaded),
  represent: (loaded, ctx) => presentEndpoint(loaded, ctx),
})

mount(webhooks, contract.rotateWebhookSecret, {
  load: (ctx, { id }) => findEndpoint(ctx, id),
  handle: (ctx, { loaded }) => rotateSecret(ctx, loaded),
  present: presentEndpoint,
})

mount(webhooks, deliveries.testWebhook, {
  load: (ctx, { id }) => findEndpoint(ctx, id),
  handle: (ctx, { loaded, body }) => sendTest(ctx, loaded, body.event),
  present: presentDelivery,
  location: ({ id, endpoint_id }) => `/v1/webhooks/${endpoint_id}/deliveries/${id}`,
})

mount(webhooks, deliveries.recoverWebhookDeliveries, {
  load: (ctx, { id }) => findEndpoint(ctx, id),
  handle: (ctx, { loaded, body }) => recoverDeliveries(ctx, loaded, body),
  present: (recovery) => recovery,
  represent: (loaded, ctx) => presentEndpoint(loaded, ctx),
})

mountList(webhooks, deliveries.listWebhookDeliveries, {
  load: (ctx, { id }) => findEndpoint(ctx, id),
  list: (ctx, { loaded, query, page }) => listDeliveries(ctx, loaded, page, query),
  present: presentDeliveryItem,
})

mount(webhooks, deliveries.getWebhookDelivery, {
  load: (ctx, { id, delivery_id }) => findDelivery(ctx, id, delivery_id),
  handle: async (ctx, { loaded }) => requireDeliveryRole(ctx, loaded),
  present: presentDelivery,
})

mount(webhooks, deliveries.retryWebhookDelivery, {
  load: (ctx, { id, delivery_id }) => findDelivery(ctx, id, delivery_id),
  handle: (ctx, { loaded }) => retryDelivery(ctx, requireDeliveryRole(ctx, loaded)),
  present: presentDelivery,
})
