import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { edition } from '../../layout-routes'
import { oneOf, readListSearch, text } from '../../search'

const list = createRoute({
  getParentRoute: () => edition,
  path: 'segments',
  validateSearch: readListSearch({
    search: text,
    only: oneOf(['edition']),
    status: oneOf(['draft', 'calculating', 'ready', 'failed']),
    communication_type: oneOf(['marketing', 'transactional']),
    communication_channel: oneOf(['email', 'sms']),
    ordering: oneOf([
      'created',
      '-created',
      'modified',
      '-modified',
      'name',
      '-name',
      'user_count',
      '-user_count',
      'calculated_at',
      '-calculated_at',
    ]),
  }),
  component: lazyRouteComponent(() => import('./list'), 'Segments'),
})

const detail = createRoute({
  getParentRoute: () => edition,
  path: 'segments/$segment',
  validateSearch: readListSearch({
    tab: oneOf(['members', 'person']),
    user: text,
    search: text,
    ordering: oneOf(['date_joined', '-date_joined']),
  }),
  component: lazyRouteComponent(() => import('./detail'), 'Segment'),
})

export const segmentRoutes = [list, detail] as const
