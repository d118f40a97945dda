import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export interface BatchProvider {
  url: string
  /** How often each reference was accepted. */
  counts: Map<string, number>
  calls: () => number
  stop: () => Promise<void>
}

/** Takes mails by the hundred as Resend does, and keeps nothing of them but whom they were for. */
export async function startBatchProvider(): Promise<BatchProvider> {
  const counts = new Map<string, number>()
  const keys = new Map<string, string>()
  let calls = 0
  const server = createServer((request, response) => {
    void buffer(request).then((raw) => {
      calls++
      const key = String(request.headers['idempotency-key'] ?? '')
      let answer = keys.get(key)
      if (!answer) {
        const references = [...raw.toString('latin1').matchAll(/"name":"reference","value":"([\w-]+)"/g)]
        for (const [, reference = ''] of references) counts.set(reference, (counts.get(reference) ?? 0) + 1)
        answer = JSON.stringify({ data: references.map((_, index) => ({ id: `${key.slice(-12)}-${index}` })) })
        keys.set(key, answer)
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    counts,
    calls: () => calls,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
