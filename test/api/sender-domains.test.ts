import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { call, callWith, get, post, remove } from '../support/api.ts'
import {
  seedSenderDomain,
  seedSenderDomains,
  aDomain,
  givenSenderDomain,
  givenDomains,
} from '../support/seeding/messaging/sender-domains.ts'
import { write } from '../support/seeding/rows.ts'
import { outcome, prove, loadDomain, verify } from '../support/sender-domains.ts'

describe('createSenderDomain', () => {
  it('adds a pending domain with the TXT record that proves it', async () => {
    const owner = await givenDomains()
    const body = await givenSenderDomain(owner, 'Nordlys-Events.DK.')
    expect(body).toMatchObject({
      organization_id: owner.id,
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
    expect((await get(`${owner.path}/${body.id}`, owner.token)).body).toEqual(body)
    expect((await get(owner.path, owner.token)).body.results).toEqual([body])
  })

  it.each([
    ['Müller-Fest.DE', 'xn--mller-fest-9db.de'],
    ['xn--mller-fest-9db.de', 'xn--mller-fest-9db.de'],
    ['Mu\u0308ller-Fest.de', 'xn--mller-fest-9db.de'],
    ['a.b.c.example', 'a.b.c.example'],
    ['co.uk', 'co.uk'],
  ])('stores %s as DNS spells it', async (given_, spelled) => {
    expect((await givenSenderDomain(await givenDomains(), given_)).domain).toBe(spelled)
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
    `${'a'.repeat(64)}.dk`,
    `${'a.'.repeat(118)}dk`,
    'a.dk\nb.dk',
  ])('refuses %j', async (domain) => {
    const owner = await givenDomains()
    const reply = await post(owner.path, { domain }, owner.token)
    expect([reply.status, reply.body.errors[0]]).toMatchObject([400, { pointer: '#/domain' }])
    expect((await get(owner.path, owner.token)).body.count).toBe(0)
  })

  it('accepts each domain once in an organisation, in any spelling, and in several organisations', async () => {
    const [owner, other] = [await givenDomains(), await givenDomains()]
    const domain = aDomain()
    const mine = await givenSenderDomain(owner, domain)
    for (const spelling of [domain.toUpperCase(), `${domain.slice(0, 1)}\u200B${domain.slice(1)}`]) {
      const secondReply = await post(owner.path, { domain: spelling }, owner.token)
      expect([secondReply.status, secondReply.body.errors[0]]).toMatchObject([
        400,
        { pointer: '#/domain', code: 'unique' },
      ])
    }
    const theirs = await givenSenderDomain(other, domain)
    expect(theirs.records[0].name).toBe(mine.records[0].name)
    expect(theirs.records[0].value).not.toBe(mine.records[0].value)
  })

  it('allows at most twenty, even when many are added at once', async () => {
    const owner = await givenDomains()
    await seedSenderDomains(owner.id, 18)
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => post(owner.path, { domain: aDomain() }, owner.token)),
    )
    expect(replies.map(({ status }) => status).toSorted()).toEqual([201, 201, 409, 409, 409])
    expect(replies.find(({ status }) => status === 409)?.body.code).toBe('too_many_sender_domains')
    expect((await get(owner.path, owner.token)).body.count).toBe(20)
  })
})

describe('deleteSenderDomain', () => {
  it('frees the domain for others, and a domain that is added again gets another token', async () => {
    const owner = await givenDomains()
    const domain = await givenSenderDomain(owner)
    await prove(domain)
    await verify(owner, domain)
    expect((await remove(`${owner.path}/${domain.id}`, owner.token)).status).toBe(204)
    expect(await loadDomain(domain.id)).toBeUndefined()
    const back = await givenSenderDomain(owner, domain.domain)
    expect(outcome(await verify(owner, back))).toEqual([200, 'pending', 'record_mismatch'])
  })
})

describe('the domains of another organisation', () => {
  it('return 404 in every operation', async () => {
    const [owner, other] = [await givenDomains(), await givenDomains()]
    const theirs = await seedSenderDomain(other.id, { domain: aDomain(), status: 'verified' })
    for (const path of [`${other.path}/${theirs.id}`, `${owner.path}/${theirs.id}`]) {
      expect((await get(path, owner.token)).status).toBe(404)
      expect((await post(`${path}/verify`, {}, owner.token)).status).toBe(404)
      expect((await remove(path, owner.token)).status).toBe(404)
    }
    expect((await get(other.path, owner.token)).status).toBe(404)
    expect((await post(other.path, { domain: aDomain() }, owner.token)).status).toBe(404)
    expect(await loadDomain(theirs.id)).toEqual(theirs)
  })
})

describe('/dev/dns', () => {
  it('does not exist in production, where only DNS proves a domain', async () => {
    const production = { ENVIRONMENT: 'production' }
    const path = `/dev/dns/_event-commerce.${aDomain()}`
    const bodies = [JSON.stringify({ texts: ['x'] }), 'no JSON', 'x'.repeat(2_000_000)]
    for (const request of [{ token: null }, ...bodies.map((raw) => ({ method: 'PUT', raw, token: null }))])
      expect((await callWith(production, path, request)).status).toBe(404)
    expect((await call(path, { token: null })).body).toEqual({ texts: [] })
    expect((await call(path, { method: 'PUT', body: { texts: [1] }, token: null })).status).toBe(400)
    await write(sql`delete from captured_dns_records`)
  })
})

describe('listSenderDomains', () => {
  it('lists the domains of the organisation with their records', async () => {
    const [owner, other] = [await givenDomains(), await givenDomains()]
    const [first, second] = [await givenSenderDomain(owner), await givenSenderDomain(owner)]
    await givenSenderDomain(other)
    const { body } = await get(owner.path, owner.token)
    expect(body.results).toHaveLength(2)
    expect(body.results).toEqual(expect.arrayContaining([first, second]))
  })
})

describe('getSenderDomain', () => {
  it('returns a domain with the fields of its creation, only to its organisation', async () => {
    const [owner, other] = [await givenDomains(), await givenDomains()]
    const domain = await givenSenderDomain(owner)
    expect((await get(`${owner.path}/${domain.id}`, owner.token)).body).toEqual(domain)
    expect((await get(`${other.path}/${domain.id}`, other.token)).status).toBe(404)
  })
})
