import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { callWith, get, post, remove, type Reply } from '../support/api.ts'
import { createCountingLimiter, createRefusingLimiter, watchDatabase } from '../support/bindings.ts'
import { readCost } from '../support/cost.ts'
import { later } from '../support/later.ts'
import { createProvider, createReceiptEngine, sell } from '../support/receipts.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedAccount } from '../support/seeding/members.ts'
import { db, next } from '../support/seeding/rows.ts'
import { aReceiptOrder, seedShopWithReceipts } from '../support/seeding/sales/orders.ts'
import {
  createSession,
  createSessionWith,
  deliverTo,
  newNetwork,
  readCode,
  receiveCode,
  requestCode,
  seedMemberWithEmail,
} from '../support/sign-in.ts'
import { buildWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
})

const minute = 60_000
const hour = 60 * minute

const loadCode = (id: string) =>
  db.first(sql<{ tries: number; used_at: number | null; account_id: string | null }>`select tries, used_at, account_id
    from sign_in_codes where id = ${id}`)

const countMails = async (address: string): Promise<number> => {
  const row = await db.first(
    sql<{ n: number }>`select count(*) as n from transactional_emails where recipient = ${address}`,
  )
  return row?.n ?? 0
}

/** Another code of eight digits. */
const change = (code: string): string => String((Number(code) + 1) % 100_000_000).padStart(8, '0')

