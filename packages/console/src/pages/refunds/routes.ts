import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { edition } from '../../layout-routes'
import { choice, readListSearch, text } from '../../search'

const list = createRoute({
  getParentRoute: () => edition,
  path: 'refunds',
  validateSearch: readListSearch({
    search: text,
    status: choice(['pending', 'approved', 'processing', 'completed', 'failed', 'rejected', 'cancelled']),
    reason: choice([
      'customer_request',
      'event_cancelled',
      'event_changed',
      'duplicate',
      'fraud',
      'product_unavailable',
      'other',
    ]),
    source: choice(['customer', 'admin', 'api', 'provider']),
    created_after: text,
    created_before: text,
    refund_batch_id: text,
    customer_id: text,
    order_id: text,
    ordering: choice([
      'created',
      '-created',
      'modified',
      '-modified',
      'requested_amount',
      '-requested_amount',
      'status',
      '-status',
    ]),
  }),
  component: lazyRouteComponent(() => import('./list'), 'Refunds'),
})

const detail = createRoute({
  getParentRoute: () => edition,
  path: 'refunds/$refund',
  component: lazyRouteComponent(() => import('./detail'), 'Refund'),
})

const batches = createRoute({
  getParentRoute: () => edition,
  path: 'refund-batches',
  validateSearch: readListSearch({
    status: choice(['counting', 'draft', 'running', 'finished', 'cancelled']),
    ordering: choice(['created', '-created', 'modified', '-modified']),
  }),
  component: lazyRouteComponent(() => import('./batches'), 'RefundBatches'),
})

const newBatch = createRoute({
  getParentRoute: () => edition,
  path: 'refund-batches/new',
  component: lazyRouteComponent(() => import('./new-batch'), 'NewRefundBatch'),
})

const batch = createRoute({
  getParentRoute: () => edition,
  path: 'refund-batches/$batch',
  component: lazyRouteComponent(() => import('./batch'), 'RefundBatch'),
})

export const refundRoutes = [list, detail, batches, newBatch, batch] as const
