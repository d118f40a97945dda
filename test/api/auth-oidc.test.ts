import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { app } from '../../src/app.ts'
import { buildRequest, callWith } from '../support/api.ts'
import { buildRefusal, codes } from '../support/editions.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedAccount, seedMember } from '../support/seeding/members.ts'
import { next, write } from '../support/seeding/rows.ts'
import { happen } from '../support/webhooks.ts'
import { buildWorld, type World } from '../support/world.ts'

type Keys = Awaited<ReturnType<typeof generateKeyPair>>

const audience = 'event-commerce'
const email = 'ingrid@example.test'
let world: World
let issuer: string
let keys: Keys
let requests: string[]
let answer: (url: string) => Response | Promise<Response>

beforeAll(async () => {
  world = await buildWorld()
  keys = await generateKeyPair('RS256', { extractable: true })
  const account = await seedAccount(email)
  await seedMember(account, { organization: world.a.id, role: 'viewer' })
  await seedMember(await seedAccount('office@acme.example'), { organization: world.a.id, role: 'admin' })
})

beforeEach(async () => {
  // Keys are cached by issuer, so each test has its own issuer.
  issuer = `https://issuer-${next()}.example`
  requests = []
  const jwks = { keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }] }
  answer = (url) => Response.json(url.endsWith('/openid-configuration') ? { issuer, jwks_uri: `${issuer}/keys` } : jwks)
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input) => {
    const url = input instanceof Request ? input.url : String(input)
    requests.push(url.replace(issuer, ''))
    return answer(url)
  })
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const seconds = () => Math.floor(Date.now() / 1000)

const claims = (more: JWTPayload = {}): JWTPayload => ({
  iss: issuer,
  aud: audience,
  sub: 'subject',
  exp: seconds() + 300,
  email,
  email_verified: true,
  ...more,
})

const sign = (more: JWTPayload = {}, header: object = {}, key = keys.privateKey): Promise<string> =>
  new SignJWT(claims(more)).setProtectedHeader({ alg: 'RS256', kid: 'one', ...header }).sign(key)

const ask = (token: string, path = '/v1/auth/user-info') =>
  callWith({ OIDC_ISSUER: issuer, OIDC_AUDIENCE: audience }, path, { token })

