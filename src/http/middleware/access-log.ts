import type { MiddlewareHandler } from 'hono'
import { newId } from '../../domain/ids.ts'
import { type Meter, newMeter } from '../../domain/meter.ts'
import type { AppEnv } from '../env.ts'
import { logLine } from '../log.ts'

const formatCost = (meter: Meter): string =>
  `db;desc="${Object.entries(meter)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')}"`

/** The share of responses below 400 that production logs. */
const sampledShare = 0.1

const isLogged = (status: number, environment: string): boolean =>
  status >= 400 || environment !== 'production' || Math.random() < sampledShare

/**
 * Logs one line for each request. In production it logs one for each fault, for each use of the previous root token, and
 * for one of ten other requests. The path is left out, because its query can contain personal data.
 */
export const accessLog = (): MiddlewareHandler<AppEnv> => async (c, next) => {
  const startedAt = performance.now()
  const meter = newMeter()
  c.set('meter', meter)
  await next()
  const duration = Math.round(performance.now() - startedAt)
  c.res.headers.set('server-timing', `app;dur=${duration}`)
  // Only tests get the cost: the number of rows read would tell a hidden row from a missing one.
  if (c.env.ENVIRONMENT === 'test') return c.res.headers.append('server-timing', formatCost(meter))
  const credential = c.var.ctx?.caller.credential
  if (!isLogged(c.res.status, c.env.ENVIRONMENT || 'production') && credential?.kind !== 'previous_root') return
  logLine({
    level: c.res.status >= 500 ? 'error' : 'info',
    request_id: c.var.requestId,
    operation: c.var.operationId ?? null,
    method: c.req.method,
    status: c.res.status,
    duration_ms: duration,
    ...meter,
    token_id: credential?.id ?? credential?.kind ?? null,
  })
}

/** Puts an X-Request-Id on every response: the client's if it is plain, or else a new one. */
export const requestId = (): MiddlewareHandler<AppEnv> => async (c, next) => {
  const clientId = c.req.header('x-request-id')
  const isPlain = clientId !== undefined && /^[\w.-]{1,64}$/.test(clientId)
  const id = isPlain ? clientId : newId('request', Date.now(), Math.random, c.env.CELL)
  c.set('requestId', id)
  await next()
  c.res.headers.set('x-request-id', id)
}
