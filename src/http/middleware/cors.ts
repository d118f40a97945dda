import type { MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'
import type { AppEnv } from '../env.ts'
import { notFound } from '../../domain/errors.ts'

const exposed = [
  'ETag',
  'Link',
  'Location',
  'Retry-After',
  'RateLimit-Policy',
  'Idempotency-Replayed',
  'X-Request-Id',
  'X-D1-Bookmark',
]

const isLocal = (origin: string): boolean => /^http:\/\/(localhost|127\.0\.0\.1)(:\d+)?$/.test(origin)

/** Browsers of the configured origins; in development those of this machine too. */
export function crossOrigin(): MiddlewareHandler<AppEnv> {
  const judge = cors({
    origin: (origin, c: { env: AppEnv['Bindings'] }) => {
      const allowed = c.env.CORS_ORIGINS.split(',').map((entry) => entry.trim())
      const local = c.env.ENVIRONMENT === 'development' && isLocal(origin)
      return origin && (local || allowed.includes(origin)) ? origin : null
    },
    allowMethods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowHeaders: [
      'Authorization',
      'Content-Digest',
      'Content-Disposition',
      'Content-Type',
      'Idempotency-Key',
      'X-Idempotency-Key',
      'If-Match',
      'If-None-Match',
      'X-D1-Bookmark',
      'X-Request-Id',
    ],
    exposeHeaders: exposed,
    maxAge: 86_400,
  })
  return async (c, next) => {
    if (c.req.header('origin') !== undefined) return judge(c, next)
    await next()
    c.res.headers.append('vary', 'Origin')
  }
}

const hostOf = (url: string): string => new URL(url).host.replace(/\.(?=:|$)/, '')

/**
 * Where FILES_URL is set, its host serves files and nothing else, and the others lead there: a page that hides in a file
 * finds no API beside it.
 */
export const filesHost = (): MiddlewareHandler<AppEnv> => async (c, next) => {
  const filesUrl = c.env.FILES_URL
  if (!filesUrl) return next()
  const isFile = c.req.path.startsWith('/files/')
  if (hostOf(c.req.url) === hostOf(filesUrl)) {
    if (!isFile) throw notFound()
    return next()
  }
  if (!isFile || !['GET', 'HEAD'].includes(c.req.method)) return next()
  const { pathname, search } = new URL(c.req.url)
  c.header('cache-control', 'no-store')
  return c.redirect(new URL(filesUrl).origin + pathname + search, 308)
}
