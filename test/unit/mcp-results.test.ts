import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AppContext } from '../../src/http/env.ts'
import { readResult } from '../../src/http/mcp/read-result.ts'
import type { Operation } from '../../src/http/operations/operation.ts'

const context = { env: { PUBLIC_URL: '' }, req: { url: 'https://api.example/mcp' } } as unknown as AppContext
const operation = { id: 'listThings' } as Operation
const request = new Request('https://api.example/v1/things?page=2')

const read = async (body: string, type: string, skip = 0) => {
  const response = new Response(body, { headers: { 'content-type': type } })
  const { content } = await readResult(context, { operation, request, skip }, response)
  return { head: content[0]?.text ?? '', text: content[1]?.text ?? '' }
}

/** Reads a whole page by `skip`, as an agent does. */
async function readPage(results: readonly unknown[]): Promise<unknown[]> {
  const body = JSON.stringify({ count: 9000, next: 'https://api.example/v1/things?cursor=a', previous: 'x', results })
  const items: unknown[] = []
  for (let skip: number | null = 0; skip !== null;) {
    const { head, text } = await read(body, 'application/json', skip)
    expect(text.length).toBeLessThan(130_000)
    const shown = JSON.parse(text) as { results: unknown[]; previous?: unknown }
    expect(shown.previous).toBeUndefined()
    items.push(...shown.results)
    const more = /"skip": (\d+)/.exec(head)?.[1]
    expect(more !== undefined).toBe(items.length < results.length)
    if (more === undefined) expect(head).toContain('"cursor":"a"')
    skip = more === undefined ? null : Number(more)
  }
  return items
}

describe('the result of a call', () => {
  it('loses and repeats no item of a page, however long its items are', async () => {
    const item = fc.record({
      name: fc.string({ unit: 'binary', maxLength: 20 }),
      note: fc.nat(30_000).map((length) => 'x'.repeat(length)),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(item, { maxLength: 30 }), async (results) => {
        expect(await readPage(results)).toEqual(results)
      }),
      { numRuns: 30, seed: Number(process.env['PROPERTY_SEED'] ?? 1) },
    )
  })

  it('shows the beginning of an item that alone is too long, and the items behind it', async () => {
    const items = await readPage([{ id: 1 }, { note: 'y'.repeat(200_000) }, { id: 3 }])
    expect(items).toEqual([{ id: 1 }, expect.stringContaining('yyy'), { id: 3 }])
  })

  it('is cut where a file is long, and says where the whole is', async () => {
    for (const character of ['a', '"', '\u202E', '😀']) {
      const { head, text } = await read(character.repeat(500_000), 'text/csv')
      expect([character, text.length < 130_000]).toEqual([character, true])
      expect(JSON.parse(text)).toMatch(/^["a\u202E😀]/u)
      expect(head).toContain('https://api.example/v1/things?page=2')
    }
  })

  it('cancels a file that goes on', async () => {
    let isCancelled = false
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(1_000_000).fill(97)),
      cancel: () => void (isCancelled = true),
    })
    const { content } = await readResult(context, { operation, request, skip: 0 }, new Response(endless))
    expect(isCancelled).toBe(true)
    expect(content[1]?.text.length).toBeLessThan(130_000)
  })
})
