import { Hono } from 'hono'
import { secureHeaders } from 'hono/secure-headers'
import { notFound } from './domain/errors.ts'
import { version } from './domain/version.ts'
import { describeOutgoing } from './domain/waiting.ts'
import { loadClock } from './entry/clock.ts'
import { readConfig } from './entry/config.ts'
import { buildDevClockRoutes } from './entry/dev-clock.ts'
import { describeProviders } from './entry/gateways.ts'
import { openDatabase, openJob } from './entry/job.ts'
import { openPublicRequest, openRequest } from './entry/request.ts'
import type { OperationDocument } from './http/document/operation-page.ts'
import type { AppContext, AppEnv, Bindings } from './http/env.ts'
import { logError } from './http/log.ts'
import { buildMcpRoutes } from './http/mcp/routes.ts'
import { accessLog, requestId } from './http/middleware/access-log.ts'
import { crossOrigin, filesHost } from './http/middleware/cors.ts'
import { limitFailedSessions, limitFailedSignIns } from './http/middleware/failed-sign-ins.ts'
import { limitPublic, rateLimit } from './http/middleware/rate-limit.ts'
import { openApiDocument } from './http/openapi.ts'
import type { Router } from './http/operations/mount.ts'
import { createMethodCheck, createRouteError } from './http/operations/unrouted.ts'
import { buildConsoleRoutes } from './http/pages/console.ts'
import { docsPage } from './http/pages/docs.ts'
import { buildEmailPreviewRoutes } from './http/pages/email-preview.ts'
import { buildReferenceRoutes } from './http/pages/reference.ts'
import { buildErrorResponse } from './http/problem.ts'
import { activityRoutes } from './modules/activity/routes.ts'
import { auditLogRoutes } from './modules/audit-log/routes.ts'
import { authRoutes } from './modules/auth/routes.ts'
import { campaignRoutes } from './modules/campaigns/routes.ts'
import { catalogueRoutes } from './modules/catalogue/routes.ts'
import { buildConsentPageRoutes } from './modules/consent-pages/routes.ts'
import { consentRoutes } from './modules/consents/routes.ts'
import { importRoutes } from './modules/data-imports/routes.ts'
import { buildDevMailboxRoutes } from './modules/dev-mailbox/routes.ts'
import { editionRoutes } from './modules/editions/routes.ts'
import { emailMessageRoutes } from './modules/email-messages/routes.ts'
import { fileRoutes, buildServedFileRoutes } from './modules/files/routes.ts'
import { merchantAccountRoutes } from './modules/merchant-accounts/routes.ts'
import { buildMessageEventRoutes } from './modules/message-events/routes.ts'
import { orderActionRoutes } from './modules/order-actions/routes.ts'
import { orderRoutes } from './modules/orders/routes.ts'
import { organizationRoutes } from './modules/organizations/routes.ts'
import { personalDataRoutes } from './modules/personal-data/routes.ts'
import { purchaseRoutes } from './modules/purchases/routes.ts'
import { refundBatchRoutes } from './modules/refund-batches/routes.ts'
import { buildPaymentEventRoutes, refundPaymentRoutes } from './modules/refund-payments/routes.ts'
import { refundRoutes } from './modules/refunds/routes.ts'
import { segmentRoutes } from './modules/segments/routes.ts'
import { buildDevDnsRoutes, senderDomainRoutes } from './modules/sender-domains/routes.ts'
import { buildSignupPageRoutes, signupFormRoutes } from './modules/signup-forms/routes.ts'
import { suppressionRoutes } from './modules/suppressions/routes.ts'
import { buildMetricsRoutes, loadHealth, systemRoutes } from './modules/system/routes.ts'
import { buildExamplePageRoutes, testMessageRoutes } from './modules/test-messages/routes.ts'
import { userImportRoutes } from './modules/user-import/routes.ts'
import { userRoutes } from './modules/users/routes.ts'
import { buildWalletRoutes, walletPassRoutes } from './modules/wallet/routes.ts'
import { webhookRoutes } from './modules/webhooks/routes.ts'

export type { Bindings }

export const routers: readonly Router[] = [
  authRoutes,
  organizationRoutes,
  senderDomainRoutes,
  editionRoutes,
  catalogueRoutes,
  orderRoutes,
  orderActionRoutes,
  purchaseRoutes,
  refundRoutes,
  refundPaymentRoutes,
  refundBatchRoutes,
  userRoutes,
  activityRoutes,
  userImportRoutes,
  fileRoutes,
  importRoutes,
  segmentRoutes,
  emailMessageRoutes,
  campaignRoutes,
  testMessageRoutes,
  consentRoutes,
  signupFormRoutes,
  suppressionRoutes,
  webhookRoutes,
  auditLogRoutes,
  personalDataRoutes,
  walletPassRoutes,
  merchantAccountRoutes,
  systemRoutes,
]

export const operations = routers.flatMap((router) => router.operations)

let openApiJson: string | undefined
let openApi: OperationDocument | undefined

