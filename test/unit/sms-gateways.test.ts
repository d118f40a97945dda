import { afterEach, describe, expect, it, vi } from 'vitest'
import { chunkClaimMarginMs } from '../../src/domain/campaigns/sending-policy.ts'
import { createGatewayApi } from '../../src/gateways/sms/gatewayapi.ts'
import { createContextAt } from '../support/context.ts'
import { anSms, watchTimers } from '../support/outbound.ts'

const gateway = createGatewayApi({ apiBase: 'https://sms.example', apiKey: 'token', now: () => 0 })
afterEach(() => vi.restoreAllMocks())

interface Wire {
  recipient: number
  reference: string
}

const mockAnswer = (answer: (sent: Wire) => Response | Promise<Response>) =>
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (_, init) => answer(JSON.parse(init?.body as string) as Wire))

describe('the GatewayAPI gateway', () => {
  it('makes one call for each recipient and returns the ids', async () => {
    const fetched = mockAnswer(({ reference }) => Response.json({ msg_id: `id-${reference}` }))
    const messages = Array.from({ length: 12 }, () => anSms())
    const results = await gateway.send(messages, 'k')
    expect(results).toEqual(messages.map(({ reference }) => ({ ok: true, providerId: `id-${reference}` })))
    const [url, init] = fetched.mock.calls[0] ?? []
    expect(url).toBe('https://sms.example/mobile/single')
    expect(init?.headers).toMatchObject({ authorization: 'Token token', 'user-agent': 'event-commerce/1' })
    expect(JSON.parse(init?.body as string)).toEqual({
      sender: 'Nordlys',
      message: 'The doors are open',
      recipient: Number(messages[0]?.to.slice(1)),
      reference: messages[0]?.reference,
    })
  })

  it.each([
    [422, 'permanent'],
    [400, 'permanent'],
    [401, 'configuration'],
    [402, 'configuration'],
    [403, 'configuration'],
    [429, 'rate_limited'],
    [503, 'transient'],
    // It is unknown whether the message was sent before the fault, and a repetition could send it twice.
    [500, 'unknown'],
    [502, 'unknown'],
  ])('treats the answer %i as %s', async (status, kind) => {
    mockAnswer(() => Response.json({ code: '0x0213', message: 'no' }, { status, headers: { 'retry-after': '3' } }))
    expect(gateway.deduplicates).toBe(false)
    expect(await gateway.send([anSms()], 'k')).toEqual([
      { ok: false, kind, code: '0x0213', detail: 'no', retryAfterMs: 3000, status },
    ])
  })

  it('has one time limit for calls that begin together', async () => {
    const fetched = mockAnswer(({ reference }) => Response.json({ msg_id: reference }))
    await Promise.all([gateway.send([anSms()], 'k'), gateway.send([anSms()], 'k')])
    const [first, second] = fetched.mock.calls.map(([, init]) => init?.signal)
    expect(first).toBeInstanceOf(AbortSignal)
    expect(second).toBe(first)
  })

  it('opens one connection at a time, and ends its calls before the claim of a chunk', async () => {
    let [open, most] = [0, 0]
    mockAnswer(async ({ reference }) => {
      most = Math.max(most, ++open)
      await new Promise((resolve) => setTimeout(resolve, 2))
      open--
      return Response.json({ msg_id: reference })
    })
    const longest = watchTimers()
    expect((await gateway.send([anSms(), anSms(), anSms()], 'k')).every(({ ok }) => ok)).toBe(true)
    expect(most).toBe(1)
    expect(longest()).toBeGreaterThan(1000)
    expect(gateway.batch * longest()).toBeLessThan(chunkClaimMarginMs)
  })

  it('fails only an invalid number', async () => {
    const messages = [anSms(), anSms(), anSms()]
    mockAnswer(({ reference }) =>
      reference === messages[1]?.reference
        ? Response.json({ code: '0x0213' }, { status: 422 })
        : Response.json({ msg_id: reference }),
    )
    expect((await gateway.send(messages, 'k')).map(({ ok }) => ok)).toEqual([true, false, true])
  })

  it('stops once the provider asks it to wait, and reports that the other messages were not sent', async () => {
    const fetched = mockAnswer(() => new Response('', { status: 429 }))
    const results = await gateway.send(
      Array.from({ length: 20 }, () => anSms()),
      'k',
    )
    expect(fetched).toHaveBeenCalledTimes(1)
    expect(results).toHaveLength(20)
    for (const result of results) expect(result).toMatchObject({ ok: false, kind: 'rate_limited' })
  })

  it('reports an unknown result for a call without a complete answer', async () => {
    mockAnswer(() => Promise.reject(new TypeError('connection lost')))
    expect(await gateway.send([anSms()], 'k')).toMatchObject([{ kind: 'unknown' }])
    vi.restoreAllMocks()
    mockAnswer(() => Response.json({ hello: 'there' }))
    expect(await gateway.send([anSms()], 'k')).toMatchObject([{ kind: 'unknown', code: 'unreadable_answer' }])
  })

  it('reads no answer that is longer than any known one, whatever its headers say', async () => {
    const long = JSON.stringify({ msg_id: 'a', more: 'x'.repeat(500_000) })
    const buildHeaders = (text: string) => ({ 'content-length': String(text.length) })
    const short = '{"msg_id":"a"}'
    const answers: [string, Record<string, string>, object][] = [
      [short, buildHeaders(short), { ok: true, providerId: 'a' }],
      [short, {}, { ok: true, providerId: 'a' }],
      ['{"msg_id"', buildHeaders('{"msg_id"'), { kind: 'unknown', code: 'unreadable_answer' }],
      [long, buildHeaders(long), { kind: 'unknown', code: 'unreadable_answer' }],
      [long, {}, { kind: 'unknown', code: 'unreadable_answer' }],
      [long, { ...buildHeaders(short), 'content-encoding': 'gzip' }, { kind: 'unknown', code: 'unreadable_answer' }],
    ]
    for (const [body, headers, result] of answers) {
      mockAnswer(() => new Response(body, { headers }))
      expect(await gateway.send([anSms()], 'k')).toMatchObject([result])
      vi.restoreAllMocks()
    }
  })

  it('makes no call to an invalid address, and reports that nothing was sent', async () => {
    const fetched = mockAnswer(() => Response.json({ msg_id: 'a' }))
    const astray = createGatewayApi({ apiBase: 'sms.example', apiKey: 'token', now: () => 0 })
    expect(await astray.send([anSms()], 'k')).toMatchObject([{ kind: 'configuration', code: 'impossible_call' }])
    expect(fetched).not.toHaveBeenCalled()
  })

  it('makes no request without a token', async () => {
    const fetched = mockAnswer(() => Response.json({}))
    const results = await createGatewayApi({ apiBase: '', apiKey: '', now: () => 0 }).send([anSms()], 'k')
    expect(results).toMatchObject([{ kind: 'configuration' }])
    expect(fetched).not.toHaveBeenCalled()
  })
})

describe('every SMS gateway', () => {
  it.each(Object.entries({ gatewayapi: gateway, capture: createContextAt(0).sms }))(
    'refuses line breaks in a sender, invalid numbers and invalid senders: %s',
    async (_, one) => {
      mockAnswer(() => Response.json({ msg_id: 'good' }))
      const results = await one.send(
        [
          anSms({ from: 'Nord\r\nlys' }),
          anSms({ to: '+4520\n100001' }),
          anSms({ to: '20100001' }),
          anSms({ from: 'A sender much too long' }),
          anSms({ body: 'lines\nare\nwelcome' }),
        ],
        crypto.randomUUID(),
      )
      expect(results.map((result) => (result.ok ? 'sent' : result.code))).toEqual([
        'invalid_header',
        'invalid_header',
        'invalid_address',
        'invalid_sender',
        'sent',
      ])
    },
  )
})
