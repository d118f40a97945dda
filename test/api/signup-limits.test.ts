import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { dayMs, hourMs } from '../../src/domain/time/instants.ts'
import { callWith, type Reply } from '../support/api.ts'
import { createCountingLimiter } from '../support/bindings.ts'
import { readCost } from '../support/cost.ts'
import { later } from '../support/later.ts'
import { seedPeople, seedSibling } from '../support/seeding/customers.ts'
import { givenForm, site } from '../support/seeding/messaging/signup-forms.ts'
import { db, write } from '../support/seeding/rows.ts'
import { seedBuyer, type Buyer } from '../support/seeding/sales/trades.ts'
import { newNetwork } from '../support/sign-in.ts'
import {
  confirm,
  findCustomer,
  freshAddress,
  listAnswers,
  listMailsTo,
  listRequests,
  requestLink,
  signUp,
  signUpByScript,
} from '../support/signups.ts'

let shop: Buyer
beforeAll(async () => {
  shop = await seedBuyer()
})

const suppress = (address: string, reason: string, organization = shop.organization) =>
  write(sql`insert into suppressions (organization_id, channel, address, reason, created_at)
    values (${organization}, 'email', ${address}, ${reason}, ${Date.now() - 1000})`)

describe('the answer to a sign-up', () => {
  const describeReply = ({ status, text, headers }: Awaited<ReturnType<typeof signUp>>) => {
    const names = [...headers].map(([name, value]) =>
      name.startsWith('x-') || name === 'server-timing' ? name : `${name}: ${value}`,
    )
    const { queries, round_trips } = readCost({ headers } as Reply)
    return { status, text, names, queries, round_trips }
  }

  it('is the same for every address', async () => {
    const { consent, path } = await givenForm(shop)
    const [customer] = await seedPeople({ organization: shop.organization, edition: shop.edition }, [{}])
    const sibling = await seedSibling(shop)
    const [elsewhere] = await seedPeople({ organization: shop.organization, edition: sibling }, [{}])
    const addresses = [freshAddress(), customer?.email ?? '', elsewhere?.email ?? '']
    for (const reason of ['unsubscribed', 'complaint', 'hard_bounce', 'invalid']) {
      const address = freshAddress()
      await suppress(address, reason)
      addresses.push(address)
    }
    const replies = []
    for (const email of [...addresses, ...addresses])
      replies.push(describeReply(await signUp(path, { email, consent: consent.id })))
    const [first] = replies
    for (const reply of replies) expect(reply).toEqual(first)
    expect([first?.queries, first?.round_trips]).toEqual([5, 2])
    const counts = await Promise.all(addresses.map(async (address) => (await listMailsTo(address)).length))
    expect(counts).toEqual([1, 1, 1, 1, 0, 0, 0])
  })
})

