import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { organization, shell } from '../../layout-routes'
import { flag, choice, readListSearch, text } from '../../search'

const settings = createRoute({
  getParentRoute: () => organization,
  path: '/',
  component: lazyRouteComponent(() => import('./settings'), 'OrganizationSettings'),
})

const editions = createRoute({
  getParentRoute: () => organization,
  path: 'editions',
  validateSearch: readListSearch({
    search: text,
    event_id: text,
    status: choice(['upcoming', 'current', 'past', 'no_dates']),
    is_draft: flag,
    is_archived: flag,
    ordering: choice(['created', '-created', 'modified', '-modified', 'start_date', '-start_date', 'name', '-name']),
  }),
  component: lazyRouteComponent(() => import('./editions'), 'Editions'),
})

const members = createRoute({
  getParentRoute: () => organization,
  path: 'members',
  validateSearch: readListSearch({
    role: choice(['admin', 'manager', 'viewer']),
    edition_id: text,
    ordering: choice(['created', '-created', 'role', '-role']),
  }),
  component: lazyRouteComponent(() => import('./members'), 'Members'),
})

const tokenSearch = readListSearch({ ordering: choice(['created', '-created']) })

const tokens = createRoute({
  getParentRoute: () => organization,
  path: 'tokens',
  validateSearch: tokenSearch,
  component: lazyRouteComponent(() => import('./tokens'), 'OrganizationTokens'),
})

const ownTokens = createRoute({
  getParentRoute: () => shell,
  path: 'access-tokens',
  validateSearch: tokenSearch,
  component: lazyRouteComponent(() => import('./tokens'), 'OwnTokens'),
})

const senderDomains = createRoute({
  getParentRoute: () => organization,
  path: 'sender-domains',
  validateSearch: readListSearch({ status: choice(['pending', 'verified']) }),
  component: lazyRouteComponent(() => import('./sender-domains'), 'SenderDomains'),
})

const merchantAccounts = createRoute({
  getParentRoute: () => organization,
  path: 'merchant-accounts',
  validateSearch: readListSearch({
    type: choice(['stripe', 'manual', 'test']),
    is_active: flag,
    ordering: choice(['created', '-created', 'name', '-name']),
  }),
  component: lazyRouteComponent(() => import('./merchant-accounts'), 'MerchantAccounts'),
})

export const organizationRoutes = [settings, editions, members, tokens, senderDomains, merchantAccounts] as const
export const accountRoutes = [ownTokens] as const
