import { env } from 'cloudflare:workers'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { generateToken } from '../../src/domain/accounts/tokens.ts'
import { mintLinkToken } from '../../src/domain/campaigns/link-tokens.ts'
import { parseNetwork } from '../../src/domain/network.ts'
import { callWith, type Reply } from '../support/api.ts'
import { createCountingLimiter, watchDatabase } from '../support/bindings.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedAccount, seedMember, seedToken } from '../support/seeding/members.ts'
import { next, randomBytes } from '../support/seeding/rows.ts'
import { buildWorld, seedPerson, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
})

/** The isolate stores blocked addresses, so each test has its own. */
function newAddress(): string {
  const number = next()
  return `198.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`
}

const info = (bindings: object, token: string | null, address?: string) =>
  callWith(bindings, '/v1/auth/user-info', {
    token,
    headers: address === undefined ? {} : { 'cf-connecting-ip': address },
  })

const unknownToken = () => generateToken(randomBytes)

/** Makes an account with a role in two organisations. */
async function seedMemberOfBoth(): Promise<string> {
  const account = await seedAccount()
  await seedMember(account, { organization: world.a.id, role: 'viewer' })
  await seedMember(account, { organization: world.b.id, role: 'viewer' })
  return account
}

describe('the limit of a member', () => {
  it('counts all tokens of an account together, and no other account', async () => {
    const account = await seedMemberOfBoth()
    const bindings = { MEMBER_RATE_LIMITER: createCountingLimiter(2) }
    const [one, two, three] = [await seedToken(account), await seedToken(account), await seedToken(account)]
    expect((await info(bindings, one.token)).status).toBe(200)
    expect((await info(bindings, two.token)).status).toBe(200)
    const refusal = await info(bindings, three.token)
    expect(describeRefusal(refusal)).toBe('429 rate_limited')
    expect(refusal.headers.get('retry-after')).toBe('60')
    expect(refusal.headers.get('ratelimit-policy')).toBe('"default";q=600;w=60, "member";q=1200;w=60')
    expect((await info(bindings, world.people.OV.token)).status).toBe(200)
  })

  it('counts tokens bound to an organisation separately', async () => {
    const account = await seedMemberOfBoth()
    const bindings = { MEMBER_RATE_LIMITER: createCountingLimiter(2) }
    const unbound = await seedToken(account)
    const inA = await seedToken(account, { organization: world.a.id })
    const inB = await seedToken(account, { organization: world.b.id })
    for (const { token } of [unbound, inA, inB, unbound, inA, inB])
      expect((await info(bindings, token)).status).toBe(200)
    for (const { token } of [unbound, inA, inB])
      expect(describeRefusal(await info(bindings, token))).toBe('429 rate_limited')
  })

  it('is none when the service has no limits', async () => {
    const { token } = await seedToken(await seedMemberOfBoth())
    const bindings = { MEMBER_RATE_LIMITER: createCountingLimiter(0) }
    expect((await info(bindings, token)).status).toBe(429)
    expect((await info({ ...bindings, RATE_LIMIT_PER_MINUTE: '0' }, token)).status).toBe(200)
  })
})

/** Uses a valid token from an address, which is blocked afterwards. */
async function givenBlocked() {
  const bindings = { SIGN_IN_RATE_LIMITER: createCountingLimiter(1) }
  const [address, member] = [newAddress(), await seedPerson('OV', world.a)]
  expect((await info(bindings, member.token, address)).status).toBe(200)
  for (let attempt = 0; attempt < 5; attempt++) await info(bindings, unknownToken(), address)
  expect((await info(bindings, unknownToken(), address)).status).toBe(429)
  return { bindings, address, member }
}

