import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import type { Schema } from '../../api'
import { edition } from '../../layout-routes'
import { flag, choice, readListSearch, text } from '../../search'

const deliveryStatuses = ['pending', 'retrying', 'success', 'failed', 'exhausted'] as const

const deliveryFilters = {
  status: choice(deliveryStatuses),
  event: text,
  response_status_code: text,
  resource_id: text,
  created_after: text,
  created_before: text,
  ordering: choice(['created', '-created', 'modified', '-modified', 'name', '-name']),
}

/** The kinds of events, which `words` must not bring into the first load. */
const eventKinds = [
  'consent.given',
  'consent.skipped',
  'consent.withdrawn',
  'consent.expired',
  'purchase.action',
  'wallet.vendorA.pass-added',
  'wallet.vendorA.pass-removed',
  'wallet.vendorB.pass-added',
  'order.created',
  'order.updated',
  'order.cancelled',
  'refund.completed',
  'refund.failed',
  'import.completed',
  'campaign.sent',
  'message.bounced',
  'message.complained',
  'user.updated',
  'user.merged',
  'webhook.disabled',
] as const satisfies readonly Schema['WebhookEventKind'][]

const list = createRoute({
  getParentRoute: () => edition,
  path: 'webhooks',
  validateSearch: readListSearch({
    is_active: flag,
    ordering: choice(['created', '-created', 'modified', '-modified', 'name', '-name']),
  }),
  component: lazyRouteComponent(() => import('./list'), 'Webhooks'),
})

const detail = createRoute({
  getParentRoute: () => edition,
  path: 'webhooks/$webhook',
  validateSearch: readListSearch({ ...deliveryFilters, tab: choice(['deliveries', 'settings', 'verify']) }),
  component: lazyRouteComponent(() => import('./endpoint'), 'Endpoint'),
})

const delivery = createRoute({
  getParentRoute: () => edition,
  path: 'webhooks/$webhook/deliveries/$delivery',
  component: lazyRouteComponent(() => import('./delivery'), 'Delivery'),
})

const deliveries = createRoute({
  getParentRoute: () => edition,
  path: 'webhook-deliveries',
  validateSearch: readListSearch({ ...deliveryFilters, endpoint_id: text, edition_id: text }),
  component: lazyRouteComponent(() => import('./deliveries'), 'Deliveries'),
})

const events = createRoute({
  getParentRoute: () => edition,
  path: 'webhook-events',
  validateSearch: readListSearch({
    kind: choice(eventKinds),
    resource_id: text,
    created_after: text,
    created_before: text,
    event: text,
    ordering: choice(['cursor', '-cursor']),
  }),
  component: lazyRouteComponent(() => import('./events'), 'Events'),
})

export const webhookRoutes = [list, detail, delivery, deliveries, events] as const
