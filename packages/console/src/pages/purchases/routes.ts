import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { edition } from '../../layout-routes'

const checkIn = createRoute({
  getParentRoute: () => edition,
  path: 'check-in',
  component: lazyRouteComponent(() => import('./check-in'), 'CheckIn'),
})

export const purchaseRoutes = [checkIn] as const