describe('the limit of failed sign-ins', () => {
  // A block ends after a minute, which a slow machine may need, so the clock stands still.
  beforeEach(() => {
    vi.spyOn(Date, 'now').mockReturnValue(Date.now())
  })
  afterEach(() => {
    vi.restoreAllMocks()
  })

  it('refuses an address without a query after too many failures', async () => {
    const limiter = createCountingLimiter(3)
    const statements: string[] = []
    const bindings = { SIGN_IN_RATE_LIMITER: limiter, ...watchDatabase((sql) => statements.push(sql)) }
    const address = newAddress()
    const replies = []
    for (let attempt = 0; attempt < 6; attempt++) replies.push(await info(bindings, unknownToken(), address))
    expect(replies.map(({ status }) => status)).toEqual([401, 401, 401, 429, 429, 429])
    expect(statements).toHaveLength(4)
    expect(limiter.keys).toEqual([address, address, address, address])
    const refusal = replies.at(-1)
    expect(refusal?.body.code).toBe('rate_limited')
    expect(refusal?.headers.get('retry-after')).toBe('60')
    expect(refusal?.headers.get('ratelimit-policy')).toBe('"sign-in";q=30;w=60')
    // An unknown token is refused too, without a query.
    expect((await info(bindings, (await seedPerson('OV', world.a)).token, address)).status).toBe(429)
    expect(statements).toHaveLength(4)
  })

  it('affects no other addresses', async () => {
    const { bindings } = await givenBlocked()
    const other = await seedPerson('OV', world.a)
    expect((await info(bindings, other.token, newAddress())).status).toBe(200)
  })

  it('does not affect tokens that were valid from that address before', async () => {
    const { bindings, address, member } = await givenBlocked()
    expect((await info(bindings, member.token, address)).status).toBe(200)
  })

  it('refuses a token that was valid before once it is revoked, the second time without a query', async () => {
    const { bindings, address, member } = await givenBlocked()
    await env.DB.prepare('update access_tokens set revoked_at = 1 where id = ?').bind(member.tokenId).run()
    expect((await info(bindings, member.token, address)).status).toBe(429)
    const statements: string[] = []
    const watched = { ...bindings, ...watchDatabase((sql) => statements.push(sql)) }
    expect((await info(watched, member.token, address)).status).toBe(429)
    expect(statements).toEqual([])
  })

  it('ends after a minute', async () => {
    const [bindings, address] = [{ SIGN_IN_RATE_LIMITER: createCountingLimiter(0) }, newAddress()]
    expect((await info(bindings, unknownToken(), address)).status).toBe(429)
    vi.mocked(Date.now).mockReturnValue(Date.now() + 61_000)
    expect((await info(bindings, world.people.OA.token, address)).status).toBe(200)
  })

  it.each<[string, number, (bindings: object, address: string) => Promise<Reply>]>([
    ['good sign-ins', 200, (bindings, address) => info(bindings, world.people.OM.token, address)],
    ['requests without credentials', 401, (bindings, address) => info(bindings, null, address)],
    ['requests without an address', 401, (bindings) => info(bindings, unknownToken())],
    [
      'failures of a service without limits',
      401,
      (bindings, address) => info({ ...bindings, RATE_LIMIT_PER_MINUTE: '0' }, unknownToken(), address),
    ],
  ])('does not count %s', async (_, status, ask) => {
    const [limiter, address] = [createCountingLimiter(0), newAddress()]
    for (let attempt = 0; attempt < 3; attempt++)
      expect((await ask({ SIGN_IN_RATE_LIMITER: limiter }, address)).status).toBe(status)
    expect(limiter.keys).toEqual([])
  })

  it('counts malformed tokens, and wrong tokens of the superuser', async () => {
    const bindings = { SIGN_IN_RATE_LIMITER: createCountingLimiter(2) }
    const address = newAddress()
    const statuses = []
    for (const token of ['ecm_nonsense', 'root-token-of-a-guess', 'a.b.c'])
      statuses.push((await info(bindings, token, address)).status)
    expect(statuses).toEqual([401, 401, 429])
  })

  it('treats 64 bits of an IPv6 address as one address', async () => {
    const limiter = createCountingLimiter(1)
    const bindings = { SIGN_IN_RATE_LIMITER: limiter }
    const network = `2001:db8:77:${(next() & 0xffff).toString(16)}`
    expect((await info(bindings, unknownToken(), `${network}::1`)).status).toBe(401)
    expect((await info(bindings, unknownToken(), `${network}:1:2:3:4`)).status).toBe(429)
    expect((await info(bindings, world.people.EV.token, `2001:db8:78::1`)).status).toBe(200)
  })
})

