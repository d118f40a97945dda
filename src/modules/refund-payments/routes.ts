import { Hono } from 'hono'
import type { AppContext, AppEnv } from '../../http/env.ts'
import { createRouter, mount } from '../../http/operations/mount.ts'
import { readBody } from '../../http/requests/body.ts'
import * as contract from './contract.ts'
import { presentSettlement } from './present.ts'
import { receivePaymentEvent } from './provider/provider-events.ts'
import { findRefundToSettle, settleRefundRequest } from './settle.ts'

export const refundPaymentRoutes = createRouter()

mount(refundPaymentRoutes, contract.settleRefundRequest, {
  load: (ctx, { id }) => findRefundToSettle(ctx, id),
  handle: (ctx, { resource, body }) => settleRefundRequest(ctx, resource, body.reference),
  present: presentSettlement,
  represent: (resource) => presentSettlement(resource),
})

type PaymentEventJob = Parameters<typeof receivePaymentEvent>[0]

const maxEventBytes = 262_144

/** Builds the routes for webhooks of payment providers, which send no API token. */
export function buildPaymentEventRoutes(open: (c: AppContext) => PaymentEventJob): Hono<AppEnv> {
  const routes = new Hono<AppEnv>({ strict: false })

  // There is no limit per address, because a provider sends the events of all accounts from few addresses. A forged
  // event costs one row read and the check of its signature.
  routes.post('/provider-events/stripe/:account', async (c) => {
    const body = await readBody(c, maxEventBytes)
    await receivePaymentEvent(open(c), c.req.param('account'), { headers: c.req.raw.headers, body })
    return c.body(null, 200)
  })

  return routes
}
