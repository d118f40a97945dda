import { Hono } from 'hono'
import { parseJson, readBody } from '../../http/requests/body.ts'
import type { AppContext, AppEnv } from '../../http/env.ts'
import { logError } from '../../http/log.ts'
import { limitFiles } from '../../http/middleware/rate-limit.ts'
import { takeScanAnswer } from './scanning/scan.ts'
import { serveAddress, serveCopy, serveFile } from './serving/serve.ts'
import { type FileAddress, findServedFile } from './serving/served-file.ts'

type ServeJob = Parameters<typeof findServedFile>[0]

const addressOf = (c: AppContext): FileAddress => ({
  id: c.req.param('id') ?? '',
  key: c.req.param('key') ?? '',
  variant: c.req.param('variant') ?? '',
  token: c.req.query('token'),
})

/** The address without its query, so that all queries share one copy. */
const copyAddress = (c: AppContext): string => {
  const { origin, pathname } = new URL(c.req.url)
  return origin + pathname
}

/** The cache keeps whole files at addresses without a token. Parts are read from the store. */
const isForCopies = (c: AppContext): boolean =>
  c.req.query('token') === undefined && c.req.header('range') === undefined

async function fromCopy(c: AppContext): Promise<Response | null> {
  if (!isForCopies(c)) return null
  const copy = await caches.default.match(copyAddress(c))
  return copy ? serveCopy(c.req.raw, copy) : null
}

const maxAnswerBytes = 10_000

/** Larger files are rare, and are not copied into the cache. */
const maxCopiedBytes = 10_000_000

/** Reads the file from the store once more: with one stream for both, a slow client would keep the bytes in memory. */
async function keepCopy(c: AppContext, job: ServeJob): Promise<void> {
  const file = await findServedFile(job, addressOf(c))
  if (!file) return
  const { response } = await serveFile(job, file, new Request(copyAddress(c)), () => undefined)
  await caches.default.put(copyAddress(c), response)
}

const isCopied = (c: AppContext, { status, headers }: Response): boolean =>
  isForCopies(c) && c.req.method === 'GET' && status === 200 && Number(headers.get('content-length')) <= maxCopiedBytes

/** Logs the failure of work that goes on after the answer. */
const inBackground = (c: AppContext, work: Promise<unknown>): void =>
  c.executionCtx.waitUntil(work.catch((error: unknown) => logError(c.var.requestId, error)))

async function serve(c: AppContext, job: ServeJob): Promise<Response> {
  const copied = await fromCopy(c)
  if (copied) return copied
  await limitFiles(c)
  const { response, fault } = await serveAddress(job, addressOf(c), c.req.raw, (work) => inBackground(c, work))
  if (fault !== undefined) logError(c.var.requestId, fault)
  if (isCopied(c, response)) inBackground(c, keepCopy(c, job))
  return response
}

const scanAnswer = async (c: AppContext): Promise<Record<string, unknown>> =>
  parseJson(await readBody(c, maxAnswerBytes), c.req.raw.headers)

/** The routes that need no token of the API, only the address of a file. */
export function servedFiles(open: (c: AppContext) => ServeJob): Hono<AppEnv> {
  const routes = new Hono<AppEnv>({ strict: false })
  routes.get('/files/:id/:key/:variant', (c) => serve(c, open(c)))

  routes.post('/file-scans/:token', async (c) => {
    await takeScanAnswer(open(c), c.req.param('token'), () => scanAnswer(c))
    return c.body(null, 204, { 'cache-control': 'no-store' })
  })

  return routes
}
