import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { shell } from '../../layout-routes'
import { flag, choice, readListSearch, text } from '../../search'

const getParentRoute = () => shell

const status = createRoute({
  getParentRoute,
  path: 'system',
  component: lazyRouteComponent(() => import('./status'), 'SystemStatus'),
})

const deadMessages = createRoute({
  getParentRoute,
  path: 'system/dead-messages',
  validateSearch: readListSearch({
    queue: text,
    is_retried: flag,
    created_after: text,
    created_before: text,
    ordering: choice(['created', '-created']),
  }),
  component: lazyRouteComponent(() => import('./dead-messages'), 'DeadMessages'),
})

const organizations = createRoute({
  getParentRoute,
  path: 'system/organizations',
  validateSearch: readListSearch({ search: text, ordering: choice(['name', '-name', 'created', '-created']) }),
  component: lazyRouteComponent(() => import('./organizations'), 'Organizations'),
})

export const systemRoutes = [status, deadMessages, organizations] as const
