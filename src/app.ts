import { Hono } from 'hono'
import { secureHeaders } from 'hono/secure-headers'
import { notFound } from './domain/errors.ts'
import { readConfig } from './entry/config.ts'
import { openJob } from './entry/job.ts'
import { openRequest } from './entry/request.ts'
import { docsPage, docsScript } from './http/pages/docs.ts'
import type { AppContext, AppEnv, Bindings } from './http/env.ts'
import { accessLog, requestId } from './http/middleware/access-log.ts'
import { crossOrigin, filesHost } from './http/middleware/cors.ts'
import { limitFailedSignIns } from './http/middleware/failed-sign-ins.ts'
import { rateLimit } from './http/middleware/rate-limit.ts'
import { logError } from './http/log.ts'
import { openApiDocument } from './http/openapi.ts'
import { reference } from './http/pages/reference.ts'
import { buildErrorResponse } from './http/problem.ts'
import type { Router } from './http/operations/mount.ts'
import { createMethodCheck, createRouteError } from './http/operations/unrouted.ts'
import { auditLog } from './modules/audit-log/routes.ts'
import { auth } from './modules/auth/routes.ts'
import { campaigns } from './modules/campaigns/routes.ts'
import { consentPages } from './modules/consent-pages/routes.ts'
import { consents } from './modules/consents/routes.ts'
import { importRoutes } from './modules/data-imports/routes.ts'
import { editions } from './modules/editions/routes.ts'
import { emailMessages } from './modules/email-messages/routes.ts'
import { files, servedFiles } from './modules/files/routes.ts'
import { merchantAccountRoutes } from './modules/merchant-accounts/routes.ts'
import { orderRoutes } from './modules/orders/routes.ts'
import { organizations } from './modules/organizations/routes.ts'
import { devMailbox } from './modules/dev-mailbox/routes.ts'
import { personalDataRoutes } from './modules/personal-data/routes.ts'
import { purchaseRoutes } from './modules/purchases/routes.ts'
import { refundBatchRoutes } from './modules/refund-batches/routes.ts'
import { refundRoutes } from './modules/refunds/routes.ts'
import { buildPaymentEventRoutes, refundPaymentRoutes } from './modules/refund-payments/routes.ts'
import { segmentRoutes } from './modules/segments/routes.ts'
import { devDns, senderDomains } from './modules/sender-domains/routes.ts'
import { messageEvents } from './modules/message-events/routes.ts'
import { suppressionRoutes } from './modules/suppressions/routes.ts'
import { userRoutes } from './modules/users/routes.ts'
import { wallet, walletPasses } from './modules/wallet/routes.ts'
import { webhooks } from './modules/webhooks/routes.ts'

export type { Bindings }

export const routers: readonly Router[] = [
  auth,
  organizations,
  senderDomains,
  editions,
  orderRoutes,
  purchaseRoutes,
  refundRoutes,
  refundPaymentRoutes,
  refundBatchRoutes,
  userRoutes,
  files,
  importRoutes,
  segmentRoutes,
  emailMessages,
  campaigns,
  consents,
  suppressionRoutes,
  webhooks,
  auditLog,
  personalDataRoutes,
  walletPasses,
  merchantAccountRoutes,
]

export const operations = routers.flatMap((router) => router.operations)

let document: string | undefined

const refuse = (c: AppContext, error: unknown): Response => {
  const { status, headers, body } = buildErrorResponse(c, error)
  return new Response(body, { status, headers: { ...headers, 'cache-control': 'no-store' } })
}

/** The context of paths that need no access token. */
const openPublic = (c: AppContext) => openJob(c.env, c.var.meter)

export const app = new Hono<AppEnv>({ strict: false })

app.use(requestId(), accessLog(), secureHeaders({ crossOriginResourcePolicy: 'cross-origin' }), crossOrigin())
app.use(filesHost())

app.get('/healthz', async (c) => {
  const isReachable = await c.env.DB.prepare('select 1')
    .first()
    .then(
      () => true,
      () => false,
    )
  return c.json(
    { status: isReachable ? 'ok' : 'unavailable', database: isReachable ? 'reached' : 'not reached' },
    isReachable ? 200 : 503,
  )
})
app.get('/openapi.json', (c) => {
  document ??= JSON.stringify(openApiDocument(routers))
  return c.body(document, 200, { 'content-type': 'application/json', 'cache-control': 'public, max-age=300' })
})
app.get('/docs', () => docsPage())
app.get('/docs/scalar.js', (c) => docsScript(c.env.ASSETS, c.req.url))

app.route(
  '/',
  reference((c) => readConfig(c.env).environment !== 'production'),
)

// Production reads no body of a path that it does not have.
app.use('/dev/*', (c, next) =>
  readConfig(c.env).environment === 'production' ? Promise.resolve(refuse(c, notFound())) : next(),
)
app.route('/', devMailbox(openPublic))
app.route('/', messageEvents(openPublic))
app.route('/', buildPaymentEventRoutes(openPublic))
app.route('/', consentPages(openPublic))
app.route('/', devDns(openPublic))
app.route('/', servedFiles(openPublic))
app.route('/', wallet(openPublic))

app.use('/v1/*', async (c, next) => {
  c.set('afterCommit', [])
  c.set('ctx', await limitFailedSignIns(c, () => openRequest(c)))
  await next()
  if (c.res.status < 400)
    for (const work of c.var.afterCommit)
      c.executionCtx.waitUntil(work().catch((error: unknown) => logError(c.var.requestId, error)))
})
app.use('/v1/*', rateLimit())
let checkMethod: ReturnType<typeof createMethodCheck> | undefined
app.use('/v1/*', async (c, next) => {
  checkMethod ??= createMethodCheck(app.routes)
  checkMethod(c.req.method, c.req.path)
  await next()
})
for (const { hono } of routers) app.route('/', hono)

app.notFound((c) => refuse(c, createRouteError(app.routes, c.req.path)))
app.onError((error, c) => refuse(c, error))
