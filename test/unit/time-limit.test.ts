import { afterEach, describe, expect, it, vi } from 'vitest'
import { fetchPost } from '../../src/gateways/webhook-post/fetch-post.ts'
import { postJson } from '../../src/gateways/provider-api/post-json.ts'
import { withTimeLimit } from '../../src/gateways/time-limit/time-limit.ts'

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
    const ends = new Set<string | null>()
    for (let made = 0; made < manyRequests; made++) ends.add((await fetchPost.post(request)).error)
    expect([...ends]).toEqual([null])
    expect(await postJson('https://provider.example', {}, {}, longMs)).toMatchObject({ came: true, status: 200 })
  })
})
