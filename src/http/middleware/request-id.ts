import type { MiddlewareHandler } from 'hono'
import { newId } from '../../domain/ids.ts'
import type { AppEnv } from '../env.ts'

/** The caller's own X-Request-Id when it is a plain one, else a new one; on every response. */
export const requestId = (): MiddlewareHandler<AppEnv> => async (c, next) => {
  const given = c.req.header('x-request-id')
  const isPlain = given !== undefined && /^[\w.-]{1,64}$/.test(given)
  const id = isPlain ? given : newId('request', Date.now(), Math.random, c.env.CELL)
  c.set('requestId', id)
  await next()
  c.res.headers.set('x-request-id', id)
}
