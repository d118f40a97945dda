import { afterEach, describe, expect, it, vi } from 'vitest'
import { getJson } from '../../src/gateways/provider-api/call-api.ts'

afterEach(() => vi.restoreAllMocks())

describe('an answer of a provider', () => {
  it.each([1, 700, 1024, 5000])('is read whole when it comes in parts of %i bytes', async (part) => {
    const sent = { ids: Array.from({ length: 100 }, (_, index) => `blåbær-${index}`) }
    const bytes = new TextEncoder().encode(JSON.stringify(sent))
    const { readable, writable } = new IdentityTransformStream()
    const write = async () => {
      const writer = writable.getWriter()
      for (let at = 0; at < bytes.length; at += part) await writer.write(bytes.slice(at, at + part))
      await writer.close()
    }
    const written = write()
    vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response(readable))
    expect(await getJson('https://provider.example', {}, 10_000)).toMatchObject({
      isComplete: true,
      status: 200,
      body: sent,
    })
    await written
  })

  it('is read at one go when it says how long it is', async () => {
    const text = JSON.stringify({ id: 'blåbær' })
    const length = String(new TextEncoder().encode(text).length)
    vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response(text, { headers: { 'content-length': length } }))
    const reader = vi.spyOn(ReadableStream.prototype, 'getReader')
    const answer = await getJson('https://provider.example', {}, 10_000)
    expect(answer).toMatchObject({ isComplete: true, status: 200, body: { id: 'blåbær' } })
    expect(reader).not.toHaveBeenCalled()
  })

  it.each<Record<string, string>>([
    { 'content-length': '2000000' },
    { 'content-length': '100', 'content-encoding': 'br' },
    {},
  ])('that is longer than any known one is none, with the head %j', async (headers) => {
    const { readable, writable } = new IdentityTransformStream()
    let written = 0
    const write = async () => {
      const writer = writable.getWriter()
      for (; written < 2000; written++) await writer.write(new Uint8Array(1000).fill(0x20))
    }
    const writing = write().catch(() => undefined)
    vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response(readable, { headers }))
    const answer = await getJson('https://provider.example', {}, 10_000)
    expect(answer).toEqual({ isComplete: false, code: 'unreadable_answer' })
    await writing
    expect(written).toBeLessThan(600)
  })
})
