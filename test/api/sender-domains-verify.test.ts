import { sql } from 'drizzle-orm'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { TxtLookup } from '../../src/gateways/dns/dns.ts'
import { verifySenderDomain } from '../../src/modules/sender-domains/verify.ts'
import { callWith, get, post } from '../support/api.ts'
import { createContextAt } from '../support/context.ts'
import { describeRefusal } from '../support/refusals.ts'
import { aDomain, givenSenderDomain, givenDomains } from '../support/seeding/messaging/sender-domains.ts'
import { db } from '../support/seeding/rows.ts'
import { outcome, prove, setTexts, loadDomain, verify } from '../support/sender-domains.ts'

afterEach(() => vi.restoreAllMocks())

/** Makes one domain of two organisations, and verifies it for the first. */
async function givenVerifiedElsewhere() {
  const [owner, other] = [await givenDomains(), await givenDomains()]
  const name = aDomain()
  const [mine, theirs] = [await givenSenderDomain(owner, name), await givenSenderDomain(other, name)]
  await prove(mine)
  expect(outcome(await verify(owner, mine))).toEqual([200, 'verified', 'verified'])
  return { name, owner, other, mine, theirs }
}

/** Makes a domain, and stands in for an e-mail provider that has it in a state. */
async function givenDomainAtResend() {
  const owner = await givenDomains()
  const domain = await givenSenderDomain(owner)
  const provider = { calls: [] as string[], state: 'pending' }
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (url, init) => {
    const { calls, state: status } = provider
    calls.push(`${init?.method} ${new URL(url as string).pathname}`)
    const records = [{ record: 'DKIM', type: 'TXT', name: 'resend._domainkey', value: 'p=abc', status }]
    if (status === 'restricted') return Response.json({ name: 'restricted_api_key' }, { status: 401 })
    return Response.json({ id: 'd1', name: domain.domain, status, records }, { status: 200 })
  })
  const resend = { EMAIL_PROVIDER: 'resend', EMAIL_API_KEY: 're_key', EMAIL_API_BASE: 'https://mail.example' }
  const ask = () =>
    callWith(resend, `${owner.path}/${domain.id}/verify`, { method: 'POST', body: {}, token: owner.token })
  return { provider, domain, ask }
}

