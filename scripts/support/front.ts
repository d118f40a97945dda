import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, isIP, type Socket } from 'node:net'
import { Transform } from 'node:stream'

/**
 * The part of a server that the network reaches. The simulator behind it trusts each client: it takes the client's
 * address, the route and the URL from headers, and has paths that run sweeps and show data.
 */
export interface Front {
  port: number
  /** Accepts no more requests, and resolves once those under way have their responses, or after this time. */
  close: (withinMs: number) => Promise<void>
}

interface Options {
  host: string
  port: number
  /** The port of the simulator on this machine. */
  servicePort: number
  /** The number of proxies in front, each of which adds the address that it sees to X-Forwarded-For. */
  trustedProxies: number
  /** Called with what the operator should know. */
  onWarning: (message: string) => void
}

/** Headers of one connection, which RFC 9110 forbids to pass on. */
const connectionHeaders = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** The client's address and protocol are what the connection and trusted proxies say, and nothing that the client writes. */
const addressHeaders = new Set(['forwarded', 'true-client-ip', 'x-real-ip'])

/** Cloudflare Access signs this header, and the service verifies it. */
const signedHeader = 'cf-access-jwt-assertion'

const isReserved = (name: string): boolean =>
  addressHeaders.has(name) || (/^(cf-|mf-|x-mf-|x-forwarded-)/.test(name) && name !== signedHeader)

/** Paths of the simulator itself. */
const isOfSimulator = (path: string): boolean => /^\/(cdn-cgi|__cf_local)(\/|$)/i.test(path)

/** Picks the headers that may be passed on, with repeated ones. */
function pickHeaders(rawHeaders: readonly string[], connection: string | undefined): string[] {
  const hopHeaders = new Set((connection ?? '').split(',').map((name) => name.trim().toLowerCase()))
  return rawHeaders.flatMap((name, index) => {
    const key = name.toLowerCase()
    const isPassed = index % 2 === 0 && !connectionHeaders.has(key) && !hopHeaders.has(key) && !isReserved(key)
    return isPassed ? [name, rawHeaders[index + 1] ?? ''] : []
  })
}

/** Parses the requested URL as the simulator does, so that no spelling of a path means something else there. */
function parseTarget(target: string): URL | null {
  const url = target.startsWith('/') ? `http://host${target}` : target
  return URL.canParse(url) ? new URL(url) : null
}

/** An IPv4 address that arrives over IPv6 has this prefix. */
const plainAddress = (address: string): string => address.trim().replace(/^::ffff:(?=\d+\.)/i, '')

/** Finds the address that the outermost trusted proxy saw. */
export function readClientAddress(
  connection: string,
  forwardedFor: string | undefined,
  trustedProxies: number,
): string {
  const chain = [...(forwardedFor ?? '').split(',').filter((part) => part.trim() !== ''), connection]
  const address = plainAddress(chain.at(-1 - trustedProxies) ?? chain[0] ?? '')
  return isIP(address) ? address : plainAddress(connection)
}

function sendProblem(response: ServerResponse, status: number, code: string, detail: string): void {
  const titles: Record<number, string> = { 400: 'Invalid request', 404: 'Not found', 500: 'Internal error' }
  const title = titles[status] ?? 'Service unavailable'
  response.writeHead(status, {
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    ...(status === 503 ? { 'retry-after': '5' } : {}),
  })
  response.end(JSON.stringify({ type: 'about:blank', title, status, code, detail, errors: [] }))
}

/** True if the simulator answers in place of the service, with the stack of an error that nothing has caught. */
const isUncaught = ({ statusCode, headers }: IncomingMessage): boolean =>
  statusCode === 500 &&
  ('mf-experimental-error-stack' in headers || (headers['content-type'] ?? 'text/plain').startsWith('text/plain'))

/** The simulator closes a connection that is idle for five seconds. */
const idleMs = 3000
/** Proxies keep idle connections for a minute or two. One that is closed at the same moment loses a request. */
const keepAliveMs = 130_000
/** A body has five minutes, which the service checks itself. */
const requestMs = 330_000

/** The platform accepts headers of 128 kB in total. */
const maxHeaderSize = 131_072

/** Opens the port. Throws when it cannot be opened. */
export async function openFront(options: Options): Promise<Front> {
  const agent = new Agent({ keepAlive: true, timeout: idleMs })
  const limits = { requestTimeout: requestMs, keepAliveTimeout: keepAliveMs, maxHeaderSize }
  const server = createServer(limits, (incoming, response) => passOn(options, agent, incoming, response))
  const endIdle = watchConnections(server)
  warnOfProxies(server, options)
  await listen(server, options)
  const close = (withinMs: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(() => server.closeAllConnections(), withinMs)
      server.close(() => {
        clearTimeout(timer)
        agent.destroy()
        resolve()
      })
      endIdle()
    })
  return { port: (server.address() as AddressInfo).port, close }
}

/**
 * Returns a function that ends all connections without a request under way, and from then on each one after its request.
 * Node itself waits for connections that never had one.
 */
function watchConnections(server: Server): () => void {
  const requests = new Map<Socket, number>()
  let isEnding = false
  const count = (socket: Socket, change: number) => {
    const open = (requests.get(socket) ?? 0) + change
    requests.set(socket, open)
    if (isEnding && open === 0) socket.end()
  }
  server.on('connection', (socket) => {
    count(socket, 0)
    socket.once('close', () => requests.delete(socket))
  })
  server.on('request', ({ socket }, response) => {
    count(socket, 1)
    response.once('close', () => count(socket, -1))
  })
  return () => {
    isEnding = true
    for (const [socket, open] of requests) if (open === 0) socket.destroy()
  }
}

