import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { edition } from '../../layout-routes'
import { choice, readListSearch, text } from '../../search'

const list = createRoute({
  getParentRoute: () => edition,
  path: 'segments',
  validateSearch: readListSearch({
    search: text,
    only: choice(['edition']),
    status: choice(['draft', 'calculating', 'ready', 'failed']),
    communication_type: choice(['marketing', 'transactional']),
    communication_channel: choice(['email', 'sms']),
    ordering: choice([
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
    tab: choice(['members', 'person']),
    user: text,
    search: text,
    ordering: choice(['date_joined', '-date_joined']),
  }),
  component: lazyRouteComponent(() => import('./detail'), 'Segment'),
})

export const segmentRoutes = [list, detail] as const