describe('verifySenderDomain', () => {
  it('verifies a domain whose record exists beside other records', async () => {
    const owner = await givenDomains()
    const domain = await givenSenderDomain(owner)
    expect(outcome(await verify(owner, domain))).toEqual([200, 'pending', 'record_missing'])
    const [{ name, value }] = domain.records
    await setTexts(name, ['v=spf1 -all', `${value}x`, value.toUpperCase()])
    expect(outcome(await verify(owner, domain))).toEqual([200, 'pending', 'record_mismatch'])
    await setTexts(name, ['v=spf1 -all', ` ${value} `])
    const reply = await verify(owner, domain)
    expect(outcome(reply)).toEqual([200, 'verified', 'verified'])
    expect(reply.body).toMatchObject({ verified_by: 'dns', verified_at: expect.any(String) })
    expect(await loadDomain(domain.id)).toMatchObject({ status: 'verified', verified_by: 'dns' })
    const secondReply = await verify(owner, domain)
    expect(secondReply.body.verified_at).toBe(reply.body.verified_at)
  })

  it('makes a domain pending again when its record is gone', async () => {
    const owner = await givenDomains()
    const domain = await givenSenderDomain(owner)
    await prove(domain)
    await verify(owner, domain)
    await setTexts(domain.records[0].name, [])
    const reply = await verify(owner, domain)
    expect(outcome(reply)).toEqual([200, 'pending', 'record_missing'])
    expect(reply.body).toMatchObject({ verified_by: null, verified_at: null })
  })

  it('changes nothing when DNS gives no answer', async () => {
    const owner = await givenDomains()
    const domain = await givenSenderDomain(owner)
    await prove(domain)
    const before = (await verify(owner, domain)).body
    const answers: [TxtLookup, string][] = [
      [{ ok: false, code: 'timeout' }, 'dns_timeout'],
      [{ ok: false, code: 'failure' }, 'dns_failure'],
    ]
    for (const [answer, expected] of answers) {
      const row = await loadDomain(domain.id)
      if (!row) throw new Error('the domain is there')
      const ctx = { ...createContextAt(Date.now()), dns: { lookUpTxt: async () => answer } }
      await verifySenderDomain(ctx, row, { by_hand: false })
      expect(await loadDomain(domain.id)).toMatchObject({ status: 'verified', check_outcome: expected })
    }
    expect((await get(`${owner.path}/${domain.id}`, owner.token)).body).toMatchObject({
      verified_at: before.verified_at,
      last_check: { outcome: 'dns_failure', detail: expect.stringContaining('Try again') },
    })
  })

  it('lets only the superuser verify by hand', async () => {
    const owner = await givenDomains()
    const domain = await givenSenderDomain(owner)
    const refusal = await verify(owner, domain, { by_hand: true })
    expect(describeRefusal(refusal)).toBe('403 permission_denied: superuser_only #/by_hand')
    expect(await loadDomain(domain.id)).toMatchObject({ status: 'pending', version: 1 })
    const reply = await post(`${owner.path}/${domain.id}/verify`, { by_hand: true })
    expect(reply.body).toMatchObject({ status: 'verified', verified_by: 'superuser', last_check: null })
    // The superuser's verification needs no record.
    expect(outcome(await verify(owner, domain))).toEqual([200, 'verified', 'record_missing'])
  })

  it('tells an organisation without the proof nothing about another that has verified the domain', async () => {
    const { other, theirs } = await givenVerifiedElsewhere()
    expect(outcome(await verify(other, theirs))).toEqual([200, 'pending', 'record_mismatch'])
  })

  it('refuses a domain that another organisation has verified, with a proof and by hand', async () => {
    const { owner, mine, other, theirs } = await givenVerifiedElsewhere()
    await prove(mine, theirs)
    const refusal = await verify(other, theirs)
    expect(describeRefusal(refusal)).toBe('409 sender_domain_taken')
    expect(refusal.text).not.toContain(owner.id)
    const byHand = await post(`${other.path}/${theirs.id}/verify`, { by_hand: true })
    expect(describeRefusal(byHand)).toBe('409 sender_domain_taken')
  })

  it('verifies a domain for another organisation once the record of the first is gone', async () => {
    const { name, mine, other, theirs } = await givenVerifiedElsewhere()
    await prove(theirs)
    expect(outcome(await verify(other, theirs))).toEqual([200, 'verified', 'verified'])
    expect(await loadDomain(mine.id)).toMatchObject({ status: 'pending', verified_by: null, verified_at: null })
    const verifiedDomains = await db.all(
      sql`select id from sender_domains where domain = ${name} and status = 'verified'`,
    )
    expect(verifiedDomains).toEqual([{ id: theirs.id }])
  })

  it('keeps a domain that the superuser has verified', async () => {
    const [owner, other] = [await givenDomains(), await givenDomains()]
    const name = aDomain()
    const [mine, theirs] = [await givenSenderDomain(owner, name), await givenSenderDomain(other, name)]
    await post(`${owner.path}/${mine.id}/verify`, { by_hand: true })
    await prove(theirs)
    expect((await verify(other, theirs)).status).toBe(409)
    expect(await loadDomain(mine.id)).toMatchObject({ status: 'verified', verified_by: 'superuser' })
  })

  it('succeeds for one of two organisations that verify at once', async () => {
    const owners = await Promise.all(Array.from({ length: 4 }, givenDomains))
    const name = aDomain()
    const domains = await Promise.all(owners.map((owner) => givenSenderDomain(owner, name)))
    await prove(...domains)
    const replies = await Promise.all(owners.map((owner, index) => verify(owner, domains[index])))
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409])
  })

  it('does not verify parent domains or subdomains', async () => {
    const [owner, other] = [await givenDomains(), await givenDomains()]
    const above = aDomain()
    const [mine, theirs] = [await givenSenderDomain(owner, above), await givenSenderDomain(other, `mail.${above}`)]
    await prove(mine)
    await verify(owner, mine)
    expect(outcome(await verify(other, theirs))).toEqual([200, 'pending', 'record_missing'])
    await prove(theirs)
    expect(outcome(await verify(other, theirs))).toEqual([200, 'verified', 'verified'])
  })

  it('queries the configured resolver, and returns the result of the query', async () => {
    const owner = await givenDomains()
    const domain = await givenSenderDomain(owner)
    const [{ name, value }] = domain.records
    const fetched = vi.spyOn(globalThis, 'fetch')
    const bindings = { DNS_PROVIDER: 'https', DNS_API_BASE: 'https://dns.example/query' }
    const ask = async (body: unknown) => {
      fetched.mockImplementationOnce(async () => Response.json(body))
      const path = `${owner.path}/${domain.id}/verify`
      return outcome(await callWith(bindings, path, { method: 'POST', body: {}, token: owner.token }))
    }
    const answer = (data: string) => ({ Status: 0, Answer: [{ name, type: 16, TTL: 60, data }] })
    expect(await ask({ Status: 2 })).toEqual([200, 'pending', 'dns_failure'])
    expect(await ask({ Status: 3 })).toEqual([200, 'pending', 'record_missing'])
    expect(await ask(answer(`"${value.slice(0, 9)}" "${value.slice(9)}"`))).toEqual([200, 'verified', 'verified'])
    expect(fetched.mock.calls[0]?.[0]).toBe(`https://dns.example/query?name=${name}&type=TXT`)
  })

  it('stays pending until the e-mail provider has seen its own records, which the domain lists', async () => {
    const { provider, domain, ask } = await givenDomainAtResend()
    expect(outcome(await ask())).toEqual([200, 'pending', 'record_missing'])
    // Nothing is added to the account before the proof.
    expect(provider.calls).toEqual([])
    await prove(domain)
    provider.state = 'restricted'
    expect(outcome(await ask())).toEqual([200, 'pending', 'provider_unavailable'])
    provider.state = 'pending'
    const waiting = await ask()
    expect(outcome(waiting)).toEqual([200, 'pending', 'provider_pending'])
    expect(waiting.body.records).toEqual([
      domain.records[0],
      { purpose: 'dkim', type: 'TXT', name: 'resend._domainkey', value: 'p=abc', priority: null },
    ])
    provider.calls.length = 0
    provider.state = 'verified'
    expect(outcome(await ask())).toEqual([200, 'verified', 'verified'])
    expect(provider.calls).toEqual(['GET /domains/d1'])
  })

  it('stays verified when the provider sees a fault later, because only the proof counts', async () => {
    const { provider, domain, ask } = await givenDomainAtResend()
    await prove(domain)
    provider.state = 'verified'
    expect(outcome(await ask())).toEqual([200, 'verified', 'verified'])
    provider.state = 'temporary_failure'
    expect(outcome(await ask())).toEqual([200, 'verified', 'provider_pending'])
  })
})
