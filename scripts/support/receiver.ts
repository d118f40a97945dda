import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'

/** A status, or a way to misbehave. */
type Reply =
  | number
  | { status: number; headers?: OutgoingHttpHeaders; body?: string | Uint8Array }
  /** Accepts the request and never answers. */
  | 'hang'
  /** Answers 200 and then sends a byte a second for ever. */
  | 'drip'
  /** Destroys the connection. */
  | 'cut'
  /** Answers 200 and then sends megabytes as long as the client reads. */
  | 'huge'

/** `nth` counts the posts with this webhook-id to this path, from 1. */
type Behaviour = Reply | ((post: Post, nth: number) => Reply)

export interface Post {
  path: string
  /** The `webhook-id`, which is the same for every attempt. */
  id: string
  headers: IncomingMessage['headers']
  body: string
  /** When the first byte arrived, in milliseconds of the clock. */
  at: number
  /** The trusted secrets with which `standardwebhooks` verified the signature. */
  verified: string[]
}

export interface Receiver {
  url: (path: string) => string
  /** Decides how posts to the path are answered. The default is 200. */
  respondWith: (path: string, behaviour: Behaviour) => void
  /** Also verifies posts to the path with this secret. */
  trust: (path: string, secret: string) => void
  posts: (path: string) => Post[]
  /** Counts the posts to the path by `webhook-id`. */
  counts: (path: string) => Map<string, number>
  stop: () => Promise<void>
}

interface Place {
  behaviour: Behaviour
  secrets: Map<string, Webhook>
  posts: Post[]
  counts: Map<string, number>
}

const isSignedBy = (webhook: Webhook, { headers, body }: Post): boolean => {
  try {
    webhook.verify(body, headers as Record<string, string>)
    return true
  } catch {
    return false
  }
}

const megabyte = Buffer.alloc(1_000_000, 'x')

function respond(response: ServerResponse, how: Reply): void {
  if (how === 'hang') return
  if (how === 'cut') {
    response.destroy()
  } else if (how === 'drip') {
    response.writeHead(200)
    response.write('.')
    const clock = setInterval(() => response.write('.'), 1000)
    response.on('close', () => clearInterval(clock))
  } else if (how === 'huge') {
    response.writeHead(200)
    const more = () => {
      while (!response.destroyed && response.write(megabyte));
    }
    response.on('drain', more)
    more()
  } else {
    const { status, headers = {}, body = '' } = typeof how === 'number' ? { status: how } : how
    response.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers }).end(body)
  }
}

/** Starts a webhook receiver on this machine that misbehaves on demand. */
export async function startReceiver(): Promise<Receiver> {
  const places = new Map<string, Place>()
  const placeOf = (path: string): Place => {
    const place = places.get(path) ?? { behaviour: 200, secrets: new Map(), posts: [], counts: new Map() }
    places.set(path, place)
    return place
  }

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = performance.timeOrigin + performance.now()
    const { headers, url: path = '/' } = request
    const place = placeOf(path)
    const id = String(headers['webhook-id'] ?? '')
    const post: Post = { path, id, headers, body: await text(request), at, verified: [] }
    post.verified = [...place.secrets].flatMap(([secret, webhook]) => (isSignedBy(webhook, post) ? [secret] : []))
    const nth = (place.counts.get(id) ?? 0) + 1
    place.counts.set(id, nth)
    place.posts.push(post)
    respond(response, typeof place.behaviour === 'function' ? place.behaviour(post, nth) : place.behaviour)
  }

  // An interrupted request does not count as a post.
  const server = createServer((request, response) => void take(request, response).catch(() => response.destroy()))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: (path) => `http://127.0.0.1:${port}${path}`,
    respondWith: (path, behaviour) => {
      placeOf(path).behaviour = behaviour
    },
    trust: (path, secret) => {
      placeOf(path).secrets.set(secret, new Webhook(secret))
    },
    posts: (path) => [...placeOf(path).posts],
    counts: (path) => placeOf(path).counts,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
