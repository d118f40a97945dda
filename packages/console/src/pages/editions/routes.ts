import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { edition } from '../../layout-routes'
import { settingsTabs } from '../../parts/check-link'
import { choice, readSearch } from '../../search'

const home = createRoute({
  getParentRoute: () => edition,
  path: '/',
  component: lazyRouteComponent(() => import('./home'), 'Home'),
})

const settings = createRoute({
  getParentRoute: () => edition,
  path: 'settings',
  validateSearch: readSearch({ tab: choice(settingsTabs) }),
  component: lazyRouteComponent(() => import('./settings'), 'EditionSettings'),
})

export const editionRoutes = [home, settings] as const
