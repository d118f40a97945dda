import { sql } from 'drizzle-orm'
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { readConfig } from '../../src/entry/config.ts'
import type { Bindings } from '../../src/http/env.ts'
import { callWith, get, type Reply, remove } from '../support/api.ts'
import { implemented } from '../support/operations.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedAccount } from '../support/seeding/members.ts'
import { db, next } from '../support/seeding/rows.ts'
import { createSessionWith, seedMemberWithEmail } from '../support/sign-in.ts'
import { buildWorld, type World } from '../support/world.ts'

type Keys = Awaited<ReturnType<typeof generateKeyPair>>

let world: World
let keys: Keys
let person: Awaited<ReturnType<typeof seedMemberWithEmail>>
let bindings: Record<string, string>
let requests: string[]

beforeAll(async () => {
  world = await buildWorld()
  keys = await generateKeyPair('RS256', { extractable: true })
  person = await seedMemberWithEmail(world.a.id, 'admin')
})

beforeEach(async () => {
  // Keys are cached by their source, so each test has its own.
  const name = `identity-${next()}`
  bindings = {
    OIDC_ISSUER: `https://${name}.example`,
    OIDC_AUDIENCE: 'event-commerce',
    OIDC_CLIENT_ID: 'console',
    CF_ACCESS_TEAM_DOMAIN: `${name}.cloudflareaccess.com`,
    CF_ACCESS_AUDIENCE: 'aud-of-the-application',
  }
  requests = []
  const jwks = { keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }] }
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input) => {
    const url = input instanceof Request ? input.url : String(input)
    requests.push(url)
    const issuer = bindings['OIDC_ISSUER']
    return Response.json(url.endsWith('/openid-configuration') ? { issuer, jwks_uri: `${issuer}/keys` } : jwks)
  })
})
afterEach(() => void vi.restoreAllMocks())

const seconds = () => Math.floor(Date.now() / 1000)

const sign = (claims: JWTPayload, header: object = {}, key = keys.privateKey): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'one', ...header }).sign(key)

const buildClaims = (more: JWTPayload): JWTPayload => ({
  sub: 'subject',
  iat: seconds(),
  exp: seconds() + 300,
  email: person.email,
  ...more,
})

const signOidc = (more: JWTPayload = {}, header: object = {}, key = keys.privateKey) =>
  sign(buildClaims({ iss: bindings['OIDC_ISSUER'], aud: 'console', email_verified: true, ...more }), header, key)

const accessClaims = (more: JWTPayload = {}): JWTPayload =>
  buildClaims({
    iss: `https://${bindings['CF_ACCESS_TEAM_DOMAIN']}`,
    aud: ['aud-of-the-application'],
    type: 'app',
    ...more,
  })

const signAccess = (more: JWTPayload = {}, header: object = {}, key = keys.privateKey) =>
  sign(accessClaims(more), header, key)

const exchange = (identity_token: string) => createSessionWith(bindings, { identity_token })

const enter = (assertion: string, body: object = {}) =>
  createSessionWith(bindings, body, { 'cf-access-jwt-assertion': assertion })

const mint = (token: string) => callWith({}, '/v1/auth/tokens', { token, body: { name: 'minted' } })

/** Expects a session that works, but of which nobody knows when the person signed in. */
async function expectUnknownSignIn(session: Reply): Promise<void> {
  expect(session.body, session.text).toMatchObject({ kind: 'session', signed_in_at: null })
  const { token, id } = session.body as { token: string; id: string }
  const refusal = await mint(token)
  expect(describeRefusal(refusal)).toBe('403 recent_sign_in_required')
  expect(refusal.body.detail).toContain('`auth_time`')
  expect((await get('/v1/auth/user-info', token)).body.token).toMatchObject({ kind: 'session', signed_in_at: null })
  expect((await get('/v1/auth/tokens', token)).body.results).toContainEqual(
    expect.objectContaining({ id, kind: 'session', signed_in_at: null }),
  )
  expect((await remove(`/v1/auth/tokens/${id}`, token)).status).toBe(204)
  const { body } = await get(`/v1/audit-log?organization_id=${world.a.id}&resource_id=${id}`)
  expect(body.results).toMatchObject([{ action: 'revokeAccessToken' }, { action: 'createSession' }])
}

