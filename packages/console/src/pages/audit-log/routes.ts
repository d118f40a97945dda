import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { organization } from '../../layout-routes'
import { choice, readListSearch, text } from '../../search'

const list = createRoute({
  getParentRoute: () => organization,
  path: 'audit-log',
  validateSearch: readListSearch({
    actor_id: text,
    action: text,
    resource_type: text,
    resource_id: text,
    created_after: text,
    created_before: text,
    ordering: choice(['created', '-created']),
  }),
  component: lazyRouteComponent(() => import('./list'), 'AuditLog'),
})

export const auditLogRoutes = [list] as const
