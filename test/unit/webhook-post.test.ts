import * as fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { toPlainText } from '../../src/domain/text/text.ts'
import { FetchPost } from '../../src/gateways/webhook-post/fetch-post.ts'

afterEach(() => vi.restoreAllMocks())

const request = { url: 'https://receiver.example.com/hook', headers: {}, body: '{}', timeoutMs: 1000 }

/** Posts to a receiver that answers like this, and returns the result. */
const postTo = (answer: () => Response) => {
  vi.spyOn(globalThis, 'fetch').mockImplementation(async () => answer())
  return new FetchPost().post(request)
}

const utf8 = (text: string) => new TextEncoder().encode(text)

/** Makes a body that comes in these parts and then fails with `error`, if given. */
const streamed = (parts: readonly Uint8Array[], error?: Error): ReadableStream<Uint8Array> => {
  let next = 0
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const part = parts[next++]
      if (part) controller.enqueue(part)
      else if (error) controller.error(error)
      else controller.close()
    },
  })
}

describe('the stored text of an answer', () => {
  it.each([
    ['{\r\n\t"error": "unknown topic"\n}\n', '{ "error": "unknown topic" }'],
    ['a\u0000b\u001b[31mred\u007f', 'ab[31mred'],
    ['\u202Eevil\u2066\u200B', 'evil'],
    ['a\u2028b', 'a b'],
    ['  \n ', ''],
  ])('is one line without control characters: %j', (text, plain) => {
    expect(toPlainText(utf8(text), 1024)).toBe(plain)
  })

  it('is cut between characters', () => {
    expect(toPlainText(utf8('æ'.repeat(10)), 7)).toBe('æææ')
    expect(toPlainText(utf8('🎪🎪'), 7)).toBe('🎪')
    expect(toPlainText(new Uint8Array(1024).fill(0xff), 1024)).toBe('\ufffd'.repeat(341))
  })

  it('can be stored, is short and stays the same when it is cut again, for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.integer({ min: 4, max: 60 }), (bytes, max) => {
        const plain = toPlainText(bytes, max)
        expect(plain.isWellFormed() && !/[\p{Cc}\p{Cf}]/u.test(plain)).toBe(true)
        expect(utf8(plain).length).toBeLessThanOrEqual(max)
        expect(toPlainText(utf8(plain), max)).toBe(plain)
      }),
    )
  })
})

describe('a webhook post', () => {
  it.each<[string, () => Response, object]>([
    [
      'a short answer',
      () => new Response('unknown topic', { status: 422, headers: { 'content-length': '13' } }),
      { status: 422, error: 'http_error', text: 'unknown topic' },
    ],
    [
      'the beginning of a long answer',
      () => new Response(streamed(Array.from({ length: 900 }, () => utf8('æøå'))), { status: 200 }),
      { status: 200, error: null, text: `${'æøå'.repeat(170)}æø` },
    ],
    ['an empty answer', () => new Response(null, { status: 204 }), { status: 204, error: null, text: '' }],
    [
      'a redirect that it does not follow',
      () => new Response('', { status: 302, headers: { location: 'http://10.0.0.1/' } }),
      { status: 302, error: 'redirect', text: '' },
    ],
  ])('keeps %s', async (_, answer, expected) => {
    expect(await postTo(answer)).toMatchObject(expected)
  })

  it('reads an endless answer only up to a limit', async () => {
    let pulled = 0
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled++
        controller.enqueue(new Uint8Array(1000).fill(0x78))
      },
    })
    expect(await postTo(() => new Response(endless))).toMatchObject({ status: 200, text: 'x'.repeat(1024) })
    expect(pulled).toBeLessThan(15)
  })

  it('ignores the stated length of a compressed answer, which may unpack to any', async () => {
    let pulled = 0
    const unpacked = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled++
        if (pulled > 1000) controller.close()
        else controller.enqueue(new Uint8Array(1000).fill(0x78))
      },
    })
    const headers = { 'content-length': '100', 'content-encoding': 'br' }
    expect(await postTo(() => new Response(unpacked, { headers }))).toMatchObject({ text: 'x'.repeat(1024) })
    expect(pulled).toBeLessThan(15)
  })

  // The errors are spelled as in workerd and other runtimes.
  it.each([
    ['Network connection lost.', 'connection_lost'],
    ['connect(): Connection refused', 'connection_refused'],
    ['read ECONNRESET', 'connection_reset'],
    ['Connection reset by peer', 'connection_reset'],
    ['DNS lookup failed.', 'dns_failure'],
    ['failed to lookup address information: Name or service not known', 'dns_failure'],
    ['TLS handshake failed: received corrupt message', 'tls_failure'],
    ['internal error; reference = qkh7m8n28e4h6k4jsgk975r4', 'network_error'],
    ['', 'network_error'],
  ])('fails with a code for %j: %s', async (message, error) => {
    const result = await postTo(() => {
      throw new Error(message)
    })
    const durationMs = expect.any(Number)
    expect(result).toEqual({ status: null, error, retryAfter: null, text: null, durationMs, isDelayed: false })
  })

  it.each([
    ['at its time', 1100, false],
    ['late, because this service was busy', 2100, true],
  ])('says of a time limit that it ended %s', async (_, milliseconds, isDelayed) => {
    const time = vi.spyOn(performance, 'now').mockReturnValue(0)
    const result = await postTo(() => {
      time.mockReturnValue(milliseconds)
      throw new DOMException('The time limit has passed.', 'TimeoutError')
    })
    expect(result).toMatchObject({ error: 'timeout', isDelayed })
  })

  it('reports a connection that breaks during the answer', async () => {
    const result = await postTo(() => new Response(streamed([utf8('ab')], new Error('Network connection lost.'))))
    expect(result).toMatchObject({ status: null, error: 'connection_reset', text: null })
  })

  it.each([
    [530, 'error code: 1016', 'dns_failure'],
    [521, 'error code: 521', 'connection_refused'],
    [525, 'error code: 525', 'tls_failure'],
    [526, 'error code: 526\n', 'tls_failure'],
    [530, 'error code: 1033', 'http_error'],
    [500, 'error code: 1016', 'http_error'],
    [530, 'my error code: 1016', 'http_error'],
    [200, 'error code: 1016', null],
  ])('fails with a code for the answer %i %j: %s', async (status, body, error) => {
    expect(await postTo(() => new Response(body, { status }))).toMatchObject({ status, error, text: body.trim() })
  })
})