describe('the limit of links in messages', () => {
  const visit = (bindings: object, path: string, address: string, method = 'GET') =>
    callWith(bindings, path, { token: null, method, headers: { 'cf-connecting-ip': address } })

  const leaving = (n: number) =>
    mintLinkToken('link-signing-key-of-the-tests', {
      kind: 'unsubscribe',
      campaign_id: world.a.editions[0].campaign,
      n,
      link: 0,
    })

  /** Uses up the requests of an address. */
  async function givenExhausted() {
    const statements: string[] = []
    const address = newAddress()
    const bindings = {
      LINK_RATE_LIMITER: createCountingLimiter(3),
      ...watchDatabase((sql) => statements.push(sql)),
    }
    for (const path of ['/t/c/x', '/t/o/x', '/t/u/x']) expect((await visit(bindings, path, address)).status).toBe(404)
    statements.length = 0
    return { bindings, address, statements }
  }

  it('refuses an address with too many requests before any query', async () => {
    const { bindings, address, statements } = await givenExhausted()
    for (const path of ['/t/c/x', '/t/o/x', `/t/u/${leaving(1)}`]) {
      const refusal = await visit(bindings, path, address)
      expect([path, refusal.status, refusal.headers.get('retry-after')]).toEqual([path, 429, '60'])
      expect(refusal.headers.get('ratelimit-policy')).toBe('"links";q=6000;w=60')
    }
    expect((await visit(bindings, '/t/c/x', address, 'HEAD')).status).toBe(429)
    expect(statements).toEqual([])
  })

  it('affects no other addresses', async () => {
    const { bindings } = await givenExhausted()
    expect((await visit(bindings, '/t/c/x', newAddress())).status).toBe(404)
  })

  it('is none when the service has no limits', async () => {
    const { bindings, address } = await givenExhausted()
    expect((await visit({ ...bindings, RATE_LIMIT_PER_MINUTE: '0' }, '/t/c/x', address)).status).toBe(404)
  })

  it('lets many people unsubscribe from one address', async () => {
    const [address, links, confirmations] = [newAddress(), createCountingLimiter(0), createCountingLimiter(2)]
    const bindings = { LINK_RATE_LIMITER: links, CONFIRMATION_RATE_LIMITER: confirmations }
    for (let n = 1; n <= 30; n++)
      expect((await visit(bindings, `/t/u/${leaving(n)}`, address, 'POST')).status).not.toBe(429)
    expect(links.keys).toEqual([])
  })

  it('lets each of them unsubscribe a few times, from any address', async () => {
    const bindings = { CONFIRMATION_RATE_LIMITER: createCountingLimiter(2) }
    const link = `/t/u/${leaving(1)}`
    for (const _ of [1, 2]) expect((await visit(bindings, link, newAddress(), 'POST')).status).not.toBe(429)
    const refusal = await visit(bindings, link, newAddress(), 'POST')
    expect([refusal.status, refusal.headers.get('retry-after')]).toEqual([429, '60'])
    expect(refusal.headers.get('ratelimit-policy')).toBe('"link";q=20;w=60')
  })

  it('does not apply to provider events, because a forged one costs no query', async () => {
    const statements: string[] = []
    const bindings = {
      LINK_RATE_LIMITER: createCountingLimiter(0),
      SIGN_IN_RATE_LIMITER: createCountingLimiter(0),
      EMAIL_WEBHOOK_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      ...watchDatabase((sql) => statements.push(sql)),
    }
    for (const _ of [1, 2, 3]) {
      const reply = await callWith(bindings, '/provider-events/resend', {
        token: null,
        body: { type: 'email.opened' },
        headers: { 'cf-connecting-ip': newAddress() },
      })
      expect(reply.status).toBe(401)
    }
    expect(statements).toEqual([])
  })
})

describe('a network', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    [' 192.0.2.1 ', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:DB8::1', '2001:db8:0:0::/64'],
    ['2001:0db8:0000:0000:aaaa:bbbb:cccc:dddd', '2001:db8:0:0::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['fe80::', 'fe80:0:0:0::/64'],
    ['1:2:3:4:5:6:7:8:9', null],
    ['1::2::3', null],
    ['somebody', null],
    ['', null],
    [undefined, null],
  ])('is read from the address %s as %s', (address, network) => {
    expect(parseNetwork(address)).toBe(network)
  })
})
