import type { MiddlewareHandler } from 'hono'
import { type Meter, newMeter } from '../../domain/meter.ts'
import type { AppEnv } from '../env.ts'
import { logLine } from '../log.ts'
import { newId } from '../../domain/ids.ts'

const costOf = (meter: Meter): string =>
  `db;desc="${Object.entries(meter)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')}"`

/** One line for each request. The path is left out, because it may contain personal data of a query. */
export const accessLog = (): MiddlewareHandler<AppEnv> => async (c, next) => {
  const started = performance.now()
  const meter = newMeter()
  c.set('meter', meter)
  await next()
  const duration = Math.round(performance.now() - started)
  c.res.headers.set('server-timing', `app;dur=${duration}`)
  // For tests alone: the number of rows read would distinguish a hidden row from one that does not exist.
  if (c.env.ENVIRONMENT === 'test') return c.res.headers.append('server-timing', costOf(meter))
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

/** The caller's own X-Request-Id when it is a plain one, else a new one; on every response. */
export const requestId = (): MiddlewareHandler<AppEnv> => async (c, next) => {
  const given = c.req.header('x-request-id')
  const isPlain = given !== undefined && /^[\w.-]{1,64}$/.test(given)
  const id = isPlain ? given : newId('request', Date.now(), Math.random, c.env.CELL)
  c.set('requestId', id)
  await next()
  c.res.headers.set('x-request-id', id)
}
