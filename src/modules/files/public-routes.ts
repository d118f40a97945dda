import { Hono } from 'hono'
import { LostRace } from '../../domain/errors.ts'
import { parseJson, readBody } from '../../http/requests/body.ts'
import type { AppContext, AppEnv } from '../../http/env.ts'
import { logError } from '../../http/log.ts'
import { limitFiles } from '../../http/middleware/rate-limit.ts'
import { takeScanAnswer } from './scanning/scan.ts'
import { type Served, serveCopy, serveFile } from './serving/serve.ts'
import { type FileAddress, findServedFile, openServedFile, type ServedFile } from './serving/served-file.ts'

type ServeJob = Parameters<typeof findServedFile>[0]

const addressOf = (c: AppContext): FileAddress => ({
  id: c.req.param('id') ?? '',
  key: c.req.param('key') ?? '',
  variant: c.req.param('variant') ?? '',
  token: c.req.query('token'),
})

/** The address without its query: nothing that a client adds makes another copy. */
const copyAddress = (c: AppContext): string => {
  const { origin, pathname } = new URL(c.req.url)
  return origin + pathname
}

/** Copies are whole, and stand for those addresses that need no token. Parts are read from the store. */
const isForCopies = (c: AppContext): boolean =>
  c.req.query('token') === undefined && c.req.header('range') === undefined

async function fromCopy(c: AppContext): Promise<Response | null> {
  if (!isForCopies(c)) return null
  const copy = await caches.default.match(copyAddress(c))
  return copy ? serveCopy(c.req.raw, copy) : null
}

const maxAnswerBytes = 10_000

/** Larger files are rare, and read from the store each time. */
const maxCopiedBytes = 10_000_000

/** Read anew from the store: a client that reads slowly would hold the bytes of both in memory. */
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

/** Parts by a row that an earlier request read, as copies are; by a fresh one where that turns out to be out of date. */
async function fromStore(c: AppContext, job: ServeJob): Promise<Served> {
  const address = addressOf(c)
  const answer = (file: ServedFile) => serveFile(job, file, c.req.raw, (work) => inBackground(c, work))
  const file = await openServedFile(job, address, { mayBeRecent: c.req.header('range') !== undefined })
  try {
    return await answer(file)
  } catch (error) {
    if (!(error instanceof LostRace)) throw error
    return answer(await openServedFile(job, address))
  }
}

async function serve(c: AppContext, job: ServeJob): Promise<Response> {
  const copied = await fromCopy(c)
  if (copied) return copied
  await limitFiles(c)
  const { response, fault } = await fromStore(c, job)
  if (fault !== undefined) logError(c.var.requestId, fault)
  if (isCopied(c, response)) inBackground(c, keepCopy(c, job))
  return response
}

const scanAnswer = async (c: AppContext): Promise<Record<string, unknown>> =>
  parseJson(await readBody(c, maxAnswerBytes), c.req.raw.headers)

/** What everybody with the address of a file reaches without a token of the API. */
export function servedFiles(open: (c: AppContext) => ServeJob): Hono<AppEnv> {
  const routes = new Hono<AppEnv>({ strict: false })
  routes.get('/files/:id/:key/:variant', (c) => serve(c, open(c)))

  routes.post('/file-scans/:token', async (c) => {
    await takeScanAnswer(open(c), c.req.param('token'), () => scanAnswer(c))
    return c.body(null, 204, { 'cache-control': 'no-store' })
  })

  return routes
}