describe('requestSignInCode', () => {
  it('sends a code of eight digits to a member, which is stored nowhere', async () => {
    const { email, account } = await seedMemberWithEmail(world.a.id)
    const reply = await requestCode(` ${email.toUpperCase()} `)
    expect(reply.status).toBe(201)
    expect(reply.body).toEqual({
      request_id: expect.stringMatching(/^sic_/),
      expires_at: expect.stringMatching(/Z$/),
    })
    const remainingMs = Date.parse(reply.body.expires_at) - Date.now()
    expect(remainingMs).toBeGreaterThan(9 * minute)
    expect(remainingMs).toBeLessThanOrEqual(10 * minute)
    const provider = createProvider({ deduplicates: true })
    let stored = ''
    const gateway = {
      ...provider.gateway,
      send: async (...call: Parameters<typeof provider.gateway.send>) => {
        const rows = await db.all(sql`select * from transactional_emails where recipient = ${email}`)
        stored = JSON.stringify([rows, await db.all(sql`select * from sign_in_codes where account_id = ${account}`)])
        return provider.gateway.send(...call)
      },
    }
    await createReceiptEngine(gateway, Date.now() + 1000).run()
    const [mail] = provider.calls.map(({ email: message }) => message).filter(({ to }) => to.address === email)
    const code = readCode(mail ?? { text: '' })
    expect(code).toMatch(/^\d{8}$/)
    expect(mail?.subject).toBe('Your code to sign in to api.example.test')
    expect(mail?.html).toContain(code)
    expect(stored).toContain(email)
    expect(stored).not.toContain(code)
    expect(await loadCode(reply.body.request_id)).toEqual({ tries: 0, used_at: null, account_id: account })
    expect(
      JSON.stringify(await db.all(sql`select * from transactional_emails where recipient = ${email}`)),
    ).not.toContain(code)
  })

  it.each([
    ['en', 'Your code to sign in to'],
    ['da', 'Din kode til at logge ind på'],
    ['se', 'Din kod för att logga in på'],
    ['nl', 'Uw code om in te loggen bij'],
    ['pl', 'Kod logowania do'],
  ])('writes in the requested language: %s', async (language, subject) => {
    const { email } = await seedMemberWithEmail(world.a.id)
    await requestCode(email, newNetwork(), { language })
    const [mail] = await deliverTo(email)
    expect(mail?.subject).toContain(subject)
  })

  it('answers an address of a member, of nobody, and of somebody without a role alike, and in as many statements', async () => {
    const { email } = await seedMemberWithEmail(world.a.id)
    const roleless = `roleless-${next()}@example.test`
    await seedAccount(roleless)
    const unknown = `unknown-${next()}@example.test`
    const replies: Reply[] = []
    for (const address of [email, roleless, unknown]) replies.push(await requestCode(address))
    const shapes = replies.map(({ status, body, headers }) => [
      status,
      Object.keys(body),
      body.request_id.length,
      [...headers.keys()],
      readCost({ headers } as Reply).queries,
    ])
    expect(shapes[1]).toEqual(shapes[0])
    expect(shapes[2]).toEqual(shapes[0])
    // The bookmark of the database would tell whose request has stored more.
    for (const { headers } of replies) expect(headers.has('x-d1-bookmark')).toBe(false)
    expect(await Promise.all([email, roleless, unknown].map(countMails))).toEqual([1, 0, 0])
    const refusals = []
    for (const { body } of replies)
      for (let tries = 0; tries < 6; tries++) {
        const { text, headers, status } = await createSession(
          { request_id: body.request_id, code: '00000000' },
          { 'x-request-id': 'fixed' },
        )
        expect(headers.has('x-d1-bookmark')).toBe(false)
        refusals.push(JSON.stringify([status, text, [...headers.keys()]]))
      }
    const absentId = `${replies[0]?.body.request_id.slice(0, -4)}0000`
    const { text, headers, status } = await createSession(
      { request_id: absentId, code: '00000000' },
      { 'x-request-id': 'fixed' },
    )
    refusals.push(JSON.stringify([status, text, [...headers.keys()]]))
    expect(new Set(refusals).size).toBe(1)
  })

  it('needs no token, and ignores one that has ended', async () => {
    const { email } = await seedMemberWithEmail(world.a.id)
    expect((await post('/v1/auth/sign-in-codes', { email }, 'ecm_of_yesterday')).status).toBe(201)
  })

  it('ignores an Idempotency-Key, which would belong to everybody', async () => {
    const [one, other] = [await seedMemberWithEmail(world.a.id), await seedMemberWithEmail(world.a.id)]
    const headers = { 'idempotency-key': '1' }
    const ask = (email: string) => callWith({}, '/v1/auth/sign-in-codes', { token: null, body: { email }, headers })
    const first = await ask(one.email)
    const second = await ask(other.email)
    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.body.request_id).not.toBe(first.body.request_id)
    const { email } = await seedMemberWithEmail(world.a.id)
    const secret = await receiveCode(email)
    const session = await createSession(secret, headers)
    expect(session.status).toBe(201)
    expect(describeRefusal(await createSession(secret, headers))).toBe('401 sign_in_failed')
  })

  it('refuses what is no address', async () => {
    expect(describeRefusal(await requestCode('no address'))).toContain('400 validation_error')
  })

  it('sends an address five codes an hour, also when they are requested at once, and answers all alike', async () => {
    const { email } = await seedMemberWithEmail(world.a.id)
    const replies = await Promise.all(Array.from({ length: 12 }, () => requestCode(email)))
    expect(new Set(replies.map(({ status, body }) => `${status} ${Object.keys(body).join()}`)).size).toBe(1)
    expect(await countMails(email)).toBe(5)
    expect(await deliverTo(email)).toHaveLength(5)
    await later(hour + minute, () => requestCode(email))
    expect(await countMails(email)).toBe(6)
  })

  it('accepts twenty requests an hour from a network, whatever the addresses, also at once', async () => {
    const network = newNetwork()
    const members = await Promise.all(Array.from({ length: 6 }, () => seedMemberWithEmail(world.a.id)))
    const unknown = Array.from({ length: 18 }, () => `nobody-${next()}@example.test`)
    expect(
      new Set(await Promise.all(unknown.map(async (email) => (await requestCode(email, network)).status))),
    ).toEqual(new Set([201]))
    const replies = await Promise.all(members.map(({ email }) => requestCode(email, network)))
    expect(replies.map(({ status }) => status)).toEqual(members.map(() => 201))
    const counts = await Promise.all(members.map(({ email }) => countMails(email)))
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(2)
    const [first] = members
    await requestCode(first?.email ?? '')
    const [before] = counts
    expect(await countMails(first?.email ?? '')).toBe((before ?? 0) + 1)
  })

  it('counts 64 bits of an IPv6 address as one network', async () => {
    const prefix = `2001:db8:${next().toString(16)}:1`
    for (let host = 1; host <= 20; host++)
      await requestCode(`v6-${next()}@example.test`, `${prefix}::${host.toString(16)}`)
    const { email } = await seedMemberWithEmail(world.a.id)
    await requestCode(email, `${prefix}::ffff`)
    expect(await countMails(email)).toBe(0)
  })

  it('stores no address, and nothing at all beyond the limits', async () => {
    const network = newNetwork()
    const email = `stranger-${next()}@example.test`
    for (let count = 0; count < 8; count++) await requestCode(email, network)
    const rows = await db.all(sql`select * from sign_in_codes where created_at > ${Date.now() - minute}`)
    expect(JSON.stringify(rows)).not.toContain(email)
    expect(JSON.stringify(rows)).not.toContain(network)
  })

  it('is refused for all addresses alike while no e-mail can be sent, and says which ways are left', async () => {
    const { email } = await seedMemberWithEmail(world.a.id)
    for (const address of [email, `nobody-${next()}@example.test`]) {
      const bindings = { ENVIRONMENT: 'production', EMAIL_PROVIDER: '' }
      const reply = await callWith(bindings, '/v1/auth/sign-in-codes', { token: null, body: { email: address } })
      expect(describeRefusal(reply)).toBe('403 sign_in_method_unavailable')
      expect(reply.body.methods).toEqual(['link'])
    }
    expect(await countMails(email)).toBe(0)
  })

  it('sends a code before receipts that have waited longer', async () => {
    const shop = await seedShopWithReceipts()
    await sell(
      shop,
      Array.from({ length: 25 }, () => aReceiptOrder()),
    )
    const { email } = await seedMemberWithEmail(world.a.id)
    await requestCode(email)
    const provider = createProvider({ deduplicates: true })
    await createReceiptEngine(provider.gateway, Date.now() + 1000).run()
    const recipients = provider.calls.map((sent) => sent.email.to.address)
    expect(recipients.length).toBeGreaterThan(25)
    expect(recipients.indexOf(email)).toBeLessThan(20)
  })

  it('sends no code that has ended in the meantime', async () => {
    const { email } = await seedMemberWithEmail(world.a.id)
    await requestCode(email)
    expect(await deliverTo(email, Date.now() + 11 * minute)).toEqual([])
    const [row] = await db.all(sql`select status, error_code from transactional_emails where recipient = ${email}`)
    expect(row).toEqual({ status: 'failed', error_code: 'code_ended' })
  })
})

