import { Hono } from 'hono'
import { readBody } from '../../http/body.ts'
import type { AppContext, AppEnv } from '../../http/env.ts'
import { limitConfirmations, limitLinks } from '../../http/middleware/rate-limit.ts'
import { askPage, donePage, pagePolicy, unknownPage } from './page.ts'
import { isEventProvider, receiveEvents } from './provider-events.ts'
import { unsubscribe } from './unsubscribe.ts'
import { findDeparture, followLink, openPixel, type Visit } from './visits.ts'

type Job = Parameters<typeof followLink>[0]

/** A transparent picture of one point. */
const pixel = Uint8Array.from(
  atob('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'),
  (character) => character.codePointAt(0) ?? 0,
)

const maxEventBytes = 262_144

const visitOf = (c: AppContext): Visit => ({ method: c.req.method, agent: c.req.header('user-agent') ?? null })

const htmlOf = (c: AppContext, body: string, status: 200 | 404 = 200) =>
  c.html(body, status, { 'content-security-policy': pagePolicy })

/** What people and providers reach without a token of the API: links of messages, and what became of these. */
export function tracking(open: (c: AppContext) => Job): Hono<AppEnv> {
  const routes = new Hono<AppEnv>({ strict: false })

  routes.use('/t/*', async (c, next) => {
    await next()
    c.header('cache-control', 'no-store')
    c.header('referrer-policy', 'no-referrer')
    c.header('x-robots-tag', 'noindex')
  })

  routes.use('/t/*', limitLinks())

  routes.get('/t/c/:token', async (c) => {
    const followed = await followLink(open(c), c.req.param('token'), visitOf(c))
    if (!followed) return htmlOf(c, unknownPage(), 404)
    c.executionCtx.waitUntil(followed.note())
    return c.redirect(followed.result, 302)
  })

  routes.get('/t/o/:token', async (c) => {
    const opened = await openPixel(open(c), c.req.param('token'), visitOf(c))
    if (!opened) return htmlOf(c, unknownPage(), 404)
    c.executionCtx.waitUntil(opened.note())
    return c.body(pixel, 200, { 'content-type': 'image/gif' })
  })

  // Programs look at every link, so looking changes nothing.
  routes.get('/t/u/:token', async (c) => {
    const found = await findDeparture(open(c), c.req.param('token'))
    if (!found) return htmlOf(c, unknownPage(), 404)
    return htmlOf(c, askPage(found.row.language, found.organization_name, found.row.address))
  })

  routes.post('/t/u/:token', async (c) => {
    await limitConfirmations(c, c.req.param('token'))
    const job = open(c)
    const found = await findDeparture(job, c.req.param('token'))
    if (!found) return htmlOf(c, unknownPage(), 404)
    await unsubscribe(job, { ...found.row, campaign_id: found.campaign_id })
    return htmlOf(c, donePage(found.row.language, found.organization_name, found.row.address))
  })

  // Not limited by address: others can make our provider post here too, from the addresses that it posts our events
  // from. What is forged costs a signature's check and no look at the database.
  routes.post('/provider-events/:provider', async (c) => {
    const provider = c.req.param('provider')
    if (!isEventProvider(provider)) return c.body(null, 404)
    const body = new TextDecoder().decode(await readBody(c, maxEventBytes))
    return c.body(null, (await receiveEvents(open(c), provider, { headers: c.req.raw.headers, body })) ? 200 : 401)
  })

  return routes
}
