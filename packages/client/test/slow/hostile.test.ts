import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { ApiError, createClient, ifChanged, paginate, streamEvents, verifyWebhook } from '../../src/index.ts'
import { breakConnection, json, problem, startStub } from '../stub.ts'

const token = 'ecm_test'
const user = { email: 'ada@example.com' }
const create = { params: {}, body: { organization_id: 'org_1', name: 'Early birds' } } as never
type Answer = ReturnType<typeof json>

/** Begins an answer of 200 bytes and loses the connection, or says nothing more. */
const beginBody =
  (end: 'break' | 'hang'): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '200' })
    response.write('{"email":')
    if (end === 'break') setTimeout(() => response.destroy(), 20)
  }

const file =
  (type: string, text: string): Answer =>
  (response) =>
    response.writeHead(200, { 'content-type': type }).end(text)

describe('a redirect', () => {
  it('is not followed, so that nobody else gets the token or the body', async () => {
    using other = await startStub([json(200, user)])
    for (const status of [301, 302, 303, 307, 308]) {
      using stub = await startStub([(response) => response.writeHead(status, { location: `${other.url}/x` }).end()])
      const call = createClient({ url: stub.url, token }).POST('/v1/campaigns', create)
      await expect(call).rejects.toMatchObject({ status, message: expect.stringContaining(other.url) as unknown })
    }
    expect(other.received).toEqual([])
  })
})

describe('an answer that breaks off', () => {
  it('is asked for again', async () => {
    using stub = await startStub([beginBody('break'), json(200, user)])
    const { data } = await createClient({ url: stub.url, token }).GET('/v1/auth/user-info')
    expect(data).toEqual(user)
  })

  it('is asked for again after a change, with the same key', async () => {
    using stub = await startStub([beginBody('break'), json(201, user)])
    await createClient({ url: stub.url, token }).POST('/v1/campaigns', create)
    const keys = stub.received.map(({ headers }) => headers['idempotency-key'])
    expect(keys).toEqual([keys[0], keys[0]])
  })

  it('is asked for again when it stands still', async () => {
    using stub = await startStub([beginBody('hang'), json(200, user)])
    const { data } = await createClient({ url: stub.url, token, timeoutMs: 300 }).GET('/v1/auth/user-info')
    expect(data).toEqual(user)
  })

  it('in the middle of a list costs and repeats no item', async () => {
    const page = (id: string, next: string | null) => json(200, { count: 3, next, previous: null, results: [{ id }] })
    using stub = await startStub([
      page('a', 'https://public.example/v1/orders?page=2'),
      problem(503, 'overloaded', { 'retry-after': '0' }),
      beginBody('break'),
      page('b', 'https://public.example/v1/orders?page=3'),
      page('c', null),
    ])
    const ids: string[] = []
    for await (const { id } of paginate(createClient({ url: stub.url, token }), '/v1/orders')) ids.push(id)
    expect(ids).toEqual(['a', 'b', 'c'])
  })

  it('ends at once when the call is aborted', async () => {
    using stub = await startStub([beginBody('hang')])
    const call = createClient({ url: stub.url, token }).GET('/v1/auth/user-info', { signal: AbortSignal.timeout(200) })
    await expect(call).rejects.toMatchObject({ name: 'TimeoutError' })
    expect(stub.received.length).toBeLessThan(2)
  })

  it('takes as long as it needs while bytes come', async () => {
    using stub = await startStub([
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        for (const [index, part] of ['{"email":', '"ada@', 'example', '.com"', '}'].entries())
          setTimeout(() => (part === '}' ? response.end(part) : response.write(part)), 150 * index)
      },
    ])
    const { data } = await createClient({ url: stub.url, token, timeoutMs: 400 }).GET('/v1/auth/user-info')
    expect(data).toEqual(user)
  })
})

