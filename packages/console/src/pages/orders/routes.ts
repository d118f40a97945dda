import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { edition } from '../../layout-routes'
import { choice, readListSearch, readSearch, text } from '../../search'

const orderings = [
  'created',
  '-created',
  'modified',
  '-modified',
  'order_number',
  '-order_number',
  'status',
  '-status',
  'type',
  '-type',
  'amount',
  '-amount',
] as const

const list = createRoute({
  getParentRoute: () => edition,
  path: 'orders',
  validateSearch: readListSearch({
    search: text,
    customer_name: text,
    status: choice(['pending', 'confirmed', 'completed', 'cancelled']),
    type: choice(['online', 'in-person', 'imported']),
    created_after: text,
    created_before: text,
    external_id: text,
    source: text,
    ticket_code: text,
    product_id: text,
    data_import_id: text,
    customer_id: text,
    transaction_id: text,
    ordering: choice(orderings),
  }),
  component: lazyRouteComponent(() => import('./list'), 'Orders'),
})

const detail = createRoute({
  getParentRoute: () => edition,
  path: 'orders/$order',
  /** The ticket that is open. */
  validateSearch: readSearch({ ticket: text }),
  component: lazyRouteComponent(() => import('./detail'), 'Order'),
})

export const orderRoutes = [list, detail] as const