describe('a token of the OpenID Connect issuer', () => {
  it('is exchanged for a session, for the client of the console and for the audience of the API', async () => {
    for (const aud of ['console', 'event-commerce']) {
      const reply = await exchange(await signOidc({ aud }))
      expect(reply.body, reply.text).toMatchObject({ kind: 'session', email: person.email })
      expect((await get('/v1/auth/user-info', reply.body.token)).body).toMatchObject({
        id: person.account,
        token: { kind: 'session' },
      })
    }
  })

  it('for the client of the console is no access token', async () => {
    const ask = async (aud: string) =>
      callWith(bindings, '/v1/auth/user-info', { token: await signOidc({ aud }) }).then(({ status }) => status)
    expect([await ask('console'), await ask('event-commerce')]).toEqual([401, 200])
  })

  it.each<[string, () => Promise<string> | string]>([
    ['for another audience', () => signOidc({ aud: 'somebody-else' })],
    ['of another issuer', () => signOidc({ iss: 'https://evil.example' })],
    ['that has expired', () => signOidc({ exp: seconds() - 120 })],
    ['with an unverified address', () => signOidc({ email_verified: false })],
    ['of an address that no member has', () => signOidc({ email: `nobody-${next()}@example.test` })],
    ['to log out', () => signOidc({}, { typ: 'logout+jwt' })],
    ['of another key', async () => signOidc({}, {}, (await generateKeyPair('RS256')).privateKey)],
    [
      'without a signature',
      () => new UnsecuredJWT(buildClaims({ iss: bindings['OIDC_ISSUER'], aud: 'console' })).encode(),
    ],
    [
      'of the algorithm none',
      async () => `${btoa('{"alg":"none","kid":"one"}').replaceAll('=', '')}.${(await signOidc()).split('.')[1]}.`,
    ],
    [
      'signed with the public key as a secret',
      async () =>
        new SignJWT(buildClaims({ iss: bindings['OIDC_ISSUER'], aud: 'console', email_verified: true }))
          .setProtectedHeader({ alg: 'HS256', kid: 'one' })
          .sign(new TextEncoder().encode(await exportSPKI(keys.publicKey))),
    ],
    ['that Cloudflare Access has signed', () => signAccess()],
    ['that is none', () => 'nonsense'],
  ])('is refused: %s', async (_, make) => {
    expect(describeRefusal(await exchange(await make()))).toBe('401 sign_in_failed')
  })

  it('of an account without a role is refused', async () => {
    const email = `roleless-${next()}@example.test`
    await seedAccount(email)
    expect(describeRefusal(await exchange(await signOidc({ email })))).toBe('401 sign_in_failed')
  })

  it('counts as a sign-in of the time at which the person authenticated, not of the exchange', async () => {
    const hourAgo = seconds() - 3600
    const old = await exchange(await signOidc({ auth_time: hourAgo }))
    expect(old.body.signed_in_at).toBe(new Date(hourAgo * 1000).toISOString())
    expect(describeRefusal(await mint(old.body.token))).toBe('403 recent_sign_in_required')
    const fresh = await exchange(await signOidc({ auth_time: seconds() + 50, iat: hourAgo }))
    expect(Date.parse(fresh.body.signed_in_at)).toBeLessThanOrEqual(Date.now())
    expect((await mint(fresh.body.token)).status).toBe(201)
    const precise = await exchange(await signOidc({ auth_time: seconds() - 0.123_456_7 }))
    expect((await mint(precise.body.token)).status).toBe(201)
  })

  it.each<[string, JWTPayload]>([
    ['has no auth_time', {}],
    ['has neither auth_time nor iat', { iat: undefined }],
    ['has an auth_time in words', { auth_time: 'now' }],
    ['has an auth_time in the future, such as milliseconds', { auth_time: Date.now() }],
    ['has an auth_time before all time', { auth_time: -9e15 }],
  ])('that %s makes a session that creates no tokens', async (_, more) => {
    const session = await exchange(await signOidc(more))
    await expectUnknownSignIn(session)
  })

  it('creates access tokens itself only when it says that the person authenticated lately', async () => {
    const mintWith = async (more: JWTPayload) =>
      callWith(bindings, '/v1/auth/tokens', {
        token: await signOidc({ aud: 'event-commerce', ...more }),
        body: { name: 'minted' },
      })
    const listNames = async () =>
      db.all(sql`select 1 from access_tokens where account_id = ${person.account} and name = 'minted'`)
    const before = (await listNames()).length
    for (const more of [{}, { auth_time: seconds() - 3600 }, { auth_time: Date.now() }])
      expect(describeRefusal(await mintWith(more))).toBe('403 recent_sign_in_required')
    expect(await listNames()).toHaveLength(before)
    expect((await mintWith({ auth_time: seconds() - 60 })).status).toBe(201)
    expect(await listNames()).toHaveLength(before + 1)
  })

  it('is answered with 503 when the issuer does not answer', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    vi.mocked(globalThis.fetch).mockImplementation(async () => new Response('busy', { status: 503 }))
    expect(describeRefusal(await exchange(await signOidc()))).toBe('503 identity_unavailable')
  })
})

