import type { MiddlewareHandler } from 'hono'
import type { AppEnv } from '../env.ts'

/** Of what links of messages open: it stays out of caches and search engines, and no other page learns the link. */
export const linkHeaders = (): MiddlewareHandler<AppEnv> => async (c, next) => {
  await next()
  c.header('cache-control', 'no-store')
  c.header('referrer-policy', 'no-referrer')
  c.header('x-robots-tag', 'noindex')
}
