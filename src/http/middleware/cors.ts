import type { MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'
import { notFound } from '../../domain/errors.ts'
import { readSetting } from '../../domain/settings/settings.ts'
import type { AppEnv } from '../env.ts'

const exposedHeaders = [
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

/** True for the origins of CORS_ORIGINS, and in development also for this machine. */
export function isAllowedOrigin(env: AppEnv['Bindings'], origin: string): boolean {
  const allowedOrigins = readSetting(env, 'CORS_ORIGINS') ?? []
  return (env.ENVIRONMENT === 'development' && isLocal(origin)) || allowedOrigins.includes(origin)
}

export function crossOrigin(): MiddlewareHandler<AppEnv> {
  const applyCors = cors({
    origin: (origin, c: { env: AppEnv['Bindings'] }) => (origin && isAllowedOrigin(c.env, origin) ? origin : null),
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
      'Last-Event-ID',
      'MCP-Protocol-Version',
      'X-D1-Bookmark',
      'X-Request-Id',
    ],
    exposeHeaders: exposedHeaders,
    maxAge: 86_400,
  })
  return async (c, next) => {
    if (c.req.header('origin') !== undefined) return applyCors(c, next)
    await next()
    c.res.headers.append('vary', 'Origin')
  }
}

const getHost = (url: string): string => new URL(url).host.replace(/\.(?=:|$)/, '')

/**
 * If FILES_URL is set, its host serves only files and other hosts redirect to it, so that a page hidden in a file shares no
 * origin with the API.
 */
export const filesHost = (): MiddlewareHandler<AppEnv> => async (c, next) => {
  const filesUrl = c.env.FILES_URL
  if (!filesUrl) return next()
  const isFile = c.req.path.startsWith('/files/')
  if (getHost(c.req.url) === getHost(filesUrl)) {
    if (!isFile) throw notFound()
    return next()
  }
  if (!isFile || !['GET', 'HEAD'].includes(c.req.method)) return next()
  const { pathname, search } = new URL(c.req.url)
  c.header('cache-control', 'no-store')
  return c.redirect(new URL(filesUrl).origin + pathname + search, 308)
}
