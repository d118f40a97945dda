import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Decides what happens to an answer of the server: null passes it on, a number breaks it off after so many bytes. */
export type Fault = (call: { method: string; path: string }) => number | null

/** A server in front of another one, which breaks connections off. */
export async function startProxy(target: number, fault: () => Fault) {
  const calls: string[] = []
  const pass = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { method = '', url = '' } = incoming
    calls.push(`${method} ${url}`)
    const bytes = fault()({ method, path: url })
    const options = { host: '127.0.0.1', port: target, method, path: url, headers: incoming.headers }
    const upstream = request(options, (answer) => copyAnswer(answer, outgoing, bytes))
    upstream.on('error', () => outgoing.destroy())
    outgoing.on('close', () => upstream.destroy())
    incoming.pipe(upstream)
  }
  const server = createServer(pass)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls, close }
}

const listHeaders = (headers: IncomingHttpHeaders) =>
  Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))

function copyAnswer(answer: IncomingMessage, outgoing: ServerResponse, bytes: number | null): void {
  let rest = bytes ?? Number.POSITIVE_INFINITY
  if (rest === 0) return void outgoing.destroy()
  outgoing.writeHead(answer.statusCode ?? 502, listHeaders(answer.headers))
  answer.on('data', (chunk: Buffer) => {
    if (rest <= 0) return
    const part = chunk.subarray(0, Math.min(chunk.length, rest))
    rest -= chunk.length
    // The client gets what was written, and then the connection ends in the middle of the answer.
    outgoing.write(part, () => rest <= 0 && outgoing.socket?.end())
  })
  answer.on('end', () => rest > 0 && outgoing.end())
  answer.on('error', () => outgoing.destroy())
}