describe('a token of the identity provider', () => {
  it('acts as the member with its verified e-mail address', async () => {
    const reply = await ask(await sign({ email: email.toUpperCase() }))
    expect(reply.status).toBe(200)
    expect(reply.body).toMatchObject({ email, token: { kind: 'oidc', id: null, scopes: ['read', 'write'] } })
    expect(reply.body.organizations).toMatchObject([{ id: world.a.id, role: 'viewer' }])
    expect(requests).toEqual(['/.well-known/openid-configuration', '/keys'])
    await ask(await sign())
    expect(requests).toHaveLength(2)
  })

  it.each([
    ['a ligature', 'oﬃce@acme.example'],
    ['full-width letters', 'ｏｆｆｉｃｅ@acme.example'],
    ['a full-width domain', 'office@ａｃｍｅ.example'],
    ['a zero-width space', 'off\u200bice@acme.example'],
    ['a soft hyphen in the domain', 'office@ac\u00adme.example'],
    ['quotes', '"office"@acme.example'],
    ['a space before it', ' office@acme.example'],
    ['a space behind it', 'office@acme.example '],
    ['an accent', 'officé@acme.example'],
  ])('identifies nobody by an address with %s that looks like that of a member', async (_, lookAlike) => {
    expect((await ask(await sign({ email: lookAlike }))).status).toBe(401)
    expect((await ask(await sign({ email: 'OFFICE@Acme.Example' }))).status).toBe(200)
  })

  it('ends a stream of events with it, before the next event', async () => {
    const organization = world.b.id
    const admin = `admin-${next()}@example.test`
    await seedMember(await seedAccount(admin), { organization, role: 'admin' })
    const realNow = Date.now
    let aheadMs = 0
    vi.spyOn(Date, 'now').mockImplementation(() => realNow() + aheadMs)
    const open = async (endsInSeconds: number) => {
      const token = await sign({ email: admin, exp: seconds() + endsInSeconds })
      const request = buildRequest(`/v1/webhooks/events/stream?organization_id=${organization}`, { token })
      const bindings = { ...env, OIDC_ISSUER: issuer, OIDC_AUDIENCE: audience }
      const reader = (await app.fetch(request, bindings, createExecutionContext())).body!.getReader()
      await reader.read()
      await reader.read()
      return reader
    }
    const [short, long] = [await open(300), await open(3600)]
    await write(sql`update webhook_streams set claimed_until = ${realNow() + 3_600_000}
      where organization_id = ${organization}`)
    aheadMs = 420_000
    await happen({ organization_id: organization })
    expect((await short.read()).done).toBe(true)
    expect(new TextDecoder().decode((await long.read()).value)).toContain('data: {')
    await long.cancel()
  })

  it('knows a member by the DNS form of the domain', async () => {
    await seedMember(await seedAccount('anna@bücher.example'), { organization: world.a.id, role: 'viewer' })
    for (const address of ['anna@bücher.example', 'Anna@BÜCHER.example', 'anna@xn--bcher-kva.example'])
      expect((await ask(await sign({ email: address }))).body).toMatchObject({ email: 'anna@bücher.example' })
  })

  it('has the roles of the memberships, and ignores roles in its claims', async () => {
    const token = await sign({ roles: ['admin'], organization_id: world.b.id, is_superuser: true, scope: 'admin' })
    expect((await ask(token, `/v1/organizations/${world.b.id}`)).status).toBe(404)
    expect((await ask(token, `/v1/organizations/${world.a.id}/members`)).status).toBe(403)
  })

  it.each<[string, () => Promise<string> | string]>([
    ['for another audience', () => sign({ aud: 'somebody-else' })],
    ['without an audience', () => sign({ aud: undefined as unknown as string })],
    ['of another issuer', () => sign({ iss: 'https://evil.example' })],
    ['that is over', () => sign({ exp: seconds() - 120 })],
    ['that never ends', () => sign({ exp: undefined as unknown as number })],
    ['that is not valid yet', () => sign({ nbf: seconds() + 300 })],
    ['from the future', () => sign({ iat: seconds() + 120 })],
    ['of a time that is no number', () => sign({ iat: 'yesterday' as unknown as number })],
    ['to log out', () => sign({}, { typ: 'logout+jwt' })],
    ['of an event', () => sign({}, { typ: 'secevent+jwt' })],
    ['that is a logout event', () => sign({ events: { 'http://schemas.openid.net/event/backchannel-logout': {} } })],
    ['of an unknown type', () => sign({}, { typ: 'application/dpop+jwt' })],
    ['whose type is a list', () => sign({}, { typ: ['JWT'] })],
    ['to refresh', () => sign({ typ: 'Refresh' })],
    ['to refresh while away', () => sign({ typ: 'Offline' })],
    ['for another use', () => sign({ token_use: 'refresh' })],
    ['of nobody', () => sign({ sub: undefined as unknown as string })],
    ['without an e-mail address', () => sign({ email: undefined })],
    ['with an unverified address', () => sign({ email_verified: false })],
    ['with an address verified in words', () => sign({ email_verified: 'true' })],
    ['without a word on verification', () => sign({ email_verified: undefined })],
    ['of an unknown address', () => sign({ email: 'nobody@example.test' })],
    ['of an address that is a list', () => sign({ email: [email] })],
    ['with an unknown key', () => sign({}, { kid: 'two' })],
    ['of another key', async () => sign({}, {}, (await generateKeyPair('RS256')).privateKey)],
    [
      'with an algorithm that we do not take',
      async () => sign({}, { alg: 'PS256' }, (await generateKeyPair('PS256')).privateKey),
    ],
    ['without a signature', () => new UnsecuredJWT(claims()).encode()],
    [
      'of the algorithm none with a key',
      async () => `${btoa('{"alg":"none","kid":"one"}').replaceAll('=', '')}.${(await sign()).split('.')[1]}.`,
    ],
    [
      'signed with the public key as a secret',
      async () =>
        new SignJWT(claims())
          .setProtectedHeader({ alg: 'HS256', kid: 'one' })
          .sign(new TextEncoder().encode(await exportSPKI(keys.publicKey))),
    ],
    [
      'that was changed',
      async () => (await sign()).replace(/\.([^.]+)\./, (_, body: string) => `.${body.slice(0, -2)}AA.`),
    ],
    ['of nonsense', () => 'a.b.c'],
    ['of empty parts', () => '..'],
  ])('is refused: %s', async (_, make) => {
    const reply = await ask(await make())
    expect(describeRefusal(reply)).toBe('401 not_authenticated')
    expect(reply.headers.get('www-authenticate')).toContain('invalid_token')
  })

  it.each<[string, JWTPayload, object]>([
    ['an ID token', {}, { typ: 'JWT' }],
    ['an access token', {}, { typ: 'at+jwt' }],
    ['an access token by its whole media type', {}, { typ: 'application/AT+JWT' }],
    ['an ID token of Keycloak', { typ: 'ID' }, { typ: 'JWT' }],
    ['an access token of Keycloak for another client', { typ: 'Bearer', azp: 'browser' }, { typ: 'JWT' }],
    ['an access token of Cognito', { token_use: 'access' }, {}],
    ['a token for several audiences', { aud: ['somebody-else', audience] }, {}],
  ])('is accepted as %s', async (_, more, header) => {
    expect((await ask(await sign({ iat: seconds(), ...more }, header))).status).toBe(200)
  })

  it('is accepted up to a minute after its end', async () => {
    expect((await ask(await sign({ iat: seconds() + 30 }))).status).toBe(200)
    expect((await ask(await sign({ exp: seconds() - 30 }))).status).toBe(200)
    expect((await ask(await sign({ nbf: seconds() + 30 }))).status).toBe(200)
  })

  it('is accepted when its key was published later', async () => {
    expect((await ask(await sign())).status).toBe(200)
    const later = await generateKeyPair('RS256', { extractable: true })
    const originalAnswer = answer
    answer = async (url) =>
      url.endsWith('/keys')
        ? Response.json({ keys: [{ ...(await exportJWK(later.publicKey)), kid: 'two' }] })
        : originalAnswer(url)
    // The service fetches keys at most twice a minute, so that forged key ids cost the provider nothing.
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 31_000)
    expect((await ask(await sign({}, { kid: 'two' }, later.privateKey))).status).toBe(200)
    expect(requests).toEqual(['/.well-known/openid-configuration', '/keys', '/keys'])
  })

  it('is refused where no identity provider is configured', async () => {
    const reply = await callWith({ OIDC_ISSUER: '', OIDC_AUDIENCE: '' }, '/v1/auth/user-info', { token: await sign() })
    expect(reply.status).toBe(401)
    expect(requests).toEqual([])
  })

  type Failing = (url: string, whole: typeof answer) => Response | Promise<Response>

  it.each<[string, Failing]>([
    ['discovery is busy', () => new Response('busy', { status: 503 })],
    ['nobody answers', () => Promise.reject(new TypeError('network'))],
    ['discovery is a page', () => new Response('<html>')],
    ['discovery names no keys', () => Response.json({})],
    [
      'keys are busy',
      (url, original) => (url.endsWith('/keys') ? new Response('busy', { status: 503 }) : original(url)),
    ],
    ['keys are none', (url, original) => (url.endsWith('/keys') ? Response.json({ keys: 'one' }) : original(url))],
    [
      'keys are out of reach',
      (url, original) => (url.endsWith('/keys') ? Promise.reject(new TypeError('network')) : original(url)),
    ],
  ])('is answered with 503 when %s, and the provider is not called for a minute', async (_, failing) => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const [token, originalAnswer] = [await sign(), answer]
    vi.spyOn(Date, 'now').mockReturnValue(Date.now())
    answer = (url) => failing(url, originalAnswer)
    const refusal = await ask(token)
    expect(describeRefusal(refusal)).toBe('503 identity_unavailable')
    expect(refusal.headers.get('retry-after')).toBe('60')
    const requestCount = requests.length
    answer = originalAnswer
    for (let more = 0; more < 3; more++) {
      const secondReply = await ask(token)
      expect(describeRefusal(secondReply)).toBe('503 identity_unavailable')
      expect(secondReply.headers.get('retry-after')).toBe('60')
    }
    expect(requests).toHaveLength(requestCount)
    vi.mocked(Date.now).mockReturnValue(Date.now() + 61_000)
    expect((await ask(token)).status).toBe(200)
  })

  it('delays only the first request when the identity provider hangs', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    vi.mocked(globalThis.fetch).mockImplementation(
      (input, init) =>
        new Promise((_, reject) => {
          requests.push(input instanceof Request ? input.url : String(input))
          init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error))
        }),
    )
    const token = await sign()
    // The clock moves only during the first request, so a second wait would never end.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const first = ask(token)
    await expect.poll(() => requests.length).toBe(1)
    vi.advanceTimersByTime(5000)
    expect((await first).status).toBe(503)
    expect(await Promise.all(Array.from({ length: 20 }, async () => (await ask(token)).status))).toEqual(
      Array.from({ length: 20 }, () => 503),
    )
    expect(requests).toHaveLength(1)
  })

  it('does not delay callers with known keys when its key is unknown and the keys are out of reach', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    expect((await ask(await sign())).status).toBe(200)
    const originalAnswer = answer
    answer = (url) => (url.endsWith('/keys') ? new Response('busy', { status: 503 }) : originalAnswer(url))
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 31_000)
    expect((await ask(await sign({}, { kid: 'two' }))).status).toBe(503)
    expect((await ask(await sign())).status).toBe(200)
  })
})

