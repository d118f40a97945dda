import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { callWith } from '../support/api.ts'
import { next, seedAccount, seedMember } from '../support/seed.ts'
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
})

beforeEach(async () => {
  // Keys are kept by issuer: each test has an issuer of its own.
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
  it('is the member of its verified e-mail address', async () => {
    const reply = await ask(await sign({ email: email.toUpperCase() }))
    expect(reply.status).toBe(200)
    expect(reply.body).toMatchObject({ email, token: { kind: 'oidc', id: null, scopes: ['read', 'write'] } })
    expect(reply.body.organizations).toMatchObject([{ id: world.a.id, role: 'viewer' }])
    expect(requests).toEqual(['/.well-known/openid-configuration', '/keys'])
    await ask(await sign())
    expect(requests).toHaveLength(2)
  })

  it('has the roles of the memberships, whatever it claims', async () => {
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
  ])('%s is refused', async (_, make) => {
    const reply = await ask(await make())
    expect([reply.status, reply.body.code]).toEqual([401, 'not_authenticated'])
    expect(reply.headers.get('www-authenticate')).toContain('invalid_token')
  })

  it('may be a minute late', async () => {
    expect((await ask(await sign({ exp: seconds() - 30 }))).status).toBe(200)
    expect((await ask(await sign({ nbf: seconds() + 30 }))).status).toBe(200)
  })

  it('of a key that came later is accepted', async () => {
    expect((await ask(await sign())).status).toBe(200)
    const later = await generateKeyPair('RS256', { extractable: true })
    const known = answer
    answer = async (url) =>
      url.endsWith('/keys')
        ? Response.json({ keys: [{ ...(await exportJWK(later.publicKey)), kid: 'two' }] })
        : known(url)
    // Keys are not asked for again within half a minute, so that forged key ids cost the provider nothing.
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 31_000)
    expect((await ask(await sign({}, { kid: 'two' }, later.privateKey))).status).toBe(200)
    expect(requests).toEqual(['/.well-known/openid-configuration', '/keys', '/keys'])
  })

  it('is refused where no provider is configured', async () => {
    const reply = await callWith({ OIDC_ISSUER: '', OIDC_AUDIENCE: '' }, '/v1/auth/user-info', { token: await sign() })
    expect(reply.status).toBe(401)
    expect(requests).toEqual([])
  })

  it('asks to try again while the provider is out of reach', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const token = await sign()
    const whole = answer
    const failures: ((url: string) => Response | Promise<Response>)[] = [
      () => new Response('busy', { status: 503 }),
      () => Promise.reject(new TypeError('network')),
      () => new Response('<html>'),
      () => Response.json({}),
      (url) => (url.endsWith('/keys') ? new Response('busy', { status: 503 }) : whole(url)),
      (url) => (url.endsWith('/keys') ? Promise.reject(new TypeError('network')) : whole(url)),
    ]
    for (const [index, failing] of failures.entries()) {
      answer = failing
      const reply = await ask(token)
      expect([index, reply.status, reply.body.code]).toEqual([index, 503, 'identity_unavailable'])
      expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    answer = whole
    expect((await ask(token)).status).toBe(200)
  })
})
