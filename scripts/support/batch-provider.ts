import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export interface BatchProvider {
  url: string
  /** How often each reference was accepted. */
  counts: Map<string, number>
  calls: () => number
  /** Keys that came with another call than the first. */
  mismatches: () => number
  stop: () => Promise<void>
}

/** Takes mails by the hundred as Resend does, and keeps nothing of them but whom they were for. */
export async function startBatchProvider(): Promise<BatchProvider> {
  const counts = new Map<string, number>()
  const keys = new Map<string, { digest: string; answer: string }>()
  let calls = 0
  let mismatches = 0
  const server = createServer((request, response) => {
    const take = (raw: Buffer) => {
      calls++
      const key = String(request.headers['idempotency-key'] ?? '')
      const digest = createHash('sha256').update(raw).digest('hex')
      const known = keys.get(key)
      if (known && known.digest !== digest) {
        mismatches++
        response.writeHead(409, { 'content-type': 'application/json' }).end('{"name":"invalid_idempotent_request"}')
        return
      }
      let answer = known?.answer
      if (!answer) {
        const references = [...raw.toString('latin1').matchAll(/"name":"reference","value":"([\w-]+)"/g)]
        for (const [, reference = ''] of references) counts.set(reference, (counts.get(reference) ?? 0) + 1)
        answer = JSON.stringify({ data: references.map((_, index) => ({ id: `${key.slice(-12)}-${index}` })) })
        keys.set(key, { digest, answer })
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
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
    mismatches: () => mismatches,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
