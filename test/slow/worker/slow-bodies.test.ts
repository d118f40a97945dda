import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { callWith, type Reply, type Request } from '../../support/api.ts'
import { dump } from '../../support/dump.ts'
import { chooseCaller, guarded, make, buildPath, withBody } from '../../support/operations.ts'
import { describeRefusal } from '../../support/refusals.ts'
import { buildWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
})
afterEach(() => vi.useRealTimers())

const json = { 'content-type': 'application/json' }
const limitMs = 15_000

/** Makes a body whose parts each come this many milliseconds after they are read, and counts the reads. */
function trickling(text: string, pauseMs: number) {
  const reads = { asked: 0, cancelled: false }
  const bytes = new TextEncoder().encode(text)
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const at = reads.asked++
        await new Promise((resolve) => setTimeout(resolve, pauseMs))
        if (reads.cancelled) return
        if (at < bytes.length) controller.enqueue(bytes.slice(at, at + 1))
        else controller.close()
      },
      cancel() {
        reads.cancelled = true
      },
    },
    { highWaterMark: 0 },
  )
  return { stream, reads }
}

const silent = () => {
  const reads = { asked: 0 }
  const stream = new ReadableStream<Uint8Array>(
    { pull: () => (reads.asked++, new Promise<never>(() => {})) },
    { highWaterMark: 0 },
  )
  return { stream, reads }
}

/** Sends requests with a simulated clock. */
function underWay(path: string, request: Request): { moved: (ms: number) => Promise<Reply | null> } {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  let reply: Reply | null = null
  let fault: unknown = null
  callWith({}, path, request).then(
    (value) => (reply = value),
    (error: unknown) => (fault = error),
  )
  const real = (turns: number) =>
    Array.from({ length: turns }).reduce<Promise<unknown>>(
      (before) => before.then(() => scheduler.wait(1)),
      Promise.resolve(),
    )
  return {
    moved: async (ms) => {
      await real(20)
      await vi.advanceTimersByTimeAsync(ms)
      await real(20)
      if (fault) throw fault
      return reply
    },
  }
}

describe('the body of a request', () => {
  it('is answered with 408 after 15 seconds when it never comes, changes nothing and leaves its key free', async () => {
    const [operation] = withBody.filter(({ id }) => id === 'createOrganization')
    if (!operation) throw new Error('no such operation')
    const caller = chooseCaller(operation, world)
    const sample = await make(operation, world, caller)
    const before = await dump()
    const headers = { ...json, 'idempotency-key': 'slow-1' }
    const { stream, reads } = silent()
    const request = underWay(buildPath(operation, sample), {
      method: 'POST',
      token: caller.token,
      raw: stream,
      headers,
    })
    expect(await request.moved(limitMs - 1)).toBeNull()
    expect(reads.asked).toBe(1)
    const reply = await request.moved(1)
    expect(reply && describeRefusal(reply)).toBe('408 request_timeout')
    expect(vi.getTimerCount()).toBe(0)
    vi.useRealTimers()
    expect(await dump()).toEqual(before)
    const secondReply = await callWith({}, buildPath(operation, sample), {
      method: 'POST',
      token: caller.token,
      body: sample.body,
      headers: { 'idempotency-key': 'slow-1' },
    })
    expect(secondReply.status).toBe(operation.status)
  })

  it('has 15 seconds in all when it comes byte by byte, and is not read after that', async () => {
    const operation = withBody.find(({ id }) => id === 'createOrganization')
    if (!operation) throw new Error('no such operation')
    const caller = chooseCaller(operation, world)
    const { stream, reads } = trickling(' '.repeat(1000), 1000)
    const request = underWay('/v1/organizations', { method: 'POST', token: caller.token, raw: stream, headers: json })
    for (let second = 1; second < 15; second++) expect(await request.moved(1000)).toBeNull()
    const reply = await request.moved(1000)
    expect(reply && describeRefusal(reply)).toBe('408 request_timeout')
    expect(reads.asked).toBeLessThanOrEqual(16)
    expect(reads.cancelled).toBe(true)
  })

  it('is accepted when it is slow and in time, and leaves no timer behind', async () => {
    const operation = withBody.find(({ id }) => id === 'createOrganization')
    if (!operation) throw new Error('no such operation')
    const caller = chooseCaller(operation, world)
    const { body } = await make(operation, world, caller)
    const { stream } = trickling(JSON.stringify(body), 10)
    const request = underWay('/v1/organizations', { method: 'POST', token: caller.token, raw: stream, headers: json })
    let reply: Reply | null = null
    for (let step = 0; step < 500 && !reply; step++) reply = await request.moved(10)
    expect(reply?.status).toBe(operation.status)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('has the same limit in a provider event', async () => {
    const { stream } = silent()
    const request = underWay('/provider-events/resend', { method: 'POST', token: null, raw: stream, headers: json })
    expect(await request.moved(limitMs - 1)).toBeNull()
    const reply = await request.moved(1)
    expect(reply && describeRefusal(reply)).toBe('408 request_timeout')
  })
})

describe('a body is not read', () => {
  const unread = async (path: string, request: Request): Promise<number> => {
    const { stream, reads } = silent()
    const { status } = await callWith({}, path, { method: 'POST', headers: json, ...request, raw: stream })
    expect(reads.asked).toBe(0)
    return status
  }

  it('when the caller is not authenticated', async () => {
    for (const operation of guarded.filter(({ method }) => method !== 'get')) {
      const sample = await make(operation, world, chooseCaller(operation, world))
      const path = buildPath(operation, { ...sample, query: {} })
      expect([operation.id, await unread(path, { method: operation.method.toUpperCase(), token: 'nobody' })]).toEqual([
        operation.id,
        401,
      ])
    }
  })

  it('when the request is forbidden, or its resource is missing', async () => {
    const message = '/v1/email-messages/eml_none'
    expect(await unread(message, { method: 'PATCH', token: world.people.OA.token })).toBe(404)
    expect(await unread(message, { method: 'DELETE', token: world.people.OA.token })).toBe(404)
    expect(await unread(message, { method: 'PATCH', token: world.people.EV.token })).toBe(403)
    expect(await unread('/v1/organizations', { token: world.people.EV.token })).toBe(403)
  })

  it('when the link or the provider does not exist', async () => {
    expect(await unread('/provider-events/nobody', { token: null })).toBe(404)
    expect(await unread('/t/u/nothing', { token: null })).toBe(404)
  })
})
