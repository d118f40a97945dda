import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { edition } from '../../layout-routes'
import { flag, choice, readListSearch, text } from '../../search'

const consents = createRoute({
  getParentRoute: () => edition,
  path: 'consents',
  validateSearch: readListSearch({
    search: text,
    only: choice(['edition']),
    type: choice(['marketing', 'terms', 'privacy', 'photo', 'data_sharing', 'custom']),
    is_active: flag,
    ordering: choice(['created', '-created', 'modified', '-modified', 'name', '-name', 'position', '-position']),
  }),
  component: lazyRouteComponent(() => import('./list'), 'Consents'),
})

const consent = createRoute({
  getParentRoute: () => edition,
  path: 'consents/$consent',
  component: lazyRouteComponent(() => import('./detail'), 'Consent'),
})

const forms = createRoute({
  getParentRoute: () => edition,
  path: 'signup-forms',
  validateSearch: readListSearch({
    is_active: flag,
    ordering: choice(['created', '-created', 'modified', '-modified', 'name', '-name']),
  }),
  component: lazyRouteComponent(() => import('./signup-forms'), 'SignupForms'),
})

const form = createRoute({
  getParentRoute: () => edition,
  path: 'signup-forms/$form',
  component: lazyRouteComponent(() => import('./signup-form'), 'SignupForm'),
})

const suppressions = createRoute({
  getParentRoute: () => edition,
  path: 'suppressions',
  validateSearch: readListSearch({
    channel: choice(['email', 'sms']),
    reason: choice(['unsubscribed', 'complaint', 'hard_bounce', 'invalid']),
    address: text,
    ordering: choice(['created', '-created', 'address', '-address']),
  }),
  component: lazyRouteComponent(() => import('./suppressions'), 'Suppressions'),
})

export const consentRoutes = [consents, consent, forms, form, suppressions] as const