describe('the limits of sign-ups', () => {
  it('let one mail an hour go to a mailbox, in whatever spelling', async () => {
    const { form, consent, path } = await givenForm(shop)
    const name = `anna.holm.${crypto.randomUUID().slice(0, 8)}`
    const spellings = [
      `${name}@gmail.com`,
      `${name.toUpperCase()}@GMAIL.com`,
      `${name}+one@gmail.com`,
      `${name.replaceAll('.', '')}@googlemail.com`,
      `"${name}"@gmail.com`,
    ]
    for (const email of spellings) expect((await signUp(path, { email, consent: consent.id })).status).toBe(200)
    const addresses = (await listRequests(form.id)).map(({ address }) => address)
    expect(addresses).toEqual([`${name}@gmail.com`, null, null, null, null])
    expect(await listMailsTo(`${name}@gmail.com`)).toHaveLength(1)
    await later(hourMs + 1000, () => signUp(path, { email: `${name}@gmail.com`, consent: consent.id }))
    expect(await listMailsTo(`${name}@gmail.com`)).toHaveLength(2)
  })

  it('let one mail an hour go to a mailbox, by whatever form of the organisation', async () => {
    const one = await givenForm(shop)
    const other = await givenForm({ organization: shop.organization, edition: null })
    const email = freshAddress()
    await signUp(one.path, { email, consent: one.consent.id })
    const reply = await signUp(other.path, { email, consent: other.consent.id })
    expect(reply.status).toBe(200)
    expect((await listRequests(other.form.id)).map(({ address, evidence }) => [address, evidence])).toEqual([
      [null, null],
    ])
    expect(await listMailsTo(email)).toHaveLength(1)
  })

  it('do not let another organisation notice', async () => {
    const one = await givenForm(shop)
    const other = await givenForm(await seedBuyer())
    const email = freshAddress()
    await signUp(one.path, { email, consent: one.consent.id })
    await signUp(other.path, { email, consent: other.consent.id })
    expect(await listMailsTo(email)).toHaveLength(2)
  })

  describe('of a form that has accepted what it says in an hour', () => {
    async function givenExhausted() {
      const { form, consent, path } = await givenForm(shop, { mails_per_hour: 3 })
      const bounced = freshAddress()
      await suppress(bounced, 'hard_bounce')
      for (const email of [bounced, bounced, freshAddress()])
        expect((await signUp(path, { email, consent: consent.id })).status).toBe(200)
      return { form, path, fields: { consent: consent.id } }
    }

    it('refuse others on its page', async () => {
      const { form, path, fields } = await givenExhausted()
      const { status, text } = await signUp(path, fields)
      expect([status, text.includes('try again in an hour')]).toEqual([429, true])
      expect(await listRequests(form.id)).toHaveLength(3)
    })

    it('refuse scripts, which may read why', async () => {
      const { form, path, fields } = await givenExhausted()
      const { status, text, headers } = await signUpByScript(path, fields)
      expect([status, JSON.parse(text).code, headers.get('retry-after')]).toEqual([429, 'rate_limited', '3600'])
      expect(headers.get('access-control-allow-origin')).toBe(site)
      expect(await listRequests(form.id)).toHaveLength(3)
    })

    it('end after an hour', async () => {
      const { path, fields } = await givenExhausted()
      const reply = await later(hourMs + 1000, () => signUp(path, fields))
      expect(reply.status).toBe(200)
    })
  })

  it('refuse a network that asks too often in a minute before the database is read', async () => {
    const { form, consent, path } = await givenForm(shop)
    const limiter = createCountingLimiter(1)
    const network = newNetwork()
    const send = () =>
      callWith({ CONFIRMATION_RATE_LIMITER: limiter, RATE_LIMIT_PER_MINUTE: '600' }, path, {
        token: null,
        raw: new URLSearchParams({ email: freshAddress(), consent: consent.id }).toString(),
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'cf-connecting-ip': network,
          origin: site,
        },
      })
    expect((await send()).status).toBe(200)
    const refused = await send()
    expect([refused.status, readCost(refused).queries]).toEqual([429, 0])
    expect(limiter.keys).toEqual([`signup ${network}`, `signup ${network}`])
    expect(await listRequests(form.id)).toHaveLength(1)
  })

  it('let a network ask ten times in an hour, by whatever forms', async () => {
    const one = await givenForm(shop)
    const other = await givenForm(await seedBuyer())
    const network = newNetwork()
    const send = ({ path, consent }: typeof one) =>
      signUp(path, { consent: consent.id, headers: { 'cf-connecting-ip': network } })
    for (let count = 0; count < 5; count++)
      expect([(await send(one)).status, (await send(other)).status]).toEqual([200, 200])
    expect([(await send(one)).status, (await send(other)).status]).toEqual([429, 429])
    expect((await signUp(one.path, { consent: one.consent.id })).status).toBe(200)
  })
})

describe('a suppressed address', () => {
  it.each(['hard_bounce', 'complaint', 'invalid'])('gets no mail after the reason %s', async (reason) => {
    const { form, consent, path } = await givenForm(shop)
    const email = freshAddress()
    await suppress(email, reason)
    await signUp(path, { email, consent: consent.id })
    expect(await listMailsTo(email)).toEqual([])
    expect((await listRequests(form.id)).map(({ address }) => address)).toEqual([null])
  })

  it('comes back by confirming after it unsubscribed', async () => {
    const { consent, path } = await givenForm(shop)
    const email = freshAddress()
    await suppress(email, 'unsubscribed')
    const { link } = await requestLink(path, { email, consent: consent.id })
    await confirm(link)
    expect(await db.all(sql`select * from suppressions where address = ${email}`)).toEqual([])
    expect(await listAnswers((await findCustomer(shop.organization, email))?.id ?? '')).toHaveLength(1)
  })

  it('is asked once in 30 days after it unsubscribed', async () => {
    const { consent, path } = await givenForm(shop)
    const email = freshAddress()
    await suppress(email, 'unsubscribed')
    await signUp(path, { email, consent: consent.id })
    await later(2 * dayMs, () => signUp(path, { email, consent: consent.id }))
    await later(29 * dayMs, () => signUp(path, { email, consent: consent.id }))
    expect(await listMailsTo(email)).toHaveLength(1)
    await later(31 * dayMs, () => signUp(path, { email, consent: consent.id }))
    expect(await listMailsTo(email)).toHaveLength(2)
  })

  it('stays suppressed for marketing when it confirms something else', async () => {
    const { consent, path } = await givenForm(shop, {}, { type: 'photo', channels: [] })
    const email = freshAddress()
    await suppress(email, 'unsubscribed')
    const { link } = await requestLink(path, { email, consent: consent.id })
    await confirm(link)
    expect(await db.all(sql`select reason from suppressions where address = ${email}`)).toEqual([
      { reason: 'unsubscribed' },
    ])
  })
})
