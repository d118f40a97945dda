import { afterEach, describe, expect, it, vi } from 'vitest'
import { postJson } from '../../src/gateways/provider-api/call-api.ts'
import { SharedTimeLimits, withTimeLimit } from '../../src/gateways/time-limit/time-limit.ts'
import { FetchPost } from '../../src/gateways/webhook-post/fetch-post.ts'

afterEach(() => vi.restoreAllMocks())

/** More timers than an invocation may have at once. */
const manyRequests = 10_050
const longMs = 60_000

describe('the time limit of a request', () => {
  it('aborts longer requests, with a reason', async () => {
    const waitForAbort = (signal: AbortSignal) =>
      new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
    await expect(withTimeLimit(5, waitForAbort)).rejects.toMatchObject({ name: 'TimeoutError' })
  })

  it('returns answers and errors', async () => {
    expect(await withTimeLimit(longMs, async ({ aborted }) => aborted)).toBe(false)
    await expect(withTimeLimit(longMs, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  })

  it('leaves no timer behind, for any number of requests', async () => {
    vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response('{}', { status: 200 }))
    const request = { url: 'https://receiver.example/hook', headers: {}, body: '{}', timeoutMs: longMs }
    const webhooks = new FetchPost()
    const ends = new Set<string | null>()
    for (let index = 0; index < manyRequests; index++) ends.add((await webhooks.post(request)).error)
    expect([...ends]).toEqual([null])
    expect(await postJson('https://provider.example', {}, {}, longMs)).toMatchObject({ isComplete: true, status: 200 })
  })
})

describe('a time limit that requests share', () => {
  const waitForAbort = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))

  it('is one for requests that begin together, another for those that begin later or have another length', async () => {
    const limits = new SharedTimeLimits()
    const signals: AbortSignal[] = []
    const ends = Promise.withResolvers<void>()
    const begin = (timeoutMs: number) =>
      limits.run(timeoutMs, async (signal) => {
        signals.push(signal)
        await ends.promise
      })
    const works = [begin(longMs), begin(longMs), begin(longMs + 1)]
    await new Promise((resolve) => setTimeout(resolve, 80))
    works.push(begin(longMs))
    expect([...new Set(signals)].map((signal) => signals.indexOf(signal))).toEqual([0, 2, 3])
    ends.resolve()
    await Promise.all(works)
  })

  it('aborts each request that is running then, with a reason, and not before its time', async () => {
    const limits = new SharedTimeLimits()
    const started = performance.now()
    const quick = limits.run(100, async (signal) => signal)
    const first = limits.run(100, waitForAbort).catch((error: unknown) => error)
    await new Promise((resolve) => setTimeout(resolve, 30))
    const second = limits.run(100, waitForAbort).catch((error: unknown) => error)
    expect((await quick).aborted).toBe(false)
    expect([await first, await second]).toMatchObject([{ name: 'TimeoutError' }, { name: 'TimeoutError' }])
    // The second limit began 30 ms later, and the runtime rounds times to a millisecond.
    expect(performance.now() - started).toBeGreaterThanOrEqual(128)
  })

  it('ends with its last request, so that one that begins then has a limit of its own', async () => {
    const limits = new SharedTimeLimits()
    const first = await limits.run(20, async (signal) => signal)
    await new Promise((resolve) => setTimeout(resolve, 120))
    expect(first.aborted).toBe(false)
    expect(await limits.run(20, async (signal) => signal)).not.toBe(first)
  })
})
