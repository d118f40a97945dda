import { env } from 'cloudflare:workers'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { call, callWith } from '../support/api.ts'
import { dump } from '../support/dump.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedPeople } from '../support/seeding/customers.ts'
import { givenSegment } from '../support/seeding/messaging/segments.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { calculate } from '../support/segments.ts'
import { visit } from '../support/visits.ts'
import { buildWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
})
afterEach(() => {
  vi.restoreAllMocks()
})

const logged = () => {
  const lines: { level: string; status?: number; operation?: string }[] = []
  const keep = (line: unknown) => void lines.push(JSON.parse(String(line)) as (typeof lines)[number])
  for (const method of ['log', 'error', 'warn', 'info'] as const) vi.spyOn(console, method).mockImplementation(keep)
  return lines
}

describe('an address with thousands of unknown parameters', () => {
  it('is refused with a short answer', async () => {
    const query = Array.from({ length: 4000 }, (_, index) => `p${index}=1`).join('&')
    const reply = await call(`/v1/user?${query}`)
    expect([reply.status, reply.body.errors.length]).toEqual([400, 50])
    expect(reply.text.length).toBeLessThan(16_384)
  })
})

describe('a body with a repeated field', () => {
  it.each([
    ['{"name": "One", "name": "Two"}', '#/name'],
    [String.raw`{"name": "One", "n\u0061me": "One"}`, '#/name'],
    ['{"name": "One", "metadata": {"a": [1, {"b": "\\":{}", "b": 2}]}}', '#/metadata/a/1/b'],
    ['{"name": {"a": 1}, "name": "Two"}', '#/name'],
    ['{"__proto__": 1, "name": "One", "__proto__": 2}', '#/__proto__'],
  ])('is refused with a pointer, and nothing is written: %s', async (raw, pointer) => {
    const before = await dump()
    const reply = await call('/v1/organizations', {
      method: 'POST',
      raw,
      headers: { 'content-type': 'application/json' },
    })
    expect([reply.status, reply.body.errors]).toMatchObject([400, [{ code: 'repeated', pointer }]])
    expect(await dump()).toEqual(before)
  })

  it('uses up its Idempotency-Key', async () => {
    const headers = { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() }
    const send = (raw: string) => call('/v1/organizations', { method: 'POST', raw, headers })
    const twice = '{"name": "One", "name": "Two"}'
    expect([(await send(twice)).status, (await send(twice)).status]).toEqual([400, 400])
    expect((await send('{"name": "Two"}')).body.code).toBe('idempotency_key_reused')
  })

  it('is accepted when the field is once in each object or text that looks like JSON', async () => {
    const raw = JSON.stringify({ name: '{"name":"\\","name":', slug: `a-${crypto.randomUUID()}` })
    const reply = await call('/v1/organizations', {
      method: 'POST',
      raw,
      headers: { 'content-type': 'application/json' },
    })
    expect(reply.status, reply.text).toBe(201)
  })
})

async function givenExport() {
  const organisation = await givenOrganization()
  await seedPeople({ organization: organisation.id }, [{}])
  const { id } = await givenSegment({ organization_id: organisation.id })
  return { segment: id as string, path: `/v1/segments/${id}/export` }
}

describe('HEAD', () => {
  it('of an export has the headers of the GET, and records nothing', async () => {
    const { segment, path } = await givenExport()
    await calculate(segment)
    const before = await dump()
    const head = await call(path, { method: 'HEAD' })
    expect(await dump()).toEqual(before)
    const getReply = await call(path)
    const names = ['content-type', 'content-disposition', 'cache-control']
    expect([head.status, head.text, names.map((name) => head.headers.get(name))]).toEqual([
      200,
      '',
      names.map((name) => getReply.headers.get(name)),
    ])
    const count = await env.DB.prepare('select count(*) as n from segment_exports where segment_id = ?')
      .bind(segment)
      .first<{ n: number }>()
    expect(count?.n).toBe(1)
  })

  it('of an export is refused when the export is', async () => {
    const { segment, path } = await givenExport()
    expect((await call(path, { method: 'HEAD' })).status).toBe(409)
    await calculate(segment)
    expect((await call(`${path}?columns=x`, { method: 'HEAD' })).status).toBe(400)
  })
})

