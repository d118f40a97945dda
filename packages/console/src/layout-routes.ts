import { createRootRoute, createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { queries } from './api'
import { caller, readLastEdition } from './caller'
import { UnknownAddress } from './parts/failure'
import { readSearch, text } from './search'
import { readPendingSignIn, readToken } from './session'

export const root = createRootRoute({ notFoundComponent: UnknownAddress })

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
    // The page waits for the person. Its chunks load meanwhile.
    void queries.prefetchQuery(caller)
  },
  component: lazyRouteComponent(() => import('./shell'), 'Shell'),
})

const organizationPages = new Set(['audit-log', 'editions', 'members', 'merchant-accounts', 'sender-domains', 'tokens'])
const servicePages = new Set(['development', 'system'])

/** The name of a page, which `ecm open` writes into the address. */
const pageName = (value: unknown): string | undefined =>
  typeof value === 'string' && /^[a-z-]{1,40}$/.test(value) ? value : undefined

/** The start: the edition of the last visit, or the first one. `open` names one of its pages, or of its organisation. */
export const start = createRoute({
  getParentRoute: () => shell,
  path: '/',
  validateSearch: readSearch({ open: pageName }),
  beforeLoad: async ({ search }) => {
    const { open = '' }: { open?: string } = search
    const { data } = await queries.ensureQueryData(caller)
    const last = data.editions.find(({ id }) => id === readLastEdition()) ?? data.editions[0]
    const owner = last?.organization_id ?? data.organizations[0]?.id
    if (servicePages.has(open)) throw redirect({ to: `/${open}` as never })
    if (owner && organizationPages.has(open)) throw redirect({ to: `/organizations/${owner}/${open}` as never })
    if (last) throw redirect({ to: `/editions/${last.id}/${open}` as never })
  },
  component: lazyRouteComponent(() => import('./pages/start/start'), 'Start'),
})

/** The parent of the pages of an edition. */
export const edition = createRoute({
  getParentRoute: () => shell,
  path: '/editions/$edition',
  component: lazyRouteComponent(() => import('./shell/gates'), 'EditionGate'),
})

/** The parent of the pages of an organisation. */
export const organization = createRoute({
  getParentRoute: () => shell,
  path: '/organizations/$organization',
  component: lazyRouteComponent(() => import('./shell/gates'), 'OrganizationGate'),
})
