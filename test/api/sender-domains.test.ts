import { sql } from 'drizzle-orm'
import { describe, expect, it, vi } from 'vitest'
import { verifySenderDomain } from '../../src/modules/sender-domains/verify.ts'
import type { SenderDomainRow } from '../../src/modules/sender-domains/queries.ts'
import type { TxtAnswer } from '../../src/gateways/dns/dns.ts'
import { call, callWith, get, post, type Reply, remove } from '../support/api.ts'
import { contextAt } from '../support/context.ts'
import { givenOrganisation } from '../support/factories.ts'
import { seedSenderDomain, seedSenderDomains } from '../support/seed-sender-domains.ts'
import { db, next, seedAccount, seedMember, seedToken, write } from '../support/seed.ts'

async function given() {
  const organisation = await givenOrganisation()
  const account = await seedAccount()
  await seedMember(account, { organization: organisation.id, role: 'admin' })
  const { token } = await seedToken(account)
  return { id: organisation.id, token, path: `/v1/organizations/${organisation.id}/sender-domains` }
}

type Given = Awaited<ReturnType<typeof given>>

const aDomain = () => `nordlys-${next()}.example`

async function added({ path, token }: Given, domain = aDomain()): Promise<Reply['body']> {
  const reply = await post(path, { domain }, token)
  expect(reply.status, reply.text).toBe(201)
  return reply.body
}

const setTexts = async (name: string, texts: string[]) => {
  const reply = await call(`/dev/dns/${name}`, { method: 'PUT', body: { texts }, token: null })
  expect([reply.status, reply.body]).toEqual([200, { texts: texts.toSorted() }])
}

/** Sets the records of these domains, which have one name. */
const prove = (...domains: Reply['body'][]) =>
  setTexts(
    domains[0].records[0].name,
    domains.map(({ records }) => records[0].value),
  )

const verify = ({ path, token }: Given, { id }: { id: string }, body: object = {}) =>
  post(`${path}/${id}/verify`, body, token)

const outcome = ({ status, body }: Reply) => [status, body.status, body.last_check?.outcome]

const stored = (id: string) => db().first(sql<SenderDomainRow>`select * from sender_domains where id = ${id}`)

describe('createSenderDomain', () => {
  it('adds a pending domain with the record that proves it', async () => {
    const one = await given()
    const body = await added(one, 'Nordlys-Events.DK.')
    expect(body).toMatchObject({
      organization_id: one.id,
      domain: 'nordlys-events.dk',
      status: 'pending',
      verified_by: null,
      verified_at: null,
      last_check: null,
      records: [
        {
          purpose: 'ownership',
          type: 'TXT',
          name: '_event-commerce.nordlys-events.dk',
          value: expect.stringMatching(/^event-commerce-domain=[0-9a-f]{32}$/),
          priority: null,
        },
      ],
    })
    expect((await get(`${one.path}/${body.id}`, one.token)).body).toEqual(body)
    expect((await get(one.path, one.token)).body.results).toEqual([body])
  })

  it.each([
    ['Müller-Fest.DE', 'xn--mller-fest-9db.de'],
    ['xn--mller-fest-9db.de', 'xn--mller-fest-9db.de'],
    ['Mu\u0308ller-Fest.de', 'xn--mller-fest-9db.de'],
    ['a.b.c.example', 'a.b.c.example'],
    ['co.uk', 'co.uk'],
  ])('spells %s as the name system does', async (given_, spelled) => {
    expect((await added(await given(), given_)).domain).toBe(spelled)
  })

  it.each([
    'dk',
    'localhost',
    '',
    '.',
    'a..dk',
    '.a.dk',
    'a.dk..',
    'a b.dk',
    '-a.dk',
    'a-.dk',
    'a_b.dk',
    '1.2.3.4',
    '127.1',
    '0x7f.1',
    '[::1]',
    'a.dk:25',
    'a.dk/x',
    'u@a.dk',
    'http://a.dk',
    '%61.dk',
    'a\u200Bb.dk',
    'a\u202Eb.dk',
    `${'a'.repeat(64)}.dk`,
    `${'a.'.repeat(118)}dk`,
    'a.dk\nb.dk',
  ])('refuses %j', async (domain) => {
    const one = await given()
    const reply = await post(one.path, { domain }, one.token)
    expect([reply.status, reply.body.errors[0]]).toMatchObject([400, { pointer: '#/domain' }])
    expect((await get(one.path, one.token)).body.count).toBe(0)
  })

  it('takes each domain once an organisation, however it is spelled, and of several organisations', async () => {
    const [one, other] = [await given(), await given()]
    const domain = aDomain()
    const mine = await added(one, domain)
    const again = await post(one.path, { domain: domain.toUpperCase() }, one.token)
    expect([again.status, again.body.errors[0]]).toMatchObject([400, { pointer: '#/domain', code: 'unique' }])
    const theirs = await added(other, domain)
    expect(theirs.records[0].name).toBe(mine.records[0].name)
    expect(theirs.records[0].value).not.toBe(mine.records[0].value)
  })

  it('keeps to twenty, also when many are added at once', async () => {
    const one = await given()
    await seedSenderDomains(one.id, 18)
    const replies = await Promise.all(Array.from({ length: 5 }, () => post(one.path, { domain: aDomain() }, one.token)))
    expect(replies.map(({ status }) => status).toSorted()).toEqual([201, 201, 409, 409, 409])
    expect(replies.find(({ status }) => status === 409)?.body.code).toBe('too_many_sender_domains')
    expect((await get(one.path, one.token)).body.count).toBe(20)
  })
})