describe('a code', () => {
  it('signs in once', async () => {
    const { email } = await seedMemberWithEmail(world.a.id)
    const secret = await receiveCode(email)
    const reply = await createSession(secret)
    expect(reply.status).toBe(201)
    expect(describeRefusal(await createSession(secret))).toBe('401 sign_in_failed')
  })

  it('signs in once when it is sent many times at once', async () => {
    const { email, account } = await seedMemberWithEmail(world.a.id)
    const secret = await receiveCode(email)
    const replies = await Promise.all(Array.from({ length: 5 }, () => createSession(secret)))
    expect(replies.map(({ status }) => status).toSorted()).toEqual([201, 401, 401, 401, 401])
    const rows = await db.all(sql`select 1 from access_tokens where account_id = ${account}`)
    expect(rows).toHaveLength(1)
  })

  it('may contain spaces where it was copied with them', async () => {
    const { email } = await seedMemberWithEmail(world.a.id)
    const { request_id, code } = await receiveCode(email)
    const reply = await createSession({ request_id, code: ` ${code.slice(0, 4)} ${code.slice(4)} ` })
    expect(reply.status).toBe(201)
  })

  it('ends after five wrong tries, one after the other', async () => {
    const { email } = await seedMemberWithEmail(world.a.id)
    const { request_id, code } = await receiveCode(email)
    for (let tries = 0; tries < 5; tries++)
      expect(describeRefusal(await createSession({ request_id, code: change(code) }))).toBe('401 sign_in_failed')
    expect(describeRefusal(await createSession({ request_id, code }))).toBe('401 sign_in_failed')
    expect(await loadCode(request_id)).toMatchObject({ tries: 5, used_at: null })
  })

  it('can be tried five times also when the tries run in parallel', async () => {
    const { email } = await seedMemberWithEmail(world.a.id)
    const { request_id, code } = await receiveCode(email)
    await Promise.all(Array.from({ length: 20 }, () => createSession({ request_id, code: change(code) })))
    expect(await loadCode(request_id)).toMatchObject({ tries: 5 })
    expect((await createSession({ request_id, code })).status).toBe(401)
  })

  it('still signs in at the fifth try', async () => {
    const { email } = await seedMemberWithEmail(world.a.id)
    const { request_id, code } = await receiveCode(email)
    for (let tries = 0; tries < 4; tries++) await createSession({ request_id, code: change(code) })
    expect((await createSession({ request_id, code })).status).toBe(201)
  })

  it('is worth nothing with the id of another request of the same address', async () => {
    const { email } = await seedMemberWithEmail(world.a.id)
    const first = await receiveCode(email)
    const second = await receiveCode(email)
    expect((await createSession({ request_id: second.request_id, code: first.code })).status).toBe(401)
    expect((await createSession({ request_id: first.request_id, code: second.code })).status).toBe(401)
    expect((await createSession(first)).status).toBe(201)
    expect((await createSession(second)).status).toBe(201)
  })

  it('expires after ten minutes', async () => {
    const { email } = await seedMemberWithEmail(world.a.id)
    const secret = await receiveCode(email)
    const reply = await later(10 * minute, () => createSession(secret))
    expect(describeRefusal(reply)).toBe('401 sign_in_failed')
  })

  it('signs in nobody who was removed after it was sent', async () => {
    const { email, member } = await seedMemberWithEmail(world.a.id)
    const secret = await receiveCode(email)
    expect((await remove(`/v1/organizations/${world.a.id}/members/${member}`)).status).toBe(204)
    expect(describeRefusal(await createSession(secret))).toBe('401 sign_in_failed')
  })

  it('stays valid while the key that made it is a previous one', async () => {
    const { email } = await seedMemberWithEmail(world.a.id)
    const secret = await receiveCode(email)
    const key = 'link-signing-key-of-the-tests'
    expect((await createSessionWith({ LINK_SIGNING_KEY: 'another' }, secret)).status).toBe(401)
    const rotated = { LINK_SIGNING_KEY: 'another', LINK_SIGNING_KEY_PREVIOUS: key }
    expect((await createSessionWith(rotated, secret)).status).toBe(201)
  })

  it('requires the id of its request, and comes alone', async () => {
    const request_id = 'sic_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8'
    expect(describeRefusal(await createSession({ code: '12345678' }))).toBe(
      '400 validation_error: required #/request_id',
    )
    expect(describeRefusal(await createSession({ request_id }))).toBe('400 validation_error: required #/code')
    const both = { request_id, code: '12345678', link: 'x' }
    expect(describeRefusal(await createSession(both))).toBe('400 validation_error: exactly_one_secret #/link')
    for (const code of ['1234567', '123456789', 'abcdefgh', '１２３４５６７８'])
      expect((await createSession({ request_id, code })).status).toBe(400)
  })
})

