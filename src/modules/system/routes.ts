import { Hono } from 'hono'
import type { AppContext, AppEnv } from '../../http/env.ts'
import { limitFailedSignIns } from '../../http/middleware/failed-sign-ins.ts'
import { createRouter, mount, mountList } from '../../http/operations/mount.ts'
import * as contract from './contract.ts'
import { listDeadMessages } from './list.ts'
import { checkMetricsToken, formatMetrics, metricsType, requireMetrics } from './metrics.ts'
import { presentDeadMessage, presentStatus } from './present.ts'
import { findDeadMessage, loadStatus, type MetricsCtx } from './queries.ts'
import { retryDeadMessage } from './retry.ts'

export { loadHealth } from './health.ts'

export const systemRoutes = createRouter()

mount(systemRoutes, contract.getSystemStatus, {
  handle: (ctx) => loadStatus(ctx),
  present: presentStatus,
})

mountList(systemRoutes, contract.listDeadMessages, {
  list: listDeadMessages,
  present: presentDeadMessage,
})

mount(systemRoutes, contract.retryDeadMessage, {
  load: (ctx, { id }) => findDeadMessage(ctx, id),
  handle: (ctx, { resource }) => retryDeadMessage(ctx, resource),
  present: presentDeadMessage,
})

/** `/metrics` shows the status as text for Prometheus, to callers with METRICS_TOKEN. */
export function buildMetricsRoutes(open: (c: AppContext) => MetricsCtx): Hono<AppEnv> {
  const routes = new Hono<AppEnv>({ strict: false })
  routes.get('/metrics', async (c) => {
    const job = open(c)
    requireMetrics(job.config)
    await limitFailedSignIns(c, async () => checkMetricsToken(job.config, c.req.header('authorization')))
    const text = formatMetrics(presentStatus(await loadStatus(job)))
    return c.body(text, 200, { 'content-type': metricsType, 'cache-control': 'no-store' })
  })
  return routes
}