describe('the assertion of Cloudflare Access', () => {
  it('signs in the member whose address it has', async () => {
    const reply = await enter(await signAccess())
    expect(reply.body, reply.text).toMatchObject({ kind: 'session', email: person.email })
    expect(requests).toEqual([`https://${bindings['CF_ACCESS_TEAM_DOMAIN']}/cdn-cgi/access/certs`])
    expect((await get('/v1/auth/user-info', reply.body.token)).body.id).toBe(person.account)
  })

  it('does not say when the person signed in, however new it is', async () => {
    await expectUnknownSignIn(await enter(await signAccess()))
  })

  it('does not count where the body has another secret', async () => {
    expect(describeRefusal(await enter(await signAccess(), { link: 'wrong' }))).toBe('401 sign_in_failed')
  })

  it.each<[string, () => Promise<string> | string]>([
    ['for another application', () => signAccess({ aud: ['another'] })],
    ['without an audience', () => signAccess({ aud: undefined as unknown as string })],
    ['of another team', () => signAccess({ iss: 'https://evil.cloudflareaccess.com' })],
    ['that has expired', () => signAccess({ exp: seconds() - 120 })],
    ['of the whole organisation instead of an application', () => signAccess({ type: 'org' })],
    ['of a service without an address', () => signAccess({ email: undefined, common_name: 'service.access' })],
    ['of an address that no member has', () => signAccess({ email: `nobody-${next()}@example.test` })],
    ['of another key', async () => signAccess({}, {}, (await generateKeyPair('RS256')).privateKey)],
    ['with an unknown key', () => signAccess({}, { kid: 'two' })],
    ['without a signature', () => new UnsecuredJWT(accessClaims()).encode()],
    ['that the OpenID Connect issuer has signed', () => signOidc()],
    ['that is empty', () => ''],
  ])('is refused: %s', async (_, make) => {
    expect(describeRefusal(await enter(await make()))).toBe('401 sign_in_failed')
  })

  it('is refused where Access is not configured', async () => {
    const assertion = await signAccess()
    bindings = { ...bindings, CF_ACCESS_TEAM_DOMAIN: '', CF_ACCESS_AUDIENCE: '' }
    expect(describeRefusal(await enter(assertion))).toBe('403 sign_in_method_unavailable')
  })

  it('opens no other operation', async () => {
    const headers = { 'cf-access-jwt-assertion': await signAccess() }
    for (const { id, method, path, isPublic } of implemented) {
      if (isPublic) continue
      const reply = await callWith(bindings, path.replaceAll(/\{\w+\}/g, 'x'), {
        method: method.toUpperCase(),
        token: null,
        headers,
      })
      expect([id, reply.status]).toEqual([id, 401])
    }
    expect(requests).toEqual([])
  })
})

describe('the configuration of signing in', () => {
  const read = (values: object) => () =>
    readConfig({ PUBLIC_URL: '', EMAIL_FROM: '', EMAIL_API_BASE: '', ...baseline, ...values } as unknown as Bindings)
      .signIn
  const baseline = {
    SMS_API_BASE: '',
    DNS_API_BASE: '',
    PAYMENT_API_BASE: '',
    WALLET_VENDOR_A: '',
    WALLET_VENDOR_B: '',
    WEBHOOK_RETRY_SCHEDULE: '',
    ENVIRONMENT: 'development',
    LINK_SIGNING_KEY: 'key',
  }

  it.each([
    [
      { SIGN_IN_METHODS: 'code,password' },
      /^SIGN_IN_METHODS is "code,password"\. It must be a list of code, link, oidc, access/,
    ],
    [{ SIGN_IN_METHODS: 'code,' }, /^SIGN_IN_METHODS is "code,"/],
    [{ SIGN_IN_METHODS: 'oidc' }, /^OIDC_ISSUER is not set/],
    [{ SIGN_IN_METHODS: 'access' }, /^CF_ACCESS_TEAM_DOMAIN is not set/],
    [{ CF_ACCESS_AUDIENCE: 'aud' }, /^CF_ACCESS_TEAM_DOMAIN is not set/],
    [{ CF_ACCESS_TEAM_DOMAIN: 'acme.cloudflareaccess.com' }, /^CF_ACCESS_AUDIENCE is not set/],
    [{ CF_ACCESS_TEAM_DOMAIN: 'https://acme.example/', CF_ACCESS_AUDIENCE: 'aud' }, /^CF_ACCESS_TEAM_DOMAIN is "https/],
  ])('names the variable that is wrong: %o', (values, message) => {
    expect(read(values)).toThrow(message)
  })

  it('takes methods in any order, with spaces', () => {
    expect(read({ SIGN_IN_METHODS: ' link , code ' })().methods).toEqual(['code', 'link'])
  })
})
