import { Hono } from 'hono'
import type { AppContext, AppEnv } from '../../http/env.ts'
import { limitConfirmations, limitLinks } from '../../http/middleware/rate-limit.ts'
import { linkHeaders } from '../../http/pages/html-page.ts'
import { readBody } from '../../http/requests/body.ts'
import { parseProvider, receiveEvents } from './provider-events.ts'
import { loadSubscription, resubscribe, type Subscriber, unsubscribeAndCount } from './subscription.ts'
import { renderSubscriptionPage, renderUnknownLinkPage, unsubscribePagePolicy } from './unsubscribe-page.ts'
import { findSubscriber, followLink, openPixel, type LinkVisit } from './visits.ts'

type RouteJob = Parameters<typeof followLink>[0]

/** A transparent image of one pixel. */
const pixel = Uint8Array.from(
  atob('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'),
  (character) => character.codePointAt(0) ?? 0,
)

const maxEventBytes = 262_144

const readVisit = (c: AppContext): LinkVisit => ({ method: c.req.method, agent: c.req.header('user-agent') ?? null })

const respondHtml = (c: AppContext, body: string, status: 200 | 404 = 200) =>
  c.html(body, status, { 'content-security-policy': unsubscribePagePolicy })

const subscriptionLinks = [
  ['/t/u', 'unsubscribe'],
  ['/t/s', 'resubscribe'],
] as const

const renderSubscription = async (job: RouteJob, subscriber: Subscriber, isResubscribed = false): Promise<string> =>
  renderSubscriptionPage(subscriber, await loadSubscription(job, subscriber), isResubscribed)

/** Routes that need no access token: the links of messages, and the events that providers post. */
export function buildMessageEventRoutes(open: (c: AppContext) => RouteJob): Hono<AppEnv> {
  const routes = new Hono<AppEnv>({ strict: false })

  routes.use('/t/*', linkHeaders(), limitLinks())

  routes.get('/t/c/:token', async (c) => {
    const visit = await followLink(open(c), c.req.param('token'), readVisit(c))
    if (!visit) return respondHtml(c, renderUnknownLinkPage(), 404)
    c.executionCtx.waitUntil(visit.record())
    // Headers are ASCII, and browsers guess the encoding of anything else.
    return c.redirect(new URL(visit.result).href, 302)
  })

  routes.get('/t/o/:token', async (c) => {
    const visit = await openPixel(open(c), c.req.param('token'), readVisit(c))
    if (!visit) return respondHtml(c, renderUnknownLinkPage(), 404)
    c.executionCtx.waitUntil(visit.record())
    return c.body(pixel, 200, { 'content-type': 'image/gif' })
  })

  // Virus scanners open every link of a message, so GET changes nothing.
  for (const [path, kind] of subscriptionLinks) {
    routes.get(`${path}/:token`, async (c) => {
      const job = open(c)
      const subscriber = await findSubscriber(job, kind, c.req.param('token'))
      return subscriber
        ? respondHtml(c, await renderSubscription(job, subscriber))
        : respondHtml(c, renderUnknownLinkPage(), 404)
    })

    routes.post(`${path}/:token`, async (c) => {
      await limitConfirmations(c, c.req.param('token'))
      const job = open(c)
      const subscriber = await findSubscriber(job, kind, c.req.param('token'))
      if (!subscriber) return respondHtml(c, renderUnknownLinkPage(), 404)
      await (kind === 'unsubscribe' ? unsubscribeAndCount : resubscribe)(job, subscriber)
      return respondHtml(c, await renderSubscription(job, subscriber, kind === 'resubscribe'))
    })
  }

  // This route has no rate limit by address, because anybody can make the provider post here from the addresses of our
  // real events. A forged request costs one check of a signature and no query.
  routes.post('/provider-events/:provider', async (c) => {
    const provider = parseProvider(c.req.param('provider'))
    const body = new TextDecoder().decode(await readBody(c, maxEventBytes))
    await receiveEvents(open(c), provider, { headers: c.req.raw.headers, body })
    return c.body(null, 200)
  })

  return routes
}
