import { describe, expect, it } from 'vitest'
import { ApiError, createClient, ifUnchanged, isApiError, paginate, PreconditionFailedError } from '../src/index.ts'
import { breakConnection, json, problem, startStub } from './stub.ts'

const token = 'ecm_test'
const edition = { name: 'Nordlys' }
const create = { params: {}, body: { organization_id: 'org_1', name: 'Early birds' } } as never

describe('a call', () => {
  it('is tried again after a lost connection with the same Idempotency-Key', async () => {
    using stub = await startStub([breakConnection, breakConnection, json(201, edition)])
    const { data } = await createClient({ url: stub.url, token }).POST('/v1/campaigns', create)
    expect(data).toEqual(edition)
    const keys = stub.received.map(({ headers }) => headers['idempotency-key'])
    expect(keys).toHaveLength(3)
    expect(new Set(keys).size).toBe(1)
    expect(stub.received.map(({ body }) => body)).toEqual(Array(3).fill(stub.received[0]?.body))
  })

  it('has a new Idempotency-Key each time, unless one is given', async () => {
    using stub = await startStub([json(201, edition)])
    const client = createClient({ url: stub.url, token })
    await client.POST('/v1/campaigns', create)
    await client.POST('/v1/campaigns', create)
    await client.POST('/v1/campaigns', { ...(create as object), headers: { 'Idempotency-Key': 'mine' } } as never)
    const [first, second, third] = stub.received.map(({ headers }) => headers['idempotency-key'])
    expect(first).not.toBe(second)
    expect(third).toBe('mine')
  })

  it('waits as long as Retry-After says', async () => {
    using stub = await startStub([problem(429, 'rate_limited', { 'retry-after': '1' }), json(200, edition)])
    const started = performance.now()
    await createClient({ url: stub.url, token }).GET('/v1/auth/user-info')
    expect(performance.now() - started).toBeGreaterThanOrEqual(990)
    expect(stub.received).toHaveLength(2)
  })

  it('fails at once when Retry-After is longer than it may wait', async () => {
    using stub = await startStub([problem(429, 'rate_limited', { 'retry-after': '3600' })])
    const client = createClient({ url: stub.url, token })
    await expect(client.GET('/v1/auth/user-info')).rejects.toMatchObject({ status: 429, code: 'rate_limited' })
    expect(stub.received).toHaveLength(1)
  })

  it('is tried again while its first try still runs', async () => {
    const inProgress = problem(409, 'idempotency_in_progress', { 'retry-after': '0' })
    using stub = await startStub([breakConnection, inProgress, json(201, edition)])
    const { response } = await createClient({ url: stub.url, token }).POST('/v1/campaigns', create)
    expect(response.status).toBe(201)
    expect(stub.received).toHaveLength(3)
  })

  it('is not tried again after other errors', async () => {
    using stub = await startStub([problem(409, 'write_conflict')])
    const client = createClient({ url: stub.url, token })
    await expect(client.POST('/v1/campaigns', create)).rejects.toMatchObject({ code: 'write_conflict' })
    expect(stub.received).toHaveLength(1)
  })

  it('without a token sends a POST once, because nothing makes it safe to repeat', async () => {
    using stub = await startStub([breakConnection])
    await expect(createClient({ url: stub.url }).POST('/v1/campaigns', create)).rejects.toThrow(TypeError)
    expect(stub.received).toHaveLength(1)
  })

  it('ends with the last error after its retries', async () => {
    using stub = await startStub([problem(503, 'overloaded', { 'retry-after': '0' })])
    const client = createClient({ url: stub.url, token, maxRetries: 1 })
    await expect(client.GET('/v1/auth/user-info')).rejects.toMatchObject({ status: 503, requestId: 'req_1' })
    expect(stub.received).toHaveLength(2)
  })

  it('stops waiting when it is aborted', async () => {
    using stub = await startStub([problem(503, 'overloaded', { 'retry-after': '60' })])
    const signal = AbortSignal.timeout(100)
    const client = createClient({ url: stub.url, token })
    await expect(client.GET('/v1/auth/user-info', { signal })).rejects.toMatchObject({ name: 'TimeoutError' })
    expect(stub.received).toHaveLength(1)
  })

  it('sends the bookmark of the last change, and so reads what it wrote', async () => {
    using stub = await startStub([
      json(201, edition, { 'x-d1-bookmark': 'written' }),
      json(200, edition, { 'x-d1-bookmark': 'read' }),
    ])
    const client = createClient({ url: stub.url, token })
    await client.POST('/v1/campaigns', create)
    await client.GET('/v1/auth/user-info')
    await client.GET('/v1/auth/user-info')
    expect(stub.received.map(({ headers }) => headers['x-d1-bookmark'])).toEqual([undefined, 'written', 'written'])
  })
})