describe('a pause', () => {
  it('is as long as a date in Retry-After says', async () => {
    const at = new Date(Date.now() + 2500).toUTCString()
    using stub = await startStub([problem(503, 'overloaded', { 'retry-after': at }), json(200, user)])
    await createClient({ url: stub.url, token }).GET('/v1/auth/user-info')
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(at) - 20)
  })

  it('and a time limit may be endless', async () => {
    using stub = await startStub([problem(503, 'overloaded', { 'retry-after': '9999999' })])
    const client = createClient({ url: stub.url, token, maxPauseMs: Infinity, timeoutMs: Infinity })
    const call = client.GET('/v1/auth/user-info', { signal: AbortSignal.timeout(1500) })
    await expect(call).rejects.toMatchObject({ name: 'TimeoutError' })
    expect(stub.received.length).toBeLessThan(2)
  })

  it('does not come before a POST that nothing makes safe to repeat', async () => {
    using stub = await startStub([problem(503, 'overloaded', { 'retry-after': '0' })])
    await expect(createClient({ url: stub.url }).POST('/v1/campaigns', create)).rejects.toMatchObject({ status: 503 })
    expect(stub.received).toHaveLength(1)
  })
})

describe('a change', () => {
  it('that deletes has one key for all tries, so that its repetition does not answer 404', async () => {
    using stub = await startStub([breakConnection, (response) => response.writeHead(204).end()])
    const params = { path: { id: 'cmp_1' } }
    const { data } = await createClient({ url: stub.url, token }).DELETE('/v1/campaigns/{id}', { params })
    expect(data).toBeUndefined()
    const [first, second] = stub.received.map(({ headers }) => headers['idempotency-key'])
    expect(first).toEqual(expect.any(String))
    expect(second).toBe(first)
  })

  it('that answers late does not take back the bookmark of a later one', async () => {
    const mark = '00000002-00000000'
    using stub = await startStub([
      (response) => setTimeout(() => json(201, user, { 'x-d1-bookmark': '00000001-00000000' })(response), 300),
      json(201, user, { 'x-d1-bookmark': mark }),
      json(200, user),
    ])
    const client = createClient({ url: stub.url, token })
    await Promise.all([client.POST('/v1/campaigns', create), client.POST('/v1/campaigns', create)])
    await client.GET('/v1/auth/user-info')
    expect(stub.received.at(-1)?.headers['x-d1-bookmark']).toBe(mark)
  })
})

describe('a path', () => {
  it.each(['', '.', '..'])('is not changed by the hostile id %j', async (id) => {
    using stub = await startStub([json(200, user)])
    const client = createClient({ url: stub.url, token })
    const params = { path: { id } }
    await expect(client.GET('/v1/orders/{id}', { params })).rejects.toThrow(TypeError)
    await expect(client.GET('/v1/orders/{id}', { params: {} } as never)).rejects.toThrow(TypeError)
    expect(stub.received).toEqual([])
  })

  it('takes an id with slashes as an id', async () => {
    using stub = await startStub([json(200, user)])
    await createClient({ url: stub.url, token }).GET('/v1/orders/{id}', { params: { path: { id: '../a?b' } } })
    expect(stub.received[0]?.url).toBe('/v1/orders/..%2Fa%3Fb')
  })

  it('begins at the address of the service, with or without the version', async () => {
    using stub = await startStub([json(200, user)])
    for (const end of ['', '/', '/v1', '/v1/'])
      await createClient({ url: stub.url + end, token }).GET('/v1/auth/user-info')
    expect(stub.received.map(({ url }) => url)).toEqual(Array(4).fill('/v1/auth/user-info'))
    expect(() => createClient({ url: undefined as never })).toThrow('address')
  })
})