describe('a path such as /v1/editions/_meta, which also matches /v1/editions/{id}', () => {
  it('answers other methods with 405 and its own methods', async () => {
    const cases = [
      ['PATCH', '/v1/editions/_meta', 'GET, HEAD'],
      ['DELETE', '/v1/editions/_meta', 'GET, HEAD'],
      ['PATCH', '/v1/segments/cel-context', 'GET, HEAD'],
      ['DELETE', '/v1/segments/cel-context/', 'GET, HEAD'],
      ['GET', '/v1/segments/validate-cel', 'POST'],
      ['HEAD', '/v1/segments/validate-cel', 'POST'],
      ['PATCH', '/v1/segments/validate-cel', 'POST'],
      ['DELETE', '/v1/email-messages/template-variables', 'GET, HEAD'],
      ['PATCH', '/v1/webhooks/event-kinds', 'GET, HEAD'],
      ['DELETE', '/v1/webhooks/event-kinds', 'GET, HEAD'],
      ['DELETE', '/v1/auth/user-info', 'GET, HEAD'],
      ['PUT', '/v1/editions/_meta', 'GET, HEAD'],
      ['PUT', `/v1/editions/${world.a.editions[0].id}`, 'GET, HEAD, PATCH'],
    ] as const
    for (const [method, path, allow] of cases) {
      const { status, headers } = await call(path, { method })
      expect([method, path, status, headers.get('allow')]).toEqual([method, path, 405, allow])
    }
    expect((await call('/v1/editions/_meta', { method: 'HEAD' })).status).toBe(200)
    expect((await call('/v1/editions/_meta', { method: 'PATCH', token: null })).status).toBe(401)
  })

  it('answers other methods with 405 and its own methods outside of /v1', async () => {
    const cases = [
      ['POST', '/openapi.json', 'GET, HEAD'],
      ['DELETE', '/docs', 'GET, HEAD'],
      ['POST', '/docs/scalar.js', 'GET, HEAD'],
      ['PUT', '/healthz', 'GET, HEAD'],
      ['GET', '/provider-events/resend', 'POST'],
      ['PUT', '/t/u/x', 'GET, HEAD, POST'],
    ] as const
    for (const [method, path, allow] of cases) {
      const { status, headers, body } = await call(path, { method, token: null })
      expect([path, status, headers.get('allow'), body?.code]).toEqual([path, 405, allow, 'method_not_allowed'])
    }
    expect((await call('/elsewhere', { token: null, method: 'POST' })).status).toBe(404)
  })
})

describe('a client that disconnects', () => {
  it('causes no error entry, and its request writes nothing', async () => {
    const before = await dump()
    const lines = logged()
    const raw = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"name":')),
      pull: (controller) => controller.error(new Error('Network connection lost.')),
    })
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'gone' }
    const reply = await callWith({ ENVIRONMENT: 'production' }, '/v1/events', { raw, headers })
    expect(describeRefusal(reply)).toBe('499 client_closed_request')
    expect(lines.map(({ level, status }) => [level, status])).toEqual([['info', 499]])
    expect(await dump()).toEqual(before)
    vi.restoreAllMocks()
    const body = { organization_id: world.a.id, name: 'Again' }
    expect((await call('/v1/events', { body, headers: { 'idempotency-key': 'gone' } })).status).toBe(201)
  })

  it('causes no error entry while it receives a file', async () => {
    const organisation = await givenOrganization()
    await seedPeople({ organization: organisation.id }, [{}])
    const segment = await givenSegment({ organization_id: organisation.id })
    await calculate(segment.id as string)
    const { streamChunks } = await import('../../src/http/operations/mount.ts')
    const failures: unknown[] = []
    let give: (result: IteratorResult<string>) => void = () => {}
    let isEnded = false
    const stream = streamChunks(
      {
        next: () => new Promise((resolve) => (give = resolve)),
        return: async () => ((isEnded = true), { value: undefined, done: true }),
      },
      (error) => failures.push(error),
    )
    const reader = stream.getReader()
    const read = reader.read()
    await reader.cancel()
    give({ value: 'late', done: false })
    expect(await read).toEqual({ value: undefined, done: true })
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect([failures, isEnded]).toEqual([[], true])
  })
})

