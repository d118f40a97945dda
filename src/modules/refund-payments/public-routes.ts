import { Hono } from 'hono'
import { readBody } from '../../http/requests/body.ts'
import type { AppContext, AppEnv } from '../../http/env.ts'
import { receivePaymentEvent } from './provider/provider-events.ts'

type PaymentEventJob = Parameters<typeof receivePaymentEvent>[0]

const maxEventBytes = 262_144

/** The routes for providers of payments, without a token of the API. */
export function paymentEvents(open: (c: AppContext) => PaymentEventJob): Hono<AppEnv> {
  const routes = new Hono<AppEnv>({ strict: false })

  // Not limited by address: a provider posts the events of all accounts from few addresses. A forged event costs one row
  // read and the check of its signature.
  routes.post('/provider-events/stripe/:account', async (c) => {
    const body = await readBody(c, maxEventBytes)
    await receivePaymentEvent(open(c), c.req.param('account'), { headers: c.req.raw.headers, body })
    return c.body(null, 200)
  })

  return routes
}