describe('the limit of public operations', () => {
  it('counts a network, before any query, and no token', async () => {
    const { bindings, keys } = createRefusingLimiter()
    const statements: string[] = []
    const network = newNetwork()
    const ask = (path: string, body?: object) =>
      callWith({ ...bindings, ...watchDatabase((text) => statements.push(text)) }, path, {
        token: world.people.OA.token,
        headers: { 'cf-connecting-ip': network },
        ...(body ? { body } : {}),
      })
    const replies = [
      await ask('/v1/auth/methods'),
      await ask('/v1/auth/sign-in-codes', { email: 'somebody@example.test' }),
      await ask('/v1/auth/sessions/', { link: 'x' }),
    ]
    expect(replies.map(describeRefusal)).toEqual(replies.map(() => '429 rate_limited'))
    expect(new Set(keys)).toEqual(new Set([`public ${network}`]))
    expect(statements).toEqual([])
  })
})

describe('the limit of failed attempts to get a session', () => {
  it('refuses a network after too many failures, and leaves its access tokens alone', async () => {
    const limiter = createCountingLimiter(3)
    const network = newNetwork()
    const bindings = { SIGN_IN_RATE_LIMITER: limiter }
    const headers = { 'cf-connecting-ip': network }
    vi.spyOn(Date, 'now').mockReturnValue(Date.now())
    const statuses = []
    for (let count = 0; count < 5; count++)
      statuses.push((await createSessionWith(bindings, { link: `wrong-${count}` }, headers)).status)
    expect(statuses).toEqual([401, 401, 401, 429, 429])
    const { token } = world.people.OV
    expect((await callWith(bindings, '/v1/auth/user-info', { token, headers })).status).toBe(200)
    const elsewhere = { 'cf-connecting-ip': newNetwork() }
    expect((await createSessionWith(bindings, { link: 'wrong' }, elsewhere)).status).toBe(401)
    vi.restoreAllMocks()
  })
})

