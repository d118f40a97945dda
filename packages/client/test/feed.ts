import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import { parseTarget } from '../cli/commands/listen.ts'

interface StreamRequest {
  query: URLSearchParams
  lastEventId: string | undefined
}

const organization = 'org_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8'

const listenOn = async (server: ReturnType<typeof createServer>): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The feed of an organisation, as the service streams it. */
export async function startFeed() {
  const payloads: string[] = []
  const requests: StreamRequest[] = []
  const streams = new Set<ServerResponse>()
  let refusals: { status: number; code: string }[] = []
  const send = (response: ServerResponse, position: number) => {
    for (const [index, payload] of payloads.entries())
      if (index >= position) response.write(`id: ${organization}:${index + 1}\ndata: ${payload}\n\n`)
  }
  const server = createServer((request, response) => {
    const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://feed')
    const lastEventId = request.headers['last-event-id'] as string | undefined
    if (pathname !== '/v1/webhooks/events/stream')
      return response.writeHead(200).end(JSON.stringify({ organizations: [{ id: organization, name: 'Nordlys' }] }))
    requests.push({ query, lastEventId })
    const refusal = refusals.shift()
    if (refusal)
      return response.writeHead(refusal.status).end(JSON.stringify({ ...refusal, detail: 'No.', errors: [], type: '' }))
    const oldest = query.has('created_after') ? 0 : payloads.length
    const position = lastEventId === undefined ? oldest : Number(lastEventId.split(':')[1])
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(`id: ${organization}:${position}\n\n`)
    send(response, position)
    streams.add(response.on('close', () => streams.delete(response)))
  })
  const url = await listenOn(server)
  return {
    url,
    requests,
    env: { ECM_URL: url, ECM_TOKEN: 'ecm_test' },
    /** Stores an event, and sends it to those who follow. */
    push: (id: string, data: unknown = {}): string => {
      const payload = JSON.stringify({ id, type: 'order.created', data })
      payloads.push(payload)
      for (const response of streams) send(response, payloads.length - 1)
      return payload
    },
    refuseNext: (...next: typeof refusals) => void (refusals = next),
    cut: () => {
      for (const response of streams) response.destroy()
    },
    [Symbol.dispose]: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

type Behaviour = (id: string, nth: number) => number | 'hang'

interface ReceivedPost {
  id: string
  body: string
  headers: Record<string, string>
}

/** A program that a developer works on. It keeps what it received, and answers as it is told. */
export async function startReceiver(behave: Behaviour = () => 204) {
  const posts: ReceivedPost[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const headers = request.headers as Record<string, string>
      const id = headers['webhook-id'] ?? ''
      posts.push({ id, body, headers })
      const answer = behave(id, posts.filter((post) => post.id === id).length)
      if (answer !== 'hang') response.writeHead(answer).end()
    })
  })
  const url = parseTarget(await listenOn(server))
  return {
    url,
    posts,
    ids: () => posts.map(({ id }) => id),
    isSignedBy: (secret: string) =>
      posts.every(({ body, headers }) => new Webhook(secret).verify(body, headers) !== undefined),
    [Symbol.dispose]: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
