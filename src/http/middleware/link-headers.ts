import type { MiddlewareHandler } from 'hono'
import type { AppEnv } from '../env.ts'

/** For pages that links of messages open: not cached, not indexed, and the link is not sent to other pages. */
export const linkHeaders = (): MiddlewareHandler<AppEnv> => async (c, next) => {
  await next()
  c.header('cache-control', 'no-store')
  c.header('referrer-policy', 'no-referrer')
  c.header('x-robots-tag', 'noindex')
}
