import { createRootRoute, createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { queries } from './api'
import { caller, readLastEdition } from './caller'
import { readSearch, text } from './search'
import { readPendingSignIn, readToken } from './session'

export const root = createRootRoute()

export const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: readSearch({ to: text }),
  component: lazyRouteComponent(() => import('./pages/sign-in/sign-in'), 'SignIn'),
})

/** The parent of every page that needs a signed-in person. */
export const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  beforeLoad: ({ location }) => {
    if (!readToken() || readPendingSignIn()) throw redirect({ to: '/sign-in', search: { to: location.publicHref } })
  },
  component: lazyRouteComponent(() => import('./shell'), 'Shell'),
})

/** The start: the edition of the last visit, or the first one. */
export const start = createRoute({
  getParentRoute: () => shell,
  path: '/',
  loader: async () => {
    const { data } = await queries.ensureQueryData(caller)
    const edition = data.editions.find(({ id }) => id === readLastEdition()) ?? data.editions[0]
    if (edition) throw redirect({ to: '/editions/$edition', params: { edition: edition.id } })
  },
  component: lazyRouteComponent(() => import('./pages/start/start'), 'Start'),
})

/** The parent of the pages of an edition. */
export const edition = createRoute({ getParentRoute: () => shell, path: '/editions/$edition' })

/** The parent of the pages of an organisation. */
export const organization = createRoute({ getParentRoute: () => shell, path: '/organizations/$organization' })
