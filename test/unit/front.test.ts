import { array, assert, asyncProperty, ipV4, oneof, property, string, webPath, webQueryParameters } from 'fast-check'
import { createServer, type IncomingMessage, request, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { type Front, openFront, readClientAddress } from '../../scripts/support/front.ts'

const open: { front?: Front; service?: Server } = {}
let warnings: string[] = []
let received: IncomingMessage[] = []

/** Opens a front before a service that responds like this. */
async function givenFront(respond: RequestListener, trustedProxies = 0): Promise<number> {
  warnings = []
  received = []
  const service = createServer((incoming, response) => {
    received.push(incoming)
    respond(incoming, response)
  })
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
  const { port: servicePort } = service.address() as AddressInfo
  open.service = service
  open.front = await openFront({
    host: '127.0.0.1',
    port: 0,
    servicePort,
    trustedProxies,
    onWarning: (message) => warnings.push(message),
  })
  return open.front.port
}

afterEach(async () => {
  await open.front?.close(0)
  open.service?.closeAllConnections()
  open.service?.close()
})

interface Call {
  path?: string
  method?: string
  headers?: Record<string, string | string[]>
  body?: string
}

/** Sends the path as it is written, which `fetch` would not. */
const call = (port: number, { path = '/', method = 'GET', headers = {}, body = '' }: Call = {}) =>
  new Promise<{ status: number; headers: IncomingMessage['headers']; body: string }>((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
      text(response).then(
        (content) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: content }),
        reject,
      )
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })

const ok: RequestListener = (_, response) => void response.end('ok')