/** Without the setting all clients of a proxy share the limits of one address. */
function warnOfProxies(server: Server, { trustedProxies, onWarning }: Options): void {
  if (trustedProxies > 0) return
  const check = ({ headers }: IncomingMessage) => {
    if (headers['x-forwarded-for'] === undefined) return
    server.off('request', check)
    onWarning(
      'A request has X-Forwarded-For, which is ignored. If a proxy of yours adds it, set TRUSTED_PROXIES to the number of proxies: without it all their clients share the limits of one address.',
    )
  }
  server.on('request', check)
}

const listenFaults: Record<string, (host: string, port: number) => string> = {
  EADDRINUSE: (host, port) => `Port ${port} of ${host} is in use already. Set PORT to another one.`,
  EACCES: (_, port) =>
    `Port ${port} is for the administrator alone. Set PORT to one above 1023, with a proxy in front.`,
  EADDRNOTAVAIL: (host) =>
    `HOST is "${host}", which is no address of this machine. Set one of its addresses, or 0.0.0.0.`,
  ENOTFOUND: (host) => `HOST is "${host}", which nobody can look up. Set an address of this machine, or 0.0.0.0.`,
}

const listen = (server: Server, { host, port }: Options) =>
  new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const describe = listenFaults[error.code ?? '']
      reject(describe ? new Error(describe(host, port)) : error)
    })
    server.listen(port, host, resolve)
  })

/** True if the request names one host at most. The simulator fails at anything else. */
function hasHost({ headers, rawHeaders }: IncomingMessage): boolean {
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host')
  return hosts.length < 2 && URL.canParse(`http://${headers.host ?? 'localhost'}/`)
}

/** The simulator reads so much of a refused body before it closes the connection. */
const smallBody = 65_536

const hasLargeBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > smallBody

function passOn(options: Options, agent: Agent, incoming: IncomingMessage, response: ServerResponse): void {
  const url = parseTarget(incoming.url ?? '')
  if (!url) return sendProblem(response, 400, 'validation_error', 'The requested address is no URL.')
  if (!hasHost(incoming)) return sendProblem(response, 400, 'validation_error', 'The header Host must name one host.')
  if (isOfSimulator(url.pathname)) return sendProblem(response, 404, 'not_found', 'Not found.')
  const { headers, socket } = incoming
  const address = readClientAddress(
    socket.remoteAddress ?? '',
    String(headers['x-forwarded-for'] ?? ''),
    options.trustedProxies,
  )
  const protocol = options.trustedProxies > 0 && headers['x-forwarded-proto'] === 'https' ? 'https' : 'http'
  const outgoing = request({
    // The simulator closes the connection after it has refused a large body, so no other request uses it.
    agent: hasLargeBody(incoming) ? false : agent,
    host: '127.0.0.1',
    port: options.servicePort,
    method: incoming.method,
    path: url.pathname + url.search,
    setHost: false,
    headers: [
      ...pickHeaders(incoming.rawHeaders, headers.connection),
      // Checks of load balancers by HTTP/1.0 have no Host.
      ...(headers.host === undefined ? ['Host', 'localhost'] : []),
      'CF-Connecting-IP',
      address,
      'X-Forwarded-Proto',
      protocol,
      'MF-Disable-Pretty-Error',
      'true',
      ...(headers['transfer-encoding'] ? ['Transfer-Encoding', 'chunked'] : []),
    ],
  })
  const body = createBody()
  const dropRest = () => {
    incoming.unpipe(body)
    drain(incoming)
  }
  outgoing.on('response', (fromService) => {
    // A body that is refused is read no further.
    if ((fromService.statusCode ?? 500) >= 400) {
      body.unpipe(outgoing)
      dropRest()
    }
    respond(fromService, response)
  })
  outgoing.on('error', () => {
    dropRest()
    if (response.headersSent) return
    sendProblem(
      response,
      503,
      'service_unavailable',
      'The service is starting or stopping. Try again in a few seconds.',
    )
  })
  response.on('close', () => outgoing.destroy())
  incoming.on('error', () => outgoing.destroy())
  incoming.pipe(body).pipe(outgoing)
}

/** Most requests that are refused have their response within this time. */
const refusalMs = 50

/**
 * Passes a body on, and waits after its first chunk. The simulator closes the connection after it has refused a body, and
 * a write to a closed connection loses the response.
 */
function createBody(): Transform {
  let count = 0
  return new Transform({
    transform: (chunk: Buffer, _, done) => {
      count++
      if (count === 2) setTimeout(() => done(null, chunk), refusalMs)
      else setImmediate(() => done(null, chunk))
    },
  })
}

/** A client that goes on sending gets the response only if its connection is not closed meanwhile. */
const drainMs = 10_000

/** Reads the rest of a body that nobody wants, for some seconds. */
function drain(incoming: IncomingMessage): void {
  if (incoming.complete || incoming.destroyed) return void incoming.resume()
  const timer = setTimeout(() => incoming.destroy(), drainMs)
  incoming.once('close', () => clearTimeout(timer)).resume()
}

function respond(fromService: IncomingMessage, response: ServerResponse): void {
  if (isUncaught(fromService)) {
    fromService.resume()
    return sendProblem(response, 500, 'internal_error', 'An internal error occurred.')
  }
  const headers = pickHeaders(fromService.rawHeaders, fromService.headers.connection)
  for (let at = 0; at < headers.length; at += 2) response.appendHeader(headers[at] ?? '', headers[at + 1] ?? '')
  response.writeHead(fromService.statusCode ?? 502, fromService.statusMessage)
  fromService.on('error', () => response.destroy())
  fromService.pipe(response)
}
