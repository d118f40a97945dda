import { afterEach, describe, expect, it, vi } from 'vitest'
import { FetchPost } from '../../src/gateways/webhook-post/fetch-post.ts'
import { postJson } from '../../src/gateways/provider-api/call-api.ts'
import { SharedTimeLimits, withTimeLimit } from '../../src/gateways/time-limit/time-limit.ts'

afterEach(() => vi.restoreAllMocks())

/** More timers than the runtime lets an invocation have at once. */
const manyRequests = 10_050
const longMs = 60_000

describe('the time limit of a request', () => {
  it('aborts longer requests, with a reason', async () => {
    const never = (signal: AbortSignal) =>
      new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
    await expect(withTimeLimit(5, never)).rejects.toMatchObject({ name: 'TimeoutError' })
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
    for (let made = 0; made < manyRequests; made++) ends.add((await webhooks.post(request)).error)
    expect([...ends]).toEqual([null])
    expect(await postJson('https://provider.example', {}, {}, longMs)).toMatchObject({ isComplete: true, status: 200 })
  })
})

describe('a shared time limit', () => {
  const never = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))

  it('is one for works that begin together, another for those that begin later or have another length', async () => {
    const limits = new SharedTimeLimits()
    const seen: AbortSignal[] = []
    const ends = Promise.withResolvers<void>()
    const begin = (timeoutMs: number) =>
      limits.run(timeoutMs, async (signal) => {
        seen.push(signal)
        await ends.promise
      })
    const works = [begin(longMs), begin(longMs), begin(longMs + 1)]
    await new Promise((resolve) => setTimeout(resolve, 80))
    works.push(begin(longMs))
    expect([...new Set(seen)].map((signal) => seen.indexOf(signal))).toEqual([0, 2, 3])
    ends.resolve()
    await Promise.all(works)
  })

  it('aborts each work that is under way then, with a reason, and not before its time', async () => {
    const limits = new SharedTimeLimits()
    const started = performance.now()
    const quick = limits.run(100, async (signal) => signal)
    const first = limits.run(100, never).catch((error: unknown) => error)
    await new Promise((resolve) => setTimeout(resolve, 30))
    const second = limits.run(100, never).catch((error: unknown) => error)
    expect((await quick).aborted).toBe(false)
    expect([await first, await second]).toMatchObject([{ name: 'TimeoutError' }, { name: 'TimeoutError' }])
    // The second began 30 ms later. Clocks of the runtime round to a millisecond.
    expect(performance.now() - started).toBeGreaterThanOrEqual(128)
  })

  it('ends with its last work, so that one that begins then has a limit of its own', async () => {
    const limits = new SharedTimeLimits()
    const first = await limits.run(20, async (signal) => signal)
    await new Promise((resolve) => setTimeout(resolve, 120))
    expect(first.aborted).toBe(false)
    expect(await limits.run(20, async (signal) => signal)).not.toBe(first)
  })
})
