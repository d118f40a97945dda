import { Hono } from 'hono'
import type { AppContext, AppEnv } from '../../http/env.ts'
import { limitLinks } from '../../http/middleware/rate-limit.ts'
import { createRouter, mount } from '../../http/operations/mount.ts'
import { formPage, formPolicy, linkHeaders } from '../../http/pages/html-page.ts'
import * as contract from './contract.ts'
import { parseExamplePage, renderExamplePage } from './example-page.ts'
import { describeTest, presentTest } from './present.ts'
import { findAuthorizedCampaign, findMessage, presentCampaign, presentMessage } from './queries.ts'
import { sendTestCampaign, sendTestMessage } from './send.ts'

export const testMessageRoutes = createRouter()

mount(testMessageRoutes, contract.sendTestMessage, {
  load: (ctx, { id }) => findMessage(ctx, id),
  handle: (ctx, { resource, body }) => sendTestMessage(ctx, resource, body),
  represent: (resource, ctx) => presentMessage(resource, ctx),
  present: presentTest,
  audit: describeTest,
})

mount(testMessageRoutes, contract.sendTestCampaign, {
  load: (ctx, { id }) => findAuthorizedCampaign(ctx, id),
  handle: (ctx, { resource, body }) => sendTestCampaign(ctx, resource, body),
  represent: (resource, ctx) => presentCampaign(resource, ctx),
  present: presentTest,
  audit: describeTest,
})

/** The page that the personal links of test messages open. It reads and changes nothing. */
export function buildExamplePageRoutes(): Hono<AppEnv> {
  const routes = new Hono<AppEnv>({ strict: false })
  const respond = async (c: AppContext) => {
    const page = renderExamplePage(parseExamplePage(c.req.param('page')), c.req.query('language'))
    return c.html(formPage(page), 200, { 'content-security-policy': await formPolicy() })
  }
  routes.use('/t/test/*', linkHeaders(), limitLinks())
  routes.get('/t/test/:page', respond)
  // Mail programs unsubscribe with one POST.
  routes.post('/t/test/:page', respond)
  return routes
}
