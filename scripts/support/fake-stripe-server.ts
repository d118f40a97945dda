import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createFakeStripe, type FakeStripe } from './fake-stripe.ts'

export interface FakeStripeServer extends FakeStripe {
  /** The value of PAYMENT_API_BASE. */
  url: string
  stop: () => Promise<void>
}

async function take(stripe: FakeStripe, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request)
  const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' ? [[name, value]] : [],
  )
  const init = { method: request.method ?? 'GET', headers, ...(body ? { body } : {}) }
  const reply = await stripe.respond(new Request(`http://127.0.0.1${request.url ?? '/'}`, init))
  if (reply === 'hang') return
  if (reply === 'cut') return void response.destroy()
  response.writeHead(reply.status, { 'content-type': 'application/json' }).end(JSON.stringify(reply.body))
}

/** Starts the fake Stripe on a port of this machine. */
export async function startFakeStripe(options: Parameters<typeof createFakeStripe>[0] = {}): Promise<FakeStripeServer> {
  const stripe = createFakeStripe(options)
  const server = createServer(
    (request, response) => void take(stripe, request, response).catch(() => response.destroy()),
  )
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    ...stripe,
    url: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
