import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

interface Received {
  method: string
  url: string
  headers: IncomingMessage['headers']
  body: string
}

export type Answer = (response: ServerResponse) => void

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))

export const problem = (status: number, code: string, headers: Record<string, string> = {}): Answer =>
  json(
    status,
    { type: 'about:blank', title: 'Refused', status, code, detail: 'The service refused it.', errors: [] },
    { 'content-type': 'application/problem+json', 'x-request-id': 'req_1', ...headers },
  )

export const breakConnection: Answer = (response) => response.destroy()

/** A server that gives these answers, one after the other, and the last one from then on, or one for each path. */
export async function startStub(answers: readonly Answer[] | ((path: string) => Answer)) {
  const received: Received[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { method = '', url = '', headers } = request
      received.push({ method, url, headers, body })
      const answer =
        typeof answers === 'function' ? answers(url) : answers[Math.min(received.length, answers.length) - 1]
      answer?.(response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url, received, [Symbol.dispose]: close }
}