describe('verifySenderDomain', () => {
  it('verifies a domain whose record is there, beside others', async () => {
    const one = await given()
    const domain = await added(one)
    expect(outcome(await verify(one, domain))).toEqual([200, 'pending', 'record_missing'])
    const [{ name, value }] = domain.records
    await setTexts(name, ['v=spf1 -all', `${value}x`, value.toUpperCase()])
    expect(outcome(await verify(one, domain))).toEqual([200, 'pending', 'record_mismatch'])
    await setTexts(name, ['v=spf1 -all', ` ${value} `])
    const reply = await verify(one, domain)
    expect(outcome(reply)).toEqual([200, 'verified', 'verified'])
    expect(reply.body).toMatchObject({ verified_by: 'dns', verified_at: expect.any(String) })
    expect(await stored(domain.id)).toMatchObject({ status: 'verified', verified_by: 'dns' })
    const again = await verify(one, domain)
    expect(again.body.verified_at).toBe(reply.body.verified_at)
  })

  it('makes a domain pending again whose record is gone', async () => {
    const one = await given()
    const domain = await added(one)
    await prove(domain)
    await verify(one, domain)
    await setTexts(domain.records[0].name, [])
    const reply = await verify(one, domain)
    expect(outcome(reply)).toEqual([200, 'pending', 'record_missing'])
    expect(reply.body).toMatchObject({ verified_by: null, verified_at: null })
  })

  it('takes no answer of the name system for none', async () => {
    const one = await given()
    const domain = await added(one)
    await prove(domain)
    const before = (await verify(one, domain)).body
    const answers: [TxtAnswer, string][] = [
      [{ ok: false, code: 'timeout' }, 'dns_timeout'],
      [{ ok: false, code: 'failure' }, 'dns_failure'],
    ]
    for (const [answer, expected] of answers) {
      const row = await stored(domain.id)
      if (!row) throw new Error('the domain is there')
      const ctx = { ...contextAt(Date.now()), dns: { txt: async () => answer } }
      await verifySenderDomain(ctx, row, { by_hand: false })
      expect(await stored(domain.id)).toMatchObject({ status: 'verified', check_outcome: expected })
    }
    expect((await get(`${one.path}/${domain.id}`, one.token)).body).toMatchObject({
      verified_at: before.verified_at,
      last_check: { outcome: 'dns_failure', detail: expect.stringContaining('Try again') },
    })
  })

  it('lets the superuser verify by hand, and nobody else', async () => {
    const one = await given()
    const domain = await added(one)
    const refused = await verify(one, domain, { by_hand: true })
    expect([refused.status, refused.body.code, refused.body.errors[0]]).toMatchObject([
      403,
      'permission_denied',
      { pointer: '#/by_hand', code: 'superuser_only' },
    ])
    expect(await stored(domain.id)).toMatchObject({ status: 'pending', version: 1 })
    const reply = await post(`${one.path}/${domain.id}/verify`, { by_hand: true })
    expect(reply.body).toMatchObject({ status: 'verified', verified_by: 'superuser', last_check: null })
    // What the superuser has verified needs no record.
    expect(outcome(await verify(one, domain))).toEqual([200, 'verified', 'record_missing'])
  })

  it('gives a domain to one organisation only, and to the next once the record of the first is gone', async () => {
    const [one, other] = [await given(), await given()]
    const name = aDomain()
    const [mine, theirs] = [await added(one, name), await added(other, name)]
    await prove(mine)
    expect(outcome(await verify(one, mine))).toEqual([200, 'verified', 'verified'])
    // Who has proved nothing learns nothing.
    expect(outcome(await verify(other, theirs))).toEqual([200, 'pending', 'record_mismatch'])
    await prove(mine, theirs)
    const refused = await verify(other, theirs)
    expect([refused.status, refused.body.code]).toEqual([409, 'sender_domain_taken'])
    expect(refused.text).not.toContain(one.id)
    const byHand = await post(`${other.path}/${theirs.id}/verify`, { by_hand: true })
    expect([byHand.status, byHand.body.code]).toEqual([409, 'sender_domain_taken'])
    await prove(theirs)
    expect(outcome(await verify(other, theirs))).toEqual([200, 'verified', 'verified'])
    expect(await stored(mine.id)).toMatchObject({ status: 'pending', verified_by: null, verified_at: null })
    const kept = await db().all(sql`select id from sender_domains where domain = ${name} and status = 'verified'`)
    expect(kept).toEqual([{ id: theirs.id }])
  })

  it('takes no domain away that the superuser has verified', async () => {
    const [one, other] = [await given(), await given()]
    const name = aDomain()
    const [mine, theirs] = [await added(one, name), await added(other, name)]
    await post(`${one.path}/${mine.id}/verify`, { by_hand: true })
    await prove(theirs)
    expect((await verify(other, theirs)).status).toBe(409)
    expect(await stored(mine.id)).toMatchObject({ status: 'verified', verified_by: 'superuser' })
  })

  it('leaves one winner when two organisations verify at once', async () => {
    const owners = await Promise.all(Array.from({ length: 4 }, given))
    const name = aDomain()
    const domains = await Promise.all(owners.map((owner) => added(owner, name)))
    await prove(...domains)
    const replies = await Promise.all(owners.map((owner, index) => verify(owner, domains[index])))
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409])
  })

  it('proves no domain below or above another', async () => {
    const [one, other] = [await given(), await given()]
    const above = aDomain()
    const [mine, theirs] = [await added(one, above), await added(other, `mail.${above}`)]
    await prove(mine)
    await verify(one, mine)
    expect(outcome(await verify(other, theirs))).toEqual([200, 'pending', 'record_missing'])
    await prove(theirs)
    expect(outcome(await verify(other, theirs))).toEqual([200, 'verified', 'verified'])
  })

  it('asks the configured resolver, and says what became of the question', async () => {
    const one = await given()
    const domain = await added(one)
    const [{ name, value }] = domain.records
    const fetched = vi.spyOn(globalThis, 'fetch')
    const bindings = { DNS_PROVIDER: 'https', DNS_API_BASE: 'https://dns.example/query' }
    const ask = async (body: unknown) => {
      fetched.mockImplementationOnce(async () => Response.json(body))
      const path = `${one.path}/${domain.id}/verify`
      return outcome(await callWith(bindings, path, { method: 'POST', body: {}, token: one.token }))
    }
    const answer = (data: string) => ({ Status: 0, Answer: [{ name, type: 16, TTL: 60, data }] })
    expect(await ask({ Status: 2 })).toEqual([200, 'pending', 'dns_failure'])
    expect(await ask({ Status: 3 })).toEqual([200, 'pending', 'record_missing'])
    expect(await ask(answer(`"${value.slice(0, 9)}" "${value.slice(9)}"`))).toEqual([200, 'verified', 'verified'])
    expect(String(fetched.mock.calls[0]?.[0])).toBe(`https://dns.example/query?name=${name}&type=TXT`)
    fetched.mockRestore()
  })
})