const loadDocument = () => (openApi ??= openApiDocument(routers) as unknown as OperationDocument)

const refuse = (c: AppContext, error: unknown): Response => {
  const { status, headers, body } = buildErrorResponse(c, error)
  return new Response(body, { status, headers: { ...headers, 'cache-control': 'no-store' } })
}

/** The context of paths that need no access token. */
const openPublic = (c: AppContext) => openJob(c.env, c.var.meter)

/**
 * Starts the work that `addAfterCommit` and `ctx.afterCommit` left for the time after the response, such as posts to
 * webhook endpoints. It also runs after a failed request, because a request with several transactions can fail after some
 * of them are committed.
 */
function runAfterCommit(c: AppContext): void {
  for (const work of c.var.afterCommit)
    c.executionCtx.waitUntil(work().catch((error: unknown) => logError(c.var.requestId, error)))
}

export const app = new Hono<AppEnv>({ strict: false })

app.use(requestId(), accessLog(), secureHeaders({ crossOriginResourcePolicy: 'cross-origin' }), crossOrigin())
app.use(filesHost())
app.use(async (c, next) => {
  await loadClock(c.env)
  await next()
})

app.get('/healthz', async (c) => {
  const { status, ...health } = await loadHealth(openDatabase(c.env), Date.now())
  return c.json(
    { status, version, ...health, ...describeProviders(c.env) },
    { status: status === 'ok' ? 200 : 503, headers: { 'cache-control': 'no-store' } },
  )
})
app.get('/openapi.json', (c) => {
  openApiJson ??= JSON.stringify(loadDocument())
  return c.body(openApiJson, 200, { 'content-type': 'application/json', 'cache-control': 'public, max-age=300' })
})
app.get('/docs', () => docsPage())
// The script is a file that comes before the Worker.
app.get('/docs/scalar.js', () => {
  throw notFound('The reference is not built here. `npm run build:console` builds it.')
})
app.route(
  '/',
  buildEmailPreviewRoutes((c) => readConfig(c.env).files.url),
)
app.route(
  '/',
  buildConsoleRoutes((c) => {
    const config = readConfig(c.env)
    const { environment, oidc, signIn, files } = config
    return {
      isDevelopment: environment !== 'production',
      outgoing: describeOutgoing(config),
      issuer: signIn.methods.includes('oidc') ? (oidc?.issuer ?? null) : null,
      filesUrl: files.url,
    }
  }),
)

app.route(
  '/',
  buildReferenceRoutes({
    isDevelopment: (c) => readConfig(c.env).environment !== 'production',
    operations,
    loadDocument,
  }),
)
app.route(
  '/',
  buildMcpRoutes({
    operations,
    loadDocument,
    send: async (c, request) => app.fetch(request, c.env, c.executionCtx),
  }),
)

// `/dev` paths do not exist in production, so they are refused before a route reads the body.
app.use('/dev/*', (c, next) =>
  readConfig(c.env).environment === 'production' ? Promise.resolve(refuse(c, notFound())) : next(),
)
app.route('/', buildDevMailboxRoutes(openPublic))
app.route('/', buildDevClockRoutes())
app.route('/', buildExamplePageRoutes())
app.route('/', buildMessageEventRoutes(openPublic))
app.route('/', buildPaymentEventRoutes(openPublic))
app.route('/', buildConsentPageRoutes(openPublic))
app.route('/', buildSignupPageRoutes(openPublic))
app.route('/', buildDevDnsRoutes(openPublic))
app.route('/', buildServedFileRoutes(openPublic))
app.route('/', buildWalletRoutes(openPublic))
app.route('/', buildMetricsRoutes(openPublic))

/** The paths of public operations contain no ids. */
const publicRoutes = new Set(
  operations.filter(({ isPublic }) => isPublic).map(({ method, path }) => `${method.toUpperCase()} ${path}`),
)

const isPublicRequest = (c: AppContext): boolean =>
  publicRoutes.has(`${c.req.method === 'HEAD' ? 'GET' : c.req.method} ${c.req.path.replace(/\/$/, '')}`)

app.use('/v1/*', async (c, next) => {
  c.set('afterCommit', [])
  c.set('ctx', isPublicRequest(c) ? openPublicRequest(c) : await limitFailedSignIns(c, () => openRequest(c)))
  await next()
  runAfterCommit(c)
})
app.use('/v1/*', (c, next) => (isPublicRequest(c) ? limitPublic(c, next) : rateLimit(c, next)))
app.use('/v1/auth/sessions', limitFailedSessions())
let checkMethod: ReturnType<typeof createMethodCheck> | undefined
app.use('/v1/*', async (c, next) => {
  checkMethod ??= createMethodCheck(app.routes)
  checkMethod(c.req.method, c.req.path)
  await next()
})
for (const { hono } of routers) app.route('/', hono)

app.notFound((c) => refuse(c, createRouteError(app.routes, c.req.path)))
app.onError((error, c) => refuse(c, error))