describe('the front of a server for others', () => {
  it('passes the method, the path, the headers and the body on, and the response back', async () => {
    const port = await givenFront((incoming, response) => {
      void text(incoming).then((body) => {
        response.setHeader('set-cookie', ['a=1', 'b=2'])
        response.writeHead(201, { 'x-body': body }).end(`${incoming.method} ${incoming.url}`)
      })
    })
    const response = await call(port, {
      method: 'DELETE',
      path: '/v1/a%2Fb?c=d%20e&c=f',
      headers: { 'transfer-encoding': 'chunked', accept: 'x/y', host: 'events.example.com' },
      body: 'bytes',
    })
    expect(response).toMatchObject({ status: 201, body: 'DELETE /v1/a%2Fb?c=d%20e&c=f' })
    expect(response.headers).toMatchObject({ 'x-body': 'bytes', 'set-cookie': ['a=1', 'b=2'] })
    expect(received[0]?.headers).toMatchObject({ accept: 'x/y', host: 'events.example.com' })
  })

  it('tells the service the address of the connection, whatever the client writes into headers', async () => {
    const port = await givenFront(ok)
    await call(port, {
      headers: {
        'CF-Connecting-IP': '203.0.113.9',
        'cf-ipcountry': 'DK',
        'X-Forwarded-For': '203.0.113.9',
        'x-forwarded-proto': 'https',
        'X-Real-IP': '203.0.113.9',
        'true-client-ip': '203.0.113.9',
        forwarded: 'for=203.0.113.9',
        'MF-CF-Blob': '{"clientIp":"203.0.113.9:1"}',
        'MF-Original-URL': 'http://localhost/cdn-cgi/local/scheduled',
        'mf-route-override': 'other',
        'x-hop': 'one',
        'cf-access-jwt-assertion': 'signed',
        connection: 'x-hop, close',
      },
    })
    const { headers } = received[0] ?? {}
    expect(JSON.stringify(headers)).not.toContain('203.0.113.9')
    expect(headers).toMatchObject({
      'cf-connecting-ip': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'cf-access-jwt-assertion': 'signed',
      'mf-disable-pretty-error': 'true',
    })
    for (const name of ['cf-ipcountry', 'mf-cf-blob', 'mf-original-url', 'mf-route-override', 'x-hop'])
      expect(headers).not.toHaveProperty(name)
  })

  it('takes the address and https from a trusted proxy, and warns once when there is none', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.9, 198.51.100.7', 'x-forwarded-proto': 'https' }
    const trusting = await givenFront(ok, 1)
    await call(trusting, { headers })
    expect(received[0]?.headers).toMatchObject({ 'cf-connecting-ip': '198.51.100.7', 'x-forwarded-proto': 'https' })
    expect(warnings).toEqual([])
    await open.front?.close(0)
    open.service?.close()
    const port = await givenFront(ok)
    await call(port, { headers })
    await call(port, { headers })
    expect(warnings).toEqual([expect.stringContaining('set TRUSTED_PROXIES')])
  })

  it.each([
    ['192.0.2.1', undefined, 0, '192.0.2.1'],
    ['::ffff:192.0.2.1', undefined, 0, '192.0.2.1'],
    ['::1', '2001:db8::1', 1, '2001:db8::1'],
    ['::1', '203.0.113.9,198.51.100.7', 2, '203.0.113.9'],
    ['::1', '198.51.100.7', 2, '198.51.100.7'],
    ['::1', 'unknown', 1, '::1'],
    ['::1', '', 1, '::1'],
  ])('reads the client of %s with X-Forwarded-For %s and %i proxies as %s', (connection, forwarded, count, client) => {
    expect(readClientAddress(connection, forwarded, count)).toBe(client)
  })

  it('believes no entry that a client could have written itself', () => {
    const address = ipV4()
    assert(
      property(array(oneof(address, string())), array(address, { minLength: 1, maxLength: 4 }), (forged, proxies) => {
        // Each trusted proxy appends the address that it sees: first that of the client, then those of the proxies.
        const header = [...forged, ...proxies].map((part) => part.replaceAll(',', '')).join(', ')
        expect(readClientAddress('10.0.0.1', header, proxies.length)).toBe(proxies[0])
      }),
    )
  })

  it.each([
    '/cdn-cgi/local/scheduled?cron=*+*+*+*+*',
    '/cdn-cgi',
    '/CDN-CGI/local/explorer',
    '/a/../cdn-cgi/local/explorer/api',
    '/./cdn-cgi/local/r2/s3/event-commerce-files',
    '/%2e%2e/cdn-cgi/platform-proxy',
    '/a/%2e%2E/cdn-cgi/local/email',
    '\\cdn-cgi\\local\\scheduled',
    '/\\..\\cdn-cgi/local/scheduled',
    'http://events.example.com/cdn-cgi/local/scheduled',
    '/\t/../cdn-cgi/local/scheduled',
    '/__cf_local/imageupload/1',
  ])('never lets %s through', async (path) => {
    const port = await givenFront(ok)
    // Node refuses to send some of them, so the bytes are written directly.
    const socket = connect(port, '127.0.0.1')
    socket.end(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 40[04] /)
    expect(received).toEqual([])
  })

  it('passes every other path on as the URL that it is', async () => {
    const port = await givenFront(ok)
    await assert(
      asyncProperty(webPath(), webQueryParameters(), async (path, query) => {
        const target = `/${path.replace(/^\/+/, '')}?${query}`
        const { pathname, search } = new URL(`http://host${target}`)
        received = []
        await call(port, { path: target })
        expect(received.map(({ url }) => url)).toEqual([pathname + search])
      }),
      { numRuns: 50 },
    )
  })

  it.each(['Host: a\r\nHost: b', 'Host: a b', 'Host: [', 'Host: '])('refuses a request with "%s"', async (headers) => {
    const port = await givenFront(ok)
    const socket = connect(port, '127.0.0.1')
    socket.end(`GET /healthz HTTP/1.1\r\n${headers}\r\nConnection: close\r\n\r\n`)
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /)
    expect(received).toEqual([])
  })

  it('passes the check of a load balancer that names no host', async () => {
    const port = await givenFront(ok)
    const socket = connect(port, '127.0.0.1')
    socket.write('GET /healthz HTTP/1.0\r\n\r\n')
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /)
    expect(received[0]?.headers.host).toBe('localhost')
  })

  it('tells nobody the stack of an error that nothing has caught', async () => {
    const port = await givenFront((incoming, response) => {
      if (incoming.url === '/page') response.setHeader('mf-experimental-error-stack', 'true')
      if (incoming.url !== '/untyped')
        response.setHeader('content-type', incoming.url === '/problem' ? 'application/problem+json' : 'text/plain')
      response.writeHead(500)
      response.end('Error: secret at bundle.js:1')
    })
    for (const path of ['/page', '/text', '/untyped']) {
      const { status, body, headers } = await call(port, { path })
      expect(JSON.parse(body)).toMatchObject({ status: 500, code: 'internal_error' })
      expect([status, headers['content-type']]).toEqual([500, 'application/problem+json'])
    }
    expect((await call(port, { path: '/problem' })).body).toContain('secret')
  })

  it('asks to try again while the service is not there', async () => {
    const port = await givenFront((incoming) => void incoming.socket.destroy())
    const { status, headers, body } = await call(port)
    expect([status, headers['retry-after']]).toEqual([503, '5'])
    expect(JSON.parse(body)).toMatchObject({ code: 'service_unavailable' })
  })

  it('ends the request of a client who has gone', async () => {
    const gone = Promise.withResolvers<void>()
    const port = await givenFront((_, response) => response.on('close', () => gone.resolve()))
    const socket = connect(port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await expect.poll(() => received.length).toBe(1)
    socket.destroy()
    await gone.promise
  })

  it('passes the response to a body that the service refuses, and no more of the body', async () => {
    const port = await givenFront((_, response) => void response.writeHead(413).end('too large'))
    const socket = connect(port, '127.0.0.1')
    let answers = ''
    socket.setEncoding('utf8').on('data', (part: string) => (answers += part))
    const body = 'x'.repeat(200_000)
    socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\nx`)
    await expect.poll(() => answers).toMatch(/^HTTP\/1\.1 413 [^]*too large/)
    // The rest is read and dropped, so the same connection takes the next request.
    socket.write(`${body.slice(1)}GET /next HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    await expect.poll(() => received.map(({ url }) => url)).toEqual(['/', '/next'])
    socket.destroy()
  })

  it('passes a large body on as it is', async () => {
    const port = await givenFront((incoming, response) => void text(incoming).then((body) => response.end(body)))
    const body = Array.from({ length: 60_000 }, (_, at) => at).join(' ')
    expect((await call(port, { method: 'POST', body })).body).toBe(body)
  })

  it('ends after the requests under way, and takes no new ones', async () => {
    const held = Promise.withResolvers<void>()
    const port = await givenFront((_, response) => void held.promise.then(() => response.end('done')))
    const pending = call(port, { headers: { connection: 'keep-alive' } })
    await expect.poll(() => received.length).toBe(1)
    const idle = connect(port, '127.0.0.1')
    await new Promise((resolve) => idle.once('connect', resolve))
    const idleEnd = new Promise((resolve) => idle.once('close', resolve).resume())
    let isClosed = false
    const closing = open.front?.close(60_000).then(() => (isClosed = true))
    await expect(call(port)).rejects.toThrow('ECONNREFUSED')
    await wait(20)
    expect(isClosed).toBe(false)
    held.resolve()
    expect(await pending).toMatchObject({ status: 200, body: 'done' })
    await closing
    await idleEnd
  })

  it('ends without the requests that last longer than it may wait', async () => {
    const port = await givenFront(() => undefined)
    const pending = call(port)
    await expect.poll(() => received.length).toBe(1)
    const [result] = await Promise.allSettled([pending, open.front?.close(20)])
    expect(result).toMatchObject({ status: 'rejected', reason: { message: 'socket hang up' } })
  })

  it.each([
    [{ host: '127.0.0.1', isTaken: true }, /^Port \d+ of 127\.0\.0\.1 is in use already\. Set PORT to another one\.$/],
    [{ host: '203.0.113.1', isTaken: false }, /^HOST is "203\.0\.113\.1", which is no address of this machine\./],
  ])('says what to do when it cannot listen: %o', async ({ host, isTaken }, message) => {
    const port = await givenFront(ok)
    const options = { servicePort: 1, trustedProxies: 0, onWarning: () => undefined }
    await expect(openFront({ ...options, host, port: isTaken ? port : 0 })).rejects.toThrow(message)
  })
})
