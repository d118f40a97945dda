import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { edition } from '../../layout-routes'
import { choice, readListSearch, text } from '../../search'

const list = createRoute({
  getParentRoute: () => edition,
  path: 'customers',
  validateSearch: readListSearch({
    search: text,
    scope: choice(['organization']),
    ordering: choice([
      'email',
      '-email',
      'phone_number',
      '-phone_number',
      'date_joined',
      '-date_joined',
      'last_seen',
      '-last_seen',
    ]),
  }),
  component: lazyRouteComponent(() => import('./list'), 'Customers'),
})

const detail = createRoute({
  getParentRoute: () => edition,
  path: 'customers/$customer',
  validateSearch: readListSearch({
    tab: choice(['orders', 'tickets', 'refunds', 'messages', 'consents', 'segments', 'activity']),
    ordering: text,
  }),
  component: lazyRouteComponent(() => import('./detail'), 'Customer'),
})

export const userRoutes = [list, detail] as const
