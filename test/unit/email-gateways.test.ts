import { afterEach, describe, expect, it, vi } from 'vitest'
import { chunkClaimMarginMs } from '../../src/domain/campaigns/sending-policy.ts'
import { createCloudflareGateway } from '../../src/gateways/email/cloudflare.ts'
import { createResendGateway } from '../../src/gateways/email/resend.ts'
import { createContextAt } from '../support/context.ts'
import { anEmail, watchTimers } from '../support/outbound.ts'

const now = Date.parse('2026-06-01T08:00:00Z')
const resend = createResendGateway({ apiBase: 'https://mail.example', apiKey: 're_key', now: () => now })
afterEach(() => vi.restoreAllMocks())

const mockAnswer = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  vi
    .spyOn(globalThis, 'fetch')
    .mockImplementation(
      async () => new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers }),
    )

const readBody = (init: RequestInit | undefined): unknown =>
  JSON.parse(new TextDecoder().decode(init?.body as Uint8Array))

const buildRefusal = (name: string) => ({ statusCode: 0, name, message: `said ${name}` })

describe('the Resend gateway', () => {
  it('sends a batch as one call that can be repeated', async () => {
    const fetched = mockAnswer(200, { data: [{ id: 'a' }, { id: 'b' }] })
    const mails = [
      anEmail({ replyTo: 'help@nordlys.example', headers: { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' } }),
      anEmail({ from: { name: 'Smith, "Bob"', address: 'bob@example.com' } }),
    ]
    expect(await resend.send(mails, 'key-1')).toEqual([
      { ok: true, providerId: 'a' },
      { ok: true, providerId: 'b' },
    ])
    expect(fetched).toHaveBeenCalledTimes(1)
    const [url, init] = fetched.mock.calls[0] ?? []
    expect(url).toBe('https://mail.example/emails/batch')
    expect(init).toMatchObject({ method: 'POST', redirect: 'manual' })
    expect(init?.headers).toEqual({
      'content-type': 'application/json',
      'user-agent': 'event-commerce/1',
      authorization: 'Bearer re_key',
      'idempotency-key': 'key-1',
      'x-batch-validation': 'permissive',
    })
    expect(readBody(init)).toEqual([
      {
        from: 'Nordlys <tickets@nordlys.example>',
        to: [mails[0]?.to.address],
        reply_to: 'help@nordlys.example',
        subject: 'Your tickets',
        html: '<p>Welcome</p>',
        text: 'Welcome',
        headers: { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' },
        tags: [{ name: 'reference', value: mails[0]?.reference }],
      },
      expect.objectContaining({ from: String.raw`"Smith, \"Bob\"" <bob@example.com>` }),
    ])
  })

  it('reports which message of a batch was refused, and returns the ids of the others', async () => {
    mockAnswer(200, { data: [{ id: 'a' }, { id: 'c' }], errors: [{ index: 1, message: 'The `to` field is invalid.' }] })
    expect(await resend.send([anEmail(), anEmail(), anEmail()], 'k')).toEqual([
      { ok: true, providerId: 'a' },
      expect.objectContaining({ ok: false, kind: 'permanent', detail: 'The `to` field is invalid.' }),
      { ok: true, providerId: 'c' },
    ])
  })

  it.each([
    [400, 'validation_error', 'permanent', null],
    [422, 'missing_required_field', 'permanent', null],
    [401, 'missing_api_key', 'configuration', null],
    [403, 'invalid_api_key', 'configuration', null],
    [403, 'validation_error', 'sender', null],
    [422, 'invalid_from_address', 'sender', null],
    [403, 'invalid_from_address', 'sender', null],
    [422, 'invalid_access', 'configuration', null],
    [400, 'invalid_idempotency_key', 'configuration', null],
    [451, 'security_error', 'permanent', null],
    [422, 'toString', 'permanent', null],
    [404, 'not_found', 'configuration', null],
    [409, 'concurrent_idempotent_requests', 'transient', null],
    [409, 'invalid_idempotent_request', 'unknown', null],
    [429, 'rate_limit_exceeded', 'rate_limited', null],
    [429, 'daily_quota_exceeded', 'rate_limited', 3_600_000],
    [429, 'monthly_quota_exceeded', 'configuration', null],
    [500, 'application_error', 'transient', null],
  ])('treats the answer %i %s as %s', async (status, name, kind, retryAfterMs) => {
    mockAnswer(status, buildRefusal(name))
    const [first, second] = await resend.send([anEmail(), anEmail()], 'k')
    expect(first).toEqual({ ok: false, kind, code: name, detail: `said ${name}`, retryAfterMs, status })
    expect(second).toEqual(first)
  })

  it('splits a call that is too large into two, and splits it alike when it is repeated', async () => {
    const keys: string[] = []
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (_, init) => {
      const mails = readBody(init) as { to: string[] }[]
      keys.push(new Headers(init?.headers).get('idempotency-key') ?? '')
      if (mails.length > 2) return Response.json(buildRefusal('payload_too_large'), { status: 413 })
      return Response.json({ data: mails.map(({ to }) => ({ id: `of ${to[0]}` })) })
    })
    const mails = Array.from({ length: 5 }, () => anEmail())
    const results = mails.map(({ to }) => ({ ok: true, providerId: `of ${to.address}` }))
    expect(await resend.send(mails, 'k')).toEqual(results)
    expect(keys).toEqual(['k', 'k-1', 'k-1-1', 'k-1-2', 'k-2'])
    expect(await resend.send(mails, 'k')).toEqual(results)
    expect(keys.slice(5)).toEqual(keys.slice(0, 5))
  })

  it('fails only the message that is too large by itself', async () => {
    mockAnswer(413, buildRefusal('payload_too_large'))
    expect(await resend.send([anEmail(), anEmail()], 'k')).toMatchObject([{ kind: 'permanent' }, { kind: 'permanent' }])
  })

  it('limits a call to less time than a campaign allows', async () => {
    mockAnswer(200, { data: [{ id: 'a' }] })
    const longest = watchTimers()
    await resend.send([anEmail()], 'k')
    expect(longest()).toBeGreaterThan(1000)
    expect(longest()).toBeLessThan(chunkClaimMarginMs)
  })

  it('waits as long as the provider asks', async () => {
    mockAnswer(429, buildRefusal('rate_limit_exceeded'), { 'retry-after': '7', 'ratelimit-reset': '1' })
    expect(await resend.send([anEmail()], 'k')).toMatchObject([{ retryAfterMs: 7000 }])
    vi.restoreAllMocks()
    mockAnswer(429, buildRefusal('rate_limit_exceeded'), { 'ratelimit-reset': '2' })
    expect(await resend.send([anEmail()], 'k')).toMatchObject([{ retryAfterMs: 2000 }])
  })

  it.each([
    ['502 of a proxy', 502, '<html>bad gateway</html>', 'transient'],
    ['a redirect', 302, '', 'configuration'],
    ['200 without JSON', 200, '<html>', 'unknown'],
    ['200 with ids missing', 200, { data: [] }, 'unknown'],
    ['200 with something else', 200, ['a'], 'unknown'],
    ['200 with a refusal of nobody', 200, { data: [], errors: [{ index: 7, message: 'no' }] }, 'unknown'],
    ['200 with a refusal without a place', 200, { data: [], errors: [{ message: 'no' }] }, 'unknown'],
  ])('reports the fault %s', async (_, status, body, kind) => {
    mockAnswer(status, body)
    expect(await resend.send([anEmail()], 'k')).toMatchObject([{ ok: false, kind }])
  })

  it('reports an unknown result for a call without an answer', async () => {
    vi.spyOn(globalThis, 'fetch').mockRejectedValue(new TypeError('network connection lost'))
    expect(await resend.send([anEmail()], 'k')).toMatchObject([{ kind: 'unknown', code: 'network_error' }])
    vi.spyOn(globalThis, 'fetch').mockRejectedValue(new DOMException('timed out', 'TimeoutError'))
    expect(await resend.send([anEmail()], 'k')).toMatchObject([{ kind: 'unknown', code: 'timeout' }])
  })

  it('makes no call with an invalid address or key, and reports that nothing was sent', async () => {
    const fetched = mockAnswer(200, { data: [{ id: 'a' }] })
    for (const wrong of [
      { apiBase: 'mail.example', apiKey: 're_key' },
      { apiBase: 'ftp://mail.example', apiKey: 're_key' },
      { apiBase: 'https://mail.example', apiKey: 're_key\nX-Other: 1' },
      { apiBase: 'https://mail.example', apiKey: 're_kéy' },
    ])
      expect(await createResendGateway({ ...wrong, now: () => now }).send([anEmail()], 'k')).toMatchObject([
        { kind: 'configuration', code: 'impossible_call' },
      ])
    expect(fetched).not.toHaveBeenCalled()
  })

  it('waits longer for a daily quota than for a rate, although the headers say a second', async () => {
    mockAnswer(429, buildRefusal('daily_quota_exceeded'), { 'retry-after': '1', 'ratelimit-reset': '1' })
    expect(await resend.send([anEmail()], 'k')).toMatchObject([{ kind: 'rate_limited', retryAfterMs: 3_600_000 }])
  })

  it('encodes domains for DNS, and quotes display names that would be decoded', async () => {
    const fetched = mockAnswer(200, { data: [{ id: 'a' }] })
    const mail = anEmail({
      from: { name: '=?utf-8?q?Bank?=', address: 'a@blåbær.example' },
      to: { name: null, address: 'guest@bücher.example' },
      replyTo: 'hjælp@blåbær.example',
    })
    expect(await resend.send([mail], 'k')).toMatchObject([{ ok: true }])
    expect(readBody(fetched.mock.calls[0]?.[1])).toMatchObject([
      {
        from: '"=?utf-8?q?Bank?=" <a@xn--blbr-roah.example>',
        to: ['guest@xn--bcher-kva.example'],
        reply_to: 'hjælp@xn--blbr-roah.example',
      },
    ])
  })

  it('refuses an endless answer', async () => {
    const pull = (controller: ReadableByteStreamController) => controller.enqueue(new Uint8Array(100_000))
    const endless = new ReadableStream({ type: 'bytes', pull })
    vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response(endless))
    expect(await resend.send([anEmail()], 'k')).toMatchObject([{ kind: 'unknown', code: 'unreadable_answer' }])
  })

  it('makes no call without an API key', async () => {
    const fetched = mockAnswer(200, {})
    const keyless = createResendGateway({ apiBase: '', apiKey: '', now: () => now })
    expect(await keyless.send([anEmail()], 'k')).toMatchObject([{ kind: 'configuration', code: 'missing_api_key' }])
    expect(fetched).not.toHaveBeenCalled()
  })
})

describe('the Cloudflare gateway', () => {
  const sending = (send: (message: unknown) => unknown) => createCloudflareGateway({ send } as unknown as SendEmail)

  it('sends one message at a time', async () => {
    const sentMessages: unknown[] = []
    const gateway = sending((message) => {
      sentMessages.push(message)
      return { messageId: 'cf-1' }
    })
    expect(gateway).toMatchObject({ bulk: false, deduplicates: false })
    const mail = anEmail({ replyTo: 'help@nordlys.example' })
    expect(await gateway.send([mail], 'k')).toEqual([{ ok: true, providerId: 'cf-1' }])
    expect(sentMessages).toEqual([
      {
        from: { name: 'Nordlys', email: 'tickets@nordlys.example' },
        to: mail.to.address,
        replyTo: 'help@nordlys.example',
        subject: mail.subject,
        html: mail.html,
        text: mail.text,
        headers: {},
      },
    ])
  })

  it.each([
    ['E_RATE_LIMIT_EXCEEDED', 'rate_limited'],
    ['E_DAILY_LIMIT_EXCEEDED', 'rate_limited'],
    ['E_SENDER_NOT_VERIFIED', 'sender'],
    ['E_SENDER_DOMAIN_NOT_AVAILABLE', 'sender'],
    ['E_RECIPIENT_SUPPRESSED', 'permanent'],
    ['E_VALIDATION_ERROR', 'permanent'],
    ['E_INTERNAL_SERVER_ERROR', 'unknown'],
  ])('treats the error %s as %s', async (code, kind) => {
    const gateway = sending(() => {
      throw Object.assign(new Error('no'), { code })
    })
    expect(await gateway.send([anEmail()], 'k')).toMatchObject([{ ok: false, kind, code: code.toLowerCase() }])
  })

  it('reports a missing binding', async () => {
    expect(await createCloudflareGateway(undefined).send([anEmail()], 'k')).toMatchObject([
      { kind: 'configuration', code: 'missing_binding' },
    ])
  })
})

describe('every e-mail gateway', () => {
  const gateways = {
    resend,
    cloudflare: createCloudflareGateway({ send: async () => ({ messageId: 'cf' }) }),
    capture: createContextAt(now).email,
  }
  const evil = 'Hi\r\nBcc: everyone@example.com'

  it.each(Object.entries(gateways))(
    'refuses line breaks in values of headers, and sends the other messages: %s',
    async (name, gateway) => {
      const fetched = mockAnswer(200, { data: [{ id: 'good' }] })
      const bad = [
        anEmail({ subject: evil }),
        anEmail({ subject: 'Hi\nthere' }),
        anEmail({ from: { name: evil, address: 'a@example.com' } }),
        anEmail({ to: { name: 'A\rB', address: 'a@example.com' } }),
        anEmail({ to: { name: 'A\u2028B', address: 'a@example.com' } }),
        anEmail({ subject: 'Hi\u0085Bcc: b@example.com' }),
        anEmail({ subject: 'Hi\u001bthere' }),
        anEmail({ replyTo: `a@example.com\r\nBcc: b@example.com` }),
        anEmail({ headers: { 'X-A': evil } }),
        anEmail({ headers: { 'X-A\r\nBcc': 'b@example.com' } }),
        anEmail({ headers: { 'X A:': 'b' } }),
        anEmail({ reference: `r\r\nX: y` }),
      ]
      const results = await gateway.send([...bad, anEmail()], crypto.randomUUID())
      for (const result of results.slice(0, -1))
        expect(result).toMatchObject({ ok: false, kind: 'permanent', code: 'invalid_header' })
      expect(results.at(-1)).toMatchObject({ ok: true })
      if (name === 'resend') expect(readBody(fetched.mock.calls[0]?.[1])).toHaveLength(1)
    },
  )

  it.each(Object.entries(gateways))('treats an address as one person: %s', async (_, gateway) => {
    mockAnswer(200, { data: [] })
    const to = (address: string) => anEmail({ to: { name: null, address } })
    const results = await gateway.send(
      ['a@example.com, b@example.com', 'a@example.com>, <b@example.com', 'a b@example.com', 'nobody', ''].map(to),
      crypto.randomUUID(),
    )
    for (const result of results) expect(result).toMatchObject({ kind: 'permanent', code: 'invalid_address' })
  })
})
