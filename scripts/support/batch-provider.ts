import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export interface BatchProvider {
  url: string
  /** The number of accepted messages by reference. */
  counts: Map<string, number>
  calls: () => number
  /** The longest body of a call since `forget`. */
  longestBody: () => string
  /** When the first and the last call since `forget` came, in milliseconds. */
  span: () => { first: number; last: number }
  forget: () => void
  /** Keys that were used for different calls. */
  mismatches: () => number
  stop: () => Promise<void>
}

/** Accepts e-mails by the hundred as Resend does, and single SMS as GatewayAPI does. It stores only the recipients. */
export async function startBatchProvider(): Promise<BatchProvider> {
  const counts = new Map<string, number>()
  const keys = new Map<string, { digest: string; body: string }>()
  let calls = 0
  let longest: Buffer = Buffer.alloc(0)
  let mismatches = 0
  let span = { first: 0, last: 0 }
  const accept = (reference: string) => counts.set(reference, (counts.get(reference) ?? 0) + 1)
  const server = createServer((request, response) => {
    const respond = (status: number, text: string) =>
      response.writeHead(status, { 'content-type': 'application/json', 'content-length': text.length }).end(text)
    const takeSms = (raw: Buffer) => {
      const { reference } = JSON.parse(raw.toString()) as { reference: string }
      accept(reference)
      respond(200, `{"msg_id":"sms-${calls}"}`)
    }
    const takeMails = (raw: Buffer) => {
      const key = String(request.headers['idempotency-key'] ?? '')
      const digest = createHash('sha256').update(raw).digest('hex')
      const earlierCall = keys.get(key)
      if (earlierCall && earlierCall.digest !== digest) {
        mismatches++
        respond(409, '{"name":"invalid_idempotent_request"}')
        return
      }
      let body = earlierCall?.body
      if (!body) {
        const references = [...raw.toString('latin1').matchAll(/"name":"reference","value":"([\w-]+)"/g)]
        for (const [, reference = ''] of references) accept(reference)
        body = JSON.stringify({ data: references.map((_, index) => ({ id: `${key.slice(-12)}-${index}` })) })
        keys.set(key, { digest, body })
      }
      respond(200, body)
    }
    const take = (raw: Buffer) => {
      calls++
      if (raw.length > longest.length) longest = raw
      const now = performance.now()
      span = { first: span.first || now, last: now }
      if (request.url === '/mobile/single') takeSms(raw)
      else takeMails(raw)
    }
    // A caller that dies in the middle of its call has sent nothing.
    void buffer(request).then(take, () => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    counts,
    calls: () => calls,
    longestBody: () => longest.toString(),
    span: () => span,
    forget: () => {
      counts.clear()
      keys.clear()
      longest = Buffer.alloc(0)
      span = { first: 0, last: 0 }
    },
    mismatches: () => mismatches,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
