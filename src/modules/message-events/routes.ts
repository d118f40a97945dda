import { Hono } from 'hono'
import { readBody } from '../../http/requests/body.ts'
import type { AppContext, AppEnv } from '../../http/env.ts'
import { linkHeaders } from '../../http/pages/html-page.ts'
import { limitConfirmations, limitLinks } from '../../http/middleware/rate-limit.ts'
import { pagePolicy, subscriptionPage, unknownPage } from './unsubscribe-page.ts'
import { providerOf, receiveEvents } from './provider-events.ts'
import { type Subscriber, subscriptionOf } from './subscription.ts'
import { resubscribe, unsubscribeAndCount } from './unsubscribe.ts'
import { findSubscriber, followLink, openPixel, type LinkVisit } from './visits.ts'

type RouteJob = Parameters<typeof followLink>[0]

/** A transparent image of one pixel. */
const pixel = Uint8Array.from(
  atob('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'),
  (character) => character.codePointAt(0) ?? 0,
)

const maxEventBytes = 262_144

const visitOf = (c: AppContext): LinkVisit => ({ method: c.req.method, agent: c.req.header('user-agent') ?? null })

const htmlOf = (c: AppContext, body: string, status: 200 | 404 = 200) =>
  c.html(body, status, { 'content-security-policy': pagePolicy })

const subscriptionLinks = [
  ['/t/u', 'unsubscribe'],
  ['/t/s', 'resubscribe'],
] as const

const pageOf = async (job: RouteJob, subscriber: Subscriber, isBack = false): Promise<string> =>
  subscriptionPage(subscriber, await subscriptionOf(job, subscriber), isBack)

/** Routes without a token of the API: the links of messages, and the events that providers post. */
export function messageEvents(open: (c: AppContext) => RouteJob): Hono<AppEnv> {
  const routes = new Hono<AppEnv>({ strict: false })

  routes.use('/t/*', linkHeaders(), limitLinks())

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

  // Programs fetch every link of a message, so GET changes nothing.
  for (const [path, kind] of subscriptionLinks) {
    routes.get(`${path}/:token`, async (c) => {
      const job = open(c)
      const subscriber = await findSubscriber(job, kind, c.req.param('token'))
      return subscriber ? htmlOf(c, await pageOf(job, subscriber)) : htmlOf(c, unknownPage(), 404)
    })

    routes.post(`${path}/:token`, async (c) => {
      await limitConfirmations(c, c.req.param('token'))
      const job = open(c)
      const subscriber = await findSubscriber(job, kind, c.req.param('token'))
      if (!subscriber) return htmlOf(c, unknownPage(), 404)
      await (kind === 'unsubscribe' ? unsubscribeAndCount : resubscribe)(job, subscriber)
      return htmlOf(c, await pageOf(job, subscriber, kind === 'resubscribe'))
    })
  }

  // Not limited by address: other customers of the provider can make it post here, from the same addresses as our own
  // events. A forged request costs the check of a signature and no query.
  routes.post('/provider-events/:provider', async (c) => {
    const provider = providerOf(c.req.param('provider'))
    const body = new TextDecoder().decode(await readBody(c, maxEventBytes))
    await receiveEvents(open(c), provider, { headers: c.req.raw.headers, body })
    return c.body(null, 200)
  })

  return routes
}