describe('an error', () => {
  it('has the code, the fields and the request', async () => {
    const errors = [{ code: 'too_long', detail: 'Must have at most 200 characters.', attr: 'name', pointer: '/name' }]
    const refused = {
      type: 'about:blank',
      title: 'Invalid',
      status: 400,
      code: 'validation_error',
      detail: 'No.',
      errors,
    }
    using stub = await startStub([json(400, refused, { 'x-request-id': 'req_7' })])
    const error = await createClient({ url: stub.url, token })
      .POST('/v1/campaigns', create)
      .catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ status: 400, code: 'validation_error', errors, requestId: 'req_7' })
    if (!isApiError(error, 'createCampaign')) throw error
    // @ts-expect-error createCampaign cannot answer this code.
    expect(error.code === 'nothing_to_retry').toBe(false)
    expect(error.code === 'edition_archived').toBe(false)
    expect(error.message).toContain('/name Must have at most 200 characters.')
  })

  it('says so when the answer is not from the API', async () => {
    using stub = await startStub([(response) => response.writeHead(502).end('<html>Bad gateway</html>')])
    const call = createClient({ url: stub.url, token }).GET('/v1/auth/user-info')
    await expect(call).rejects.toMatchObject({
      status: 502,
      message: expect.stringContaining('not from the API') as unknown,
    })
  })
})

describe('an ETag', () => {
  it('comes with the answer, and a change of a changed resource fails with an error of its own', async () => {
    using stub = await startStub([json(200, edition, { etag: '"v1"' }), problem(412, 'precondition_failed')])
    const client = createClient({ url: stub.url, token })
    const params = { path: { id: 'cmp_1' } }
    const { etag } = await client.GET('/v1/campaigns/{id}', { params })
    expect(etag).toBe('"v1"')
    const headers = ifUnchanged(etag)
    expect(() => ifUnchanged(null)).toThrow('ETag')
    const change = client.PATCH('/v1/campaigns/{id}', { params, body: { name: 'Late birds' }, headers })
    await expect(change).rejects.toBeInstanceOf(PreconditionFailedError)
    expect(stub.received[1]?.headers['if-match']).toBe('"v1"')
  })
})

describe('paginate', () => {
  const page = (ids: string[], next: string | null) =>
    json(200, { count: 3, next, previous: null, results: ids.map((id) => ({ id })) })

  it('yields the items of all pages, with the filters', async () => {
    using stub = await startStub([
      page(
        ['a', 'b'],
        'https://public.example/v1/orders?edition_id=edt_1&ordering=-created%2Camount&page=2&cursor=x%2By',
      ),
      page(['c'], null),
    ])
    const ids: string[] = []
    const query = { edition_id: 'edt_1', ordering: ['-created' as const, 'amount' as const] }
    for await (const { id } of paginate(createClient({ url: stub.url, token }), '/v1/orders', { params: { query } }))
      ids.push(id)
    expect(ids).toEqual(['a', 'b', 'c'])
    expect(stub.received[1]?.url).toBe('/v1/orders?edition_id=edt_1&ordering=-created%2Camount&page=2&cursor=x%2By')
    expect(stub.received[1]?.headers.authorization).toBe(`Bearer ${token}`)
  })

  it('loads no page that nobody asks for', async () => {
    using stub = await startStub([page(['a', 'b'], 'https://public.example/v1/orders?page=2')])
    for await (const _ of paginate(createClient({ url: stub.url, token }), '/v1/orders')) break
    expect(stub.received).toHaveLength(1)
  })
})
