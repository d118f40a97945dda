import { Hono } from 'hono'
import type { AppContext, AppEnv } from '../../http/env.ts'
import { logError } from '../../http/log.ts'
import { limitFiles } from '../../http/middleware/rate-limit.ts'
import { parseJson, readBody } from '../../http/requests/body.ts'
import { receiveVerdict } from './scanning/scan.ts'
import { serveAddress, serveCopy, serveFile } from './serving/serve.ts'
import { canBecomeInfected, type FileAddress, findServedFile } from './serving/served-file.ts'

type ServeJob = Parameters<typeof findServedFile>[0]

const readAddress = (c: AppContext): FileAddress => ({
  id: c.req.param('id') ?? '',
  key: c.req.param('key') ?? '',
  variant: c.req.param('variant') ?? '',
  token: c.req.query('token'),
})

/** The URL without its query, so that all queries share one cached copy. */
const buildCacheKey = (c: AppContext): string => {
  const { origin, pathname } = new URL(c.req.url)
  return origin + pathname
}

/** Only whole files at URLs without a token are cached. */
const isCacheable = (c: AppContext): boolean =>
  c.req.query('token') === undefined && c.req.header('range') === undefined

async function serveFromCache(c: AppContext, job: ServeJob): Promise<Response | null> {
  if (!isCacheable(c)) return null
  if (canBecomeInfected(job) && !(await findServedFile(job, readAddress(c)))) return null
  const copy = await caches.default.match(buildCacheKey(c))
  return copy ? serveCopy(c.req.raw, copy) : null
}

const maxVerdictBytes = 10_000

/** Larger files are rare and not cached. */
const maxCachedBytes = 10_000_000

/** Reads the file again for the cache: if client and cache shared one stream, a slow client would fill the memory. */
async function storeInCache(c: AppContext, job: ServeJob): Promise<void> {
  const file = await findServedFile(job, readAddress(c))
  if (!file) return
  const { response } = await serveFile(job, file, new Request(buildCacheKey(c)), () => undefined)
  await caches.default.put(buildCacheKey(c), response)
}

const shouldCache = (c: AppContext, { status, headers }: Response): boolean =>
  isCacheable(c) && c.req.method === 'GET' && status === 200 && Number(headers.get('content-length')) <= maxCachedBytes

/** Lets work go on after the response, and logs its errors. */
const runInBackground = (c: AppContext, work: Promise<unknown>): void =>
  c.executionCtx.waitUntil(work.catch((error: unknown) => logError(c.var.requestId, error)))

async function serve(c: AppContext, job: ServeJob): Promise<Response> {
  const cachedResponse = await serveFromCache(c, job)
  if (cachedResponse) return cachedResponse
  await limitFiles(c)
  const { response, fault } = await serveAddress(job, readAddress(c), c.req.raw, (work) => runInBackground(c, work))
  if (fault !== undefined) logError(c.var.requestId, fault)
  if (shouldCache(c, response)) runInBackground(c, storeInCache(c, job))
  return response
}

const readVerdict = async (c: AppContext): Promise<Record<string, unknown>> =>
  parseJson(await readBody(c, maxVerdictBytes), c.req.raw.headers)

/** The routes that need no access token, because the URL contains a key. */
export function buildServedFileRoutes(open: (c: AppContext) => ServeJob): Hono<AppEnv> {
  const routes = new Hono<AppEnv>({ strict: false })
  routes.get('/files/:id/:key/:variant', (c) => serve(c, open(c)))

  routes.post('/file-scans/:token', async (c) => {
    await receiveVerdict(open(c), c.req.param('token'), () => readVerdict(c))
    return c.body(null, 204, { 'cache-control': 'no-store' })
  })

  return routes
}
