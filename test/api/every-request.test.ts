import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { version } from '../../src/domain/version.ts'
import { call, callWith } from '../support/api.ts'
import { breakDatabase, createRefusingLimiter, recordSessions, watchDatabase } from '../support/bindings.ts'
import { describeRefusal } from '../support/refusals.ts'
import { buildWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
})
afterEach(() => {
  vi.restoreAllMocks()
})

describe('every path', () => {
  it('requires a token before it shows whether something exists', async () => {
    for (const path of ['/v1/nothing', '/v1/organizations/x/nothing', '/v1', '/v1/'])
      expect([path, (await call(path, { token: null })).status]).toEqual([path, 401])
    const wrongMethod = await call('/v1/organizations', { method: 'DELETE', token: null })
    expect([wrongMethod.status, wrongMethod.headers.get('allow')]).toEqual([401, null])
  })

  it('returns 404 where nothing exists', async () => {
    for (const path of [
      '/v1/nothing',
      '/v1/organizations/x/nothing',
      '/v1',
      '/v1/organizations//members',
      '/v1/%E0%A4%A',
    ]) {
      const reply = await call(path)
      expect([path, reply.status, reply.body.code]).toEqual([path, 404, 'not_found'])
    }
    expect((await call('/elsewhere', { token: null })).body.code).toBe('not_found')
  })

  it('returns 405 with the methods of the path', async () => {
    const cases: [string, string, string][] = [
      ['DELETE', '/v1/organizations', 'GET, HEAD, POST'],
      ['PUT', `/v1/organizations/${world.a.id}`, 'GET, HEAD, PATCH'],
      ['POST', '/v1/auth/user-info', 'GET, HEAD'],
      ['GET', `/v1/auth/tokens/${world.people.OA.tokenId}`, 'DELETE'],
      ['POST', '/v1/auth/user-info/', 'GET, HEAD'],
    ]
    for (const [method, path, allow] of cases) {
      const reply = await call(path, { method })
      expect([path, reply.status, reply.body.code, reply.headers.get('allow')]).toEqual([
        path,
        405,
        'method_not_allowed',
        allow,
      ])
    }
  })

  it('may end with a slash', async () => {
    const plain = await call(`/v1/organizations/${world.a.id}`)
    const slashed = await call(`/v1/organizations/${world.a.id}/`)
    expect([slashed.status, slashed.text]).toEqual([200, plain.text])
    const reply = await call('/v1/events/', { body: { organization_id: world.a.id, name: 'Slash' } })
    expect(reply.status).toBe(201)
  })

  it('answers HEAD as GET without the body', async () => {
    const path = `/v1/organizations/${world.a.id}`
    const get = await call(path)
    const head = await call(path, { method: 'HEAD' })
    expect([head.status, head.text, head.headers.get('etag')]).toEqual([200, '', get.headers.get('etag')])
    expect(head.headers.get('content-type')).toBe('application/json')
    expect((await call(path, { method: 'HEAD', token: null })).status).toBe(401)
    expect((await call('/v1/organizations/x', { method: 'HEAD' })).status).toBe(404)
  })
})

describe('every answer', () => {
  it('has the request id that was sent, or a new one', async () => {
    expect(
      (await call('/v1/auth/user-info', { headers: { 'x-request-id': 'my.id-1' } })).headers.get('x-request-id'),
    ).toBe('my.id-1')
    for (const requestId of ['a b', 'x'.repeat(65), '<script>'])
      expect(
        (await call('/v1/auth/user-info', { headers: { 'x-request-id': requestId } })).headers.get('x-request-id'),
      ).toMatch(/^req_/)
  })

  it('forbids sniffing, framing and caching', async () => {
    for (const [path, status] of [
      ['/v1/auth/user-info', 200],
      ['/v1/nothing', 404],
      ['/v1/auth/tokens/x', 405],
    ] as const) {
      const { headers, status: answered } = await call(path)
      expect(answered).toBe(status)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('x-frame-options')).toBe('SAMEORIGIN')
      expect(headers.get('strict-transport-security')).toContain('max-age=')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('cache-control')).toMatch(/^private|^no-store/)
      expect(headers.get('x-powered-by')).toBeNull()
    }
  })
})