describe('a body that the service cannot decode', () => {
  const send = (headers: Record<string, string>) =>
    call('/v1/events', { raw: JSON.stringify({ organization_id: world.a.id, name: 'Encoded' }), headers })

  it('returns 415 for its charset', async () => {
    for (const charset of ['iso-8859-1', '"ISO-8859-1"', 'utf-16', 'us-ascii', 'utf-8x', '""']) {
      const reply = await send({ 'content-type': `application/json; charset=${charset}` })
      expect([charset, reply.status, reply.body.code]).toEqual([charset, 415, 'unsupported_media_type'])
    }
    for (const type of ['application/json; charset=UTF-8', 'application/json;charset="utf-8"', 'application/json; a=b'])
      expect([type, (await send({ 'content-type': type })).status]).toEqual([type, 201])
  })

  it('returns 415 for its encoding, with the accepted ones', async () => {
    for (const encoding of ['gzip', 'br', 'identity, gzip', 'x']) {
      const reply = await send({ 'content-type': 'application/json', 'content-encoding': encoding })
      expect([encoding, reply.status, reply.headers.get('accept-encoding')]).toEqual([encoding, 415, 'identity'])
    }
    expect((await send({ 'content-type': 'application/json', 'content-encoding': 'identity' })).status).toBe(201)
  })
})

describe('a refused provider event', () => {
  it('gets a problem document', async () => {
    for (const [path, status, code] of [
      ['/provider-events/resend', 401, 'not_authenticated'],
      ['/provider-events/unheard-of', 404, 'not_found'],
    ] as const) {
      const reply = await visit(path, { method: 'POST', body: '{}' })
      expect([reply.status, reply.headers.get('content-type')]).toEqual([status, 'application/problem+json'])
      expect(JSON.parse(reply.text)).toMatchObject({ status, code })
    }
  })
})

describe('If-Match and If-None-Match', () => {
  const path = () => `/v1/editions/${world.a.editions[0].id}`
  const patch = (headers: Record<string, string>, name: string) =>
    call(path(), { method: 'PATCH', body: { name }, headers })

  it('compare ETags strongly in If-Match, so that a weak ETag never matches', async () => {
    const etag = (await call(path())).headers.get('etag') ?? ''
    for (const tags of [`W/${etag}`, `"other", W/${etag}`, 'W/"other"']) {
      const reply = await patch({ 'if-match': tags }, 'Weakly')
      expect([tags, reply.status, reply.body.code]).toEqual([tags, 412, 'precondition_failed'])
    }
    expect((await patch({ 'if-match': `W/"other", ${etag}` }, 'Strongly')).status).toBe(200)
    expect((await call(path())).body.name).toBe('Strongly')
  })

  it('work behind proxies, which are told not to weaken ETags', async () => {
    expect((await call(path())).headers.get('cache-control')).toBe('private, no-cache, no-transform')
  })

  it('refuse a change under If-None-Match for * and for the ETag of the state', async () => {
    const { headers, body } = await call(path())
    const etag = headers.get('etag') ?? ''
    for (const tags of ['*', ' * ', etag, `W/${etag}`, `"other", ${etag}`]) {
      const reply = await patch({ 'if-none-match': tags }, 'Never')
      expect([tags, reply.status, reply.body.code]).toEqual([tags, 412, 'precondition_failed'])
    }
    const before = await dump()
    for (const [method, target] of [
      ['DELETE', `/v1/webhooks/${world.a.editions[0].webhook}`],
      ['POST', `/v1/campaigns/${world.a.editions[0].draft}/send-now`],
      ['DELETE', `/v1/auth/tokens/${world.a.boundToken}`],
    ] as const)
      expect((await call(target, { method, headers: { 'if-none-match': '*' } })).status).toBe(412)
    expect(await dump()).toEqual(before)
    expect((await call(path())).body.name).toBe(body.name)
    expect((await patch({ 'if-none-match': '"other"' }, 'Another state')).status).toBe(200)
    const createReply = await call('/v1/events', {
      body: { organization_id: world.a.id, name: 'New' },
      headers: { 'if-none-match': '*' },
    })
    expect(createReply.status).toBe(201)
  })
})
