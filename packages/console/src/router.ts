import { createRouter } from '@tanstack/react-router'
import { edition, organization, root, shell, signIn, start } from './layout-routes'
import { auditLogRoutes } from './pages/audit-log/routes'
import { campaignRoutes } from './pages/campaigns/routes'
import { catalogueRoutes } from './pages/catalogue/routes'
import { consentRoutes } from './pages/consents/routes'
import { dataImportRoutes } from './pages/data-imports/routes'
import { developmentRoutes } from './pages/development/routes'
import { editionRoutes } from './pages/editions/routes'
import { emailMessageRoutes } from './pages/email-messages/routes'
import { fileRoutes } from './pages/files/routes'
import { orderRoutes } from './pages/orders/routes'
import { accountRoutes, organizationRoutes } from './pages/organizations/routes'
import { purchaseRoutes } from './pages/purchases/routes'
import { refundRoutes } from './pages/refunds/routes'
import { segmentRoutes } from './pages/segments/routes'
import { systemRoutes } from './pages/system/routes'
import { userRoutes } from './pages/users/routes'
import { webhookRoutes } from './pages/webhooks/routes'
import { Failure, NotFound } from './parts/failure'

const routes = root.addChildren([
  signIn,
  shell.addChildren([
    start,
    edition.addChildren([
      ...editionRoutes,
      ...orderRoutes,
      ...purchaseRoutes,
      ...refundRoutes,
      ...userRoutes,
      ...campaignRoutes,
      ...emailMessageRoutes,
      ...segmentRoutes,
      ...dataImportRoutes,
      ...webhookRoutes,
      ...fileRoutes,
      ...catalogueRoutes,
      ...consentRoutes,
    ]),
    organization.addChildren([...organizationRoutes, ...auditLogRoutes]),
    ...accountRoutes,
    ...systemRoutes,
    ...developmentRoutes,
  ]),
])

export const router = createRouter({
  routeTree: routes,
  basepath: '/console',
  defaultPreload: 'intent',
  defaultErrorComponent: Failure,
  defaultNotFoundComponent: NotFound,
  scrollRestoration: true,
  // Parameters that the page does not know leave the address.
  search: { strict: true },
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
