import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { isDevelopment } from '../../environment'
import { shell } from '../../layout-routes'
import { choice, readListSearch, text } from '../../search'

const development = createRoute({
  getParentRoute: () => shell,
  path: 'development',
  /** `message` is the one that is open. */
  validateSearch: readListSearch({ channel: choice(['email', 'sms']), to: text, message: text }),
  component: lazyRouteComponent(() => import('./development'), 'Development'),
})

/** Servers in production have none of it. */
export const developmentRoutes = isDevelopment ? [development] : []