describe('an answer', () => {
  it('that did not change has no data', async () => {
    using stub = await startStub([(response) => response.writeHead(304, { etag: '"v1"' }).end()])
    const headers = ifChanged('"v1"')
    const params = { path: { id: 'cmp_1' } }
    const { data, response } = await createClient({ url: stub.url, token }).GET('/v1/campaigns/{id}', {
      params,
      headers,
    })
    expect(data).toBeUndefined()
    // @ts-expect-error The data can be undefined.
    expect(() => data.name).toThrow(TypeError)
    expect(response.status).toBe(304)
    expect(stub.received[0]?.headers['if-none-match']).toBe('"v1"')
  })

  it('with a file is the text that its type says, or a stream', async () => {
    using stub = await startStub([file('text/csv; charset=utf-8', 'id\r\n1\r\n')])
    const client = createClient({ url: stub.url, token })
    const params = { path: { id: 'imp_1' } }
    const { data: csv } = await client.GET('/v1/data-imports/{id}/error-report', { params })
    expect(csv satisfies string).toBe('id\r\n1\r\n')
    const { data } = await client.GET('/v1/data-imports/{id}/error-report', { params, parseAs: 'stream' })
    expect(await new Response(data satisfies ReadableStream | null).text()).toBe('id\r\n1\r\n')
  })

  it.each(['<html>Welcome</html>', ''])(
    'that is not from the API is an error, although its status is 200: %j',
    async (text) => {
      using stub = await startStub([file('text/html', text)])
      const call = createClient({ url: stub.url, token }).GET('/v1/auth/user-info')
      await expect(call).rejects.toBeInstanceOf(ApiError)
    },
  )

  it('with the error of another service is an ApiError', async () => {
    using stub = await startStub([json(400, { code: 7, detail: 'No.', errors: 'none' })])
    const call = createClient({ url: stub.url, token }).GET('/v1/auth/user-info')
    await expect(call).rejects.toMatchObject({ name: 'ApiError', status: 400, code: 'internal_error' })
  })
})

describe('an upload', () => {
  it('sends a Blob with its type, also again', async () => {
    using stub = await startStub([breakConnection, json(201, user)])
    const body = new Blob(['id\n1\n'], { type: 'text/csv' })
    const params = { query: { organization_id: 'org_1', purpose: 'import' as const } }
    await createClient({ url: stub.url, token }).POST('/v1/files', { params, body })
    expect(stub.received.map((request) => [request.headers['content-type'], request.body])).toEqual(
      Array.from({ length: 2 }, () => ['text/csv', 'id\n1\n']),
    )
  })

  it('sends fields with a Blob as a form', async () => {
    using stub = await startStub([json(201, user)])
    const body = {
      organization_id: 'org_1',
      alt_text: { en: 'Stage' },
      file: new File(['x'], 'a.png', { type: 'image/png' }),
    }
    await createClient({ url: stub.url, token }).POST('/v1/files', { body })
    const [request] = stub.received
    expect(request?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/)
    const form = await new Response(request?.body, { headers: request?.headers as Record<string, string> }).formData()
    expect([form.get('organization_id'), form.get('alt_text'), (form.get('file') as File).name]).toEqual([
      'org_1',
      '{"en":"Stage"}',
      'a.png',
    ])
  })
})

it('a stream keeps the headers of the caller, and does not reconnect when it is aborted', async () => {
  using stub = await startStub([
    (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).write('id: org_1:1\n\n'),
  ])
  const abort = new AbortController()
  const lost: unknown[] = []
  const events = streamEvents(createClient({ url: stub.url, token }), '/v1/webhooks/events/stream', {
    headers: { 'X-Request-Id': 'req_mine' },
    signal: abort.signal,
    onReconnect: (error) => lost.push(error),
  })
  await events.next()
  setTimeout(() => abort.abort(), 50)
  await expect(events.next()).rejects.toThrow('aborted')
  expect(lost).toEqual([])
  expect(stub.received[0]?.headers['x-request-id']).toBe('req_mine')
})

it('verifyWebhook reads headers of any spelling, and of any class', () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const body = '{"id":"evn_1"}'
  const at = new Date()
  const headers = {
    'Webhook-Id': 'evn_1',
    'Webhook-Timestamp': String(Math.floor(at.getTime() / 1000)),
    'Webhook-Signature': [new Webhook(secret).sign('evn_1', at, body)],
  }
  expect(verifyWebhook(body, headers, secret)).toEqual({ id: 'evn_1' })
  const map = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]))
  expect(verifyWebhook(body, { get: (name) => map.get(name) ?? null }, secret)).toEqual({ id: 'evn_1' })
  const changed = new TextEncoder().encode(`\uFEFF${body}`)
  expect(() => verifyWebhook(changed, headers, secret)).toThrow('signature')
})
