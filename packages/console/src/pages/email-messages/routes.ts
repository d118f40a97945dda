import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { edition } from '../../layout-routes'
import { choice, readListSearch } from '../../search'

const list = createRoute({
  getParentRoute: () => edition,
  path: 'email-messages',
  validateSearch: readListSearch({
    type: choice([
      'receipt',
      'receipt_online',
      'reminder',
      'refund_confirmation',
      'user_portal_access',
      'campaign',
      'other',
    ]),
    scope: choice(['edition', 'template', 'platform']),
    ordering: choice(['created', '-created', 'modified', '-modified', 'title', '-title']),
  }),
  component: lazyRouteComponent(() => import('./list'), 'EmailMessages'),
})

const detail = createRoute({
  getParentRoute: () => edition,
  path: 'email-messages/$message',
  component: lazyRouteComponent(() => import('./editor'), 'EmailMessage'),
})

export const emailMessageRoutes = [list, detail] as const
