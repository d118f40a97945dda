import { Hono } from 'hono'
import { parseJson, readBody } from '../../http/requests/body.ts'
import type { AppContext, AppEnv } from '../../http/env.ts'
import { parseBody } from '../../http/requests/validation.ts'
import { readCapturedRecords, type RecordsCtx, setCapturedRecords } from './captured-records.ts'
import { CapturedTexts } from './contract.ts'

/** `/dev/dns/{name}`: the records that the capture gateway of DNS answers, in development and tests. */
export function devDns(open: (c: AppContext) => RecordsCtx): Hono<AppEnv> {
  const routes = new Hono<AppEnv>({ strict: false })
  routes.use('/dev/dns/*', async (c, next) => {
    await next()
    c.header('cache-control', 'no-store')
  })
  routes.get('/dev/dns/:name', async (c) => c.json({ texts: await readCapturedRecords(open(c), c.req.param('name')) }))
  routes.put('/dev/dns/:name', async (c) => {
    const body = parseJson(await readBody(c), c.req.raw.headers)
    const texts = await setCapturedRecords(open(c), c.req.param('name'), () => parseBody(CapturedTexts, body).texts)
    return c.json({ texts })
  })
  return routes
}