describe('listAuthMethods', () => {
  const ask = (bindings: object) => callWith(bindings, '/v1/auth/methods', { token: null })

  it('names the ways that are configured, to everybody', async () => {
    const plain = await ask({})
    expect(plain.body).toEqual({ methods: ['code', 'link'], issuer: null, client_id: null })
    expect((await get('/v1/auth/methods', 'ecm_of_yesterday')).status).toBe(200)
    const issuer = 'https://login.example.com'
    const all = await ask({
      OIDC_ISSUER: issuer,
      OIDC_AUDIENCE: 'event-commerce',
      OIDC_CLIENT_ID: 'console',
      CF_ACCESS_TEAM_DOMAIN: 'acme.cloudflareaccess.com',
      CF_ACCESS_AUDIENCE: 'aud',
    })
    expect(all.body).toEqual({ methods: ['code', 'link', 'oidc', 'access'], issuer, client_id: 'console' })
  })

  it('names only what SIGN_IN_METHODS allows, and the others do not work', async () => {
    const bindings = {
      SIGN_IN_METHODS: ' oidc ',
      OIDC_ISSUER: 'https://login.example.com',
      OIDC_AUDIENCE: 'event-commerce',
    }
    expect((await ask(bindings)).body).toMatchObject({ methods: ['oidc'], client_id: null })
    const { email, member } = await seedMemberWithEmail(world.a.id)
    const secret = await receiveCode(email)
    const refusal = '403 sign_in_method_unavailable'
    const body = { email }
    expect(describeRefusal(await callWith(bindings, '/v1/auth/sign-in-codes', { token: null, body }))).toBe(refusal)
    expect(describeRefusal(await createSessionWith(bindings, secret))).toBe(refusal)
    expect(describeRefusal(await createSessionWith(bindings, { link: 'x' }))).toBe(refusal)
    expect(describeRefusal(await createSessionWith(bindings, {}))).toBe(refusal)
    const link = await callWith(bindings, '/v1/auth/sign-in-links', { body: { member_id: member } })
    expect(describeRefusal(link)).toBe(refusal)
    expect((await createSession(secret)).status).toBe(201)
  })

  it('leaves out codes while no e-mail can be sent', async () => {
    const bindings = { ENVIRONMENT: 'production', EMAIL_PROVIDER: '' }
    expect((await ask(bindings)).body.methods).toEqual(['link'])
    expect((await ask({ LINK_SIGNING_KEY: '' })).body.methods).toEqual(['link'])
  })
})