describe('a token that a session of the identity provider mints', () => {
  const days = 86_400_000
  const mint = async (person: string, body: object = {}) =>
    callWith({ OIDC_ISSUER: issuer, OIDC_AUDIENCE: audience }, '/v1/auth/tokens', {
      token: await sign({ email: person, auth_time: seconds() }),
      body: { name: 'minted', ...body },
    })

  const lifetimes = [
    ['admin', 90],
    ['manager', 180],
    ['viewer', 365],
  ] as const

  async function seedPersonOf(role: (typeof lifetimes)[number][0]) {
    const person = `${role}-${next()}@example.test`
    await seedMember(await seedAccount(person), { organization: world.a.id, role })
    return person
  }

  it.each(lifetimes)('lives as long as its role allows: %s, %i days', async (role, most) => {
    const person = await seedPersonOf(role)
    const before = Date.now()
    const usual = await mint(person)
    expect(usual.status).toBe(201)
    const end = Date.parse(usual.body.expires_at)
    expect(end).toBeGreaterThanOrEqual(before + most * days)
    expect(end).toBeLessThanOrEqual(Date.now() + most * days)
  })

  it.each(lifetimes)('is refused with a longer life than its role allows: %s, %i days', async (role, most) => {
    const person = await seedPersonOf(role)
    for (const expires_at of [new Date(Date.now() + (most + 1) * days).toISOString(), null])
      expect(codes(await mint(person, { expires_at }))).toEqual(buildRefusal('#/expires_at too_late'))
  })

  it('has the lifetime of its member’s strongest role', async () => {
    const person = `both-${next()}@example.test`
    const account = await seedAccount(person)
    await seedMember(account, { organization: world.b.id, role: 'viewer' })
    await seedMember(account, { organization: world.a.id, role: 'admin' })
    for (const body of [{}, { member_id: world.people.OV.member }]) {
      const reply = await mint(person, body)
      expect(Date.parse(reply.body.expires_at)).toBeLessThanOrEqual(Date.now() + 90 * days)
    }
  })
})
