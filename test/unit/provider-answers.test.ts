import { afterEach, describe, expect, it, vi } from 'vitest'
import { getJson } from '../../src/gateways/provider-api/post-json.ts'

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
    expect(await getJson('https://provider.example', {}, 10_000)).toMatchObject({ came: true, status: 200, body: sent })
    await written
  })
})
