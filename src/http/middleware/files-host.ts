import type { MiddlewareHandler } from 'hono'
import { notFound } from '../../domain/errors.ts'
import type { AppEnv } from '../env.ts'

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