describe('deleteSenderDomain', () => {
  it('frees the domain for others, with another token when it comes back', async () => {
    const one = await given()
    const domain = await added(one)
    await prove(domain)
    await verify(one, domain)
    expect((await remove(`${one.path}/${domain.id}`, one.token)).status).toBe(204)
    expect(await stored(domain.id)).toBeUndefined()
    const back = await added(one, domain.domain)
    expect(outcome(await verify(one, back))).toEqual([200, 'pending', 'record_mismatch'])
  })
})

describe('the domains of another organisation', () => {
  it('are found by none of the operations', async () => {
    const [one, other] = [await given(), await given()]
    const theirs = await seedSenderDomain(other.id, { domain: aDomain(), status: 'verified' })
    for (const path of [`${other.path}/${theirs.id}`, `${one.path}/${theirs.id}`]) {
      expect((await get(path, one.token)).status).toBe(404)
      expect((await post(`${path}/verify`, {}, one.token)).status).toBe(404)
      expect((await remove(path, one.token)).status).toBe(404)
    }
    expect((await get(other.path, one.token)).status).toBe(404)
    expect((await post(other.path, { domain: aDomain() }, one.token)).status).toBe(404)
    expect(await stored(theirs.id)).toEqual(theirs)
  })
})

describe('/dev/dns', () => {
  it('is not there in production, where a record proves a domain', async () => {
    const production = { ENVIRONMENT: 'production' }
    const path = `/dev/dns/_event-commerce.${aDomain()}`
    for (const request of [{ token: null }, { method: 'PUT', body: { texts: ['x'] }, token: null }])
      expect((await callWith(production, path, request)).status).toBe(404)
    expect((await call(path, { token: null })).body).toEqual({ texts: [] })
    expect((await call(path, { method: 'PUT', body: { texts: [1] }, token: null })).status).toBe(400)
    await write(sql`delete from captured_dns_records`)
  })
})