describe('CORS', () => {
  const origin = 'https://app.example'
  const bindings = { CORS_ORIGINS: `https://other.example, ${origin}` }
  const preflight = (from: string, more: object = bindings) =>
    callWith(more, '/v1/organizations', {
      method: 'OPTIONS',
      token: null,
      headers: { origin: from, 'access-control-request-method': 'PATCH', 'access-control-request-headers': 'if-match' },
    })

  it('lets browsers of a configured origin call the API and read the headers that they need', async () => {
    const allowed = await preflight(origin)
    expect(allowed.status).toBe(204)
    expect(allowed.headers.get('access-control-allow-origin')).toBe(origin)
    expect(allowed.headers.get('access-control-allow-methods')).toContain('PATCH')
    for (const header of ['Authorization', 'If-Match', 'Idempotency-Key', 'X-D1-Bookmark'])
      expect(allowed.headers.get('access-control-allow-headers')).toContain(header)
    for (const path of ['/v1/organizations', '/v1/nothing']) {
      const reply = await callWith(bindings, path, { headers: { origin } })
      expect(reply.headers.get('access-control-allow-origin')).toBe(origin)
      expect(reply.headers.get('vary')).toMatch(/origin/i)
      for (const header of ['ETag', 'Link', 'Location', 'Retry-After', 'X-Request-Id'])
        expect(reply.headers.get('access-control-expose-headers')).toContain(header)
    }
    const refusal = await callWith(bindings, '/v1/organizations', { token: null, headers: { origin } })
    expect([refusal.status, refusal.headers.get('access-control-allow-origin')]).toEqual([401, origin])
  })

  it('gives browsers of other origins no headers', async () => {
    for (const from of [
      'https://evil.example',
      'null',
      'https://app.example.evil.example',
      'http://app.example',
      'http://localhost:3000',
    ]) {
      expect([from, (await preflight(from)).headers.get('access-control-allow-origin')]).toEqual([from, null])
      const reply = await callWith(bindings, '/v1/organizations', { headers: { origin: from } })
      expect(reply.headers.get('access-control-allow-origin')).toBeNull()
    }
    expect((await preflight('', { CORS_ORIGINS: '' })).headers.get('access-control-allow-origin')).toBeNull()
  })

  it('lets browsers of the same machine call the API only in development', async () => {
    const local = 'http://localhost:5173'
    const development = { CORS_ORIGINS: '', ENVIRONMENT: 'development' }
    expect((await preflight(local, development)).headers.get('access-control-allow-origin')).toBe(local)
    expect(
      (await preflight('http://localhost.evil.example', development)).headers.get('access-control-allow-origin'),
    ).toBeNull()
    expect((await preflight(local, { CORS_ORIGINS: '' })).headers.get('access-control-allow-origin')).toBeNull()
  })
})

describe('the rate limit', () => {
  it('refuses requests beyond it with the time to wait, by token', async () => {
    const { bindings, keys } = createRefusingLimiter()
    const reply = await callWith(bindings, '/v1/organizations', { token: world.people.OA.token })
    expect(describeRefusal(reply)).toBe('429 rate_limited')
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(reply.headers.get('ratelimit-policy')).toBe('"default";q=600;w=60, "member";q=1200;w=60')
    await callWith(bindings, '/v1/organizations')
    expect(keys).toEqual([world.people.OA.tokenId, 'root'])
  })

  it('is announced on every other answer, and 0 disables it', async () => {
    const policy = async (more: object) => (await callWith(more, '/v1/auth/user-info')).headers.get('ratelimit-policy')
    expect(await policy({ RATE_LIMIT_PER_MINUTE: '42' })).toBe('"default";q=42;w=60, "member";q=84;w=60')
    const { bindings } = createRefusingLimiter()
    expect(await policy({ ...bindings, RATE_LIMIT_PER_MINUTE: '0' })).toBeNull()
  })

  it('does not count requests without a token', async () => {
    const { bindings, keys } = createRefusingLimiter()
    expect((await callWith(bindings, '/v1/organizations', { token: null })).status).toBe(401)
    expect(keys).toEqual([])
  })
})

