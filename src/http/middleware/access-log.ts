import type { MiddlewareHandler } from 'hono'
import { newMeter } from '../../domain/meter.ts'
import type { AppEnv } from '../env.ts'
import { logLine } from '../log.ts'

/** One line a request. The path is left out: it may hold what a query asks for, and the operation says enough. */
export const accessLog = (): MiddlewareHandler<AppEnv> => async (c, next) => {
  const started = performance.now()
  const meter = newMeter()
  c.set('meter', meter)
  await next()
  const duration = Math.round(performance.now() - started)
  c.header('server-timing', `app;dur=${duration}`)
  if (c.env.ENVIRONMENT === 'test') return
  logLine({
    level: c.res.status >= 500 ? 'error' : 'info',
    request_id: c.var.requestId,
    operation: c.var.operationId ?? null,
    method: c.req.method,
    status: c.res.status,
    duration_ms: duration,
    ...meter,
    token_id: c.var.ctx?.caller.credential.id ?? c.var.ctx?.caller.credential.kind ?? null,
  })
}