describe('a failure', () => {
  it('is logged in full when it is unexpected, and answered without details', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    const bindings = breakDatabase('D1_ERROR: no such table: secret_table: SQLITE_ERROR')
    for (const token of [undefined, world.people.OA.token]) {
      const reply = await callWith(bindings, '/v1/organizations', {
        ...(token ? { token } : {}),
        headers: { 'x-request-id': 'failing' },
      })
      expect(describeRefusal(reply)).toBe('500 internal_error')
      expect(reply.body.request_id).toEqual('failing')
      expect(reply.text).not.toMatch(/secret|D1|SQL|at /)
    }
    expect(logged).toHaveBeenCalledTimes(2)
    expect(logged.mock.calls[0]?.[0]).toContain('secret_table')
    expect(logged.mock.calls[0]?.[0]).toContain('failing')
  })

  it('is answered with 503 and a time to retry when it is temporary', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    const messages = ['D1_ERROR: Network connection lost.', 'D1_ERROR: D1 DB is overloaded. Too many requests queued.']
    for (const message of messages)
      for (const request of [{}, { token: world.people.OA.token }, { body: { name: 'x' } }]) {
        const reply = await callWith(breakDatabase(message), '/v1/organizations', request)
        expect(describeRefusal(reply)).toBe('503 overloaded')
        expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
      }
    expect(logged.mock.calls[0]?.[0]).toContain('Network connection lost')
  })

  it('shows in the health of the service', async () => {
    expect((await call('/healthz', { token: null })).body).toMatchObject({
      status: 'ok',
      version,
      database: 'reached',
      email: 'captured',
      sms: 'captured',
    })
    const ill = await callWith(breakDatabase('D1_ERROR: gone'), '/healthz', { token: null })
    expect([ill.status, ill.body.status]).toEqual([503, 'unavailable'])
  })
})

describe('the log', () => {
  it('has every fault and one of ten other requests in production', async () => {
    const lines: { request_id: string; status: number }[] = []
    vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(JSON.parse(line)))
    const random = vi.spyOn(Math, 'random')
    const send = (id: string, token: string | null) =>
      callWith({ ENVIRONMENT: 'production' }, '/v1/organizations', { token, headers: { 'x-request-id': id } })
    for (const value of [0.05, 0.5, 0.99]) {
      random.mockReturnValue(value)
      expect((await send(`ok-${value}`, world.people.OA.token)).headers.get('x-request-id')).toBe(`ok-${value}`)
      await send(`fault-${value}`, null)
    }
    random.mockRestore()
    expect(lines.map(({ request_id, status }) => [request_id, status])).toEqual([
      ['ok-0.05', 200],
      ['fault-0.05', 401],
      ['fault-0.5', 401],
      ['fault-0.99', 401],
    ])
  })

  it('contains what was done and its cost, and no contents', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0)
    const lines: string[] = []
    vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line))
    const { token, tokenId } = world.people.OA
    const reply = await callWith({ ENVIRONMENT: 'production' }, '/v1/organizations?search=secret%40example.test', {
      token,
    })
    expect(reply.headers.get('server-timing')).toMatch(/^app;dur=\d+$/)
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      {
        level: 'info',
        request_id: reply.headers.get('x-request-id'),
        operation: 'listOrganizations',
        method: 'GET',
        status: 200,
        queries: 3,
        token_id: tokenId,
      },
    ])
    expect(lines.join()).not.toMatch(/secret|example|ecm_/)
  })
})

describe('x-d1-bookmark', () => {
  it('comes with answers, and makes later reads see the change', async () => {
    const reply = await call('/v1/events', { body: { organization_id: world.a.id, name: 'Bookmark' } })
    const bookmark = reply.headers.get('x-d1-bookmark') ?? ''
    expect(bookmark).toMatch(/^[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{32}$/)
    const { bindings, sessions } = recordSessions()
    const readReply = await callWith(bindings, '/v1/events', { headers: { 'x-d1-bookmark': bookmark } })
    expect(readReply.status).toBe(200)
    expect(readReply.headers.get('x-d1-bookmark')).toBeTruthy()
    expect(sessions).toEqual(['first-primary', bookmark])
  })

  it('is ignored when it is invalid, and by writes, which go to the primary', async () => {
    const { bindings, sessions } = recordSessions()
    await callWith(bindings, '/v1/events', { headers: { 'x-d1-bookmark': 'first-primary' } })
    expect(sessions).toEqual(['first-primary', 'first-unconstrained'])
    sessions.length = 0
    await callWith(bindings, '/v1/events', { body: { organization_id: world.a.id, name: 'Written' } })
    expect(sessions).toEqual(['first-primary'])
  })
})

describe('a token with a wrong checksum', () => {
  it('costs no query', async () => {
    const statements: string[] = []
    const bindings = watchDatabase((sql) => statements.push(sql))
    const { token } = world.people.OA
    const typo = token.slice(0, -8) + (token.at(-8) === 'a' ? 'b' : 'a') + token.slice(-7)
    for (const malformedToken of [typo, 'x', `${token}x`, token.toUpperCase()])
      expect((await callWith(bindings, '/v1/auth/user-info', { token: malformedToken })).status).toBe(401)
    expect(statements).toEqual([])
    expect((await callWith(bindings, '/v1/auth/user-info', { token })).status).toBe(200)
    expect(statements.length).toBeGreaterThan(0)
  })
})
