import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { dayMs, hourMs } from '../../src/domain/time/instants.ts'
import { sweepErasures } from '../../src/modules/personal-data/jobs.ts'
import { sweepSignups } from '../../src/modules/signup-forms/jobs.ts'
import { get, post } from '../support/api.ts'
import { createContextAt } from '../support/context.ts'
import { later } from '../support/later.ts'
import { postEvent } from '../support/provider-events.ts'
import { createProvider, createReceiptEngine } from '../support/receipts.ts'
import { seedPeople } from '../support/seeding/customers.ts'
import { givenForm } from '../support/seeding/messaging/signup-forms.ts'
import { db, write } from '../support/seeding/rows.ts'
import { seedBuyer } from '../support/seeding/sales/trades.ts'
import {
  confirm,
  findCustomer,
  freshAddress,
  listAnswers,
  listMailsTo,
  listRequests,
  readSignupLink,
  requestLink,
  signUp,
} from '../support/signups.ts'

const sweepAt = async (at: number) => {
  const job = createContextAt(at)
  await sweepSignups(job)
  return { ...job.db.meter }
}

describe('the sweep of sign-ups', () => {
  it('deletes requests with their mails after 7 days, confirmed or not, and nothing of the customer', async () => {
    const shop = await seedBuyer()
    const { form, consent, path } = await givenForm(shop)
    const [confirmed, forgotten] = [freshAddress(), freshAddress()]
    const { link } = await requestLink(path, { email: confirmed, consent: consent.id })
    await confirm(link)
    await signUp(path, { email: forgotten, consent: consent.id })
    const now = Date.now()
    await sweepAt(now + 7 * dayMs - hourMs)
    expect(await listRequests(form.id)).toHaveLength(2)
    await sweepAt(now + 7 * dayMs)
    expect(await listRequests(form.id)).toEqual([])
    expect([await listMailsTo(confirmed), await listMailsTo(forgotten)]).toEqual([[], []])
    const customer = await findCustomer(shop.organization, confirmed)
    expect(await listAnswers(customer?.id ?? '')).toHaveLength(1)
    expect(await findCustomer(shop.organization, forgotten)).toBeUndefined()
  })

  it('remembers for 30 days that an unsubscribed address was asked', async () => {
    const shop = await seedBuyer()
    const { consent, path } = await givenForm(shop)
    const email = freshAddress()
    await write(sql`insert into suppressions (organization_id, channel, address, reason, created_at)
      values (${shop.organization}, 'email', ${email}, 'unsubscribed', ${Date.now() - 1000})`)
    await signUp(path, { email, consent: consent.id })
    const now = Date.now()
    await sweepAt(now + 8 * dayMs)
    expect(await listMailsTo(email)).toHaveLength(1)
    await later(9 * dayMs, () => signUp(path, { email, consent: consent.id }))
    expect(await listMailsTo(email)).toHaveLength(1)
    await sweepAt(now + 30 * dayMs)
    expect(await listMailsTo(email)).toEqual([])
  })

  describe('with many requests of a form', () => {
    async function seedRequests(count: number): Promise<{ form: string; now: number }> {
      const { form } = await givenForm(await seedBuyer())
      const now = Date.now()
      // The sweep deletes the requests of all forms.
      await write(sql`delete from signup_requests`)
      await write(sql`insert into signup_requests (id, form_id, organization_id, address, mailbox_hash, language, consents,
          expires_at, created_at)
        select 'sgr_' || ${form.id} || value, ${form.id}, organization_id, 'a' || value || '@example.test', 'hash', 'en',
          '[]', ${now + dayMs}, ${now} from signup_forms, (with recursive numbers (value) as (select 1 union all
            select value + 1 from numbers where value < ${count}) select value from numbers)
          where signup_forms.id = ${form.id}`)
      return { form: form.id, now }
    }

    it('reads as little when none of them is due as when there are none', async () => {
      const idle = await sweepAt(Date.now())
      expect([idle.rows_read <= 10, idle.rows_written]).toEqual([true, 0])
      const { now } = await seedRequests(1200)
      expect((await sweepAt(now)).rows_read).toBe(idle.rows_read)
    })

    it('deletes a bounded number each time', async () => {
      const { form, now } = await seedRequests(1200)
      await sweepAt(now + 12 * hourMs)
      const count = async () => (await listRequests(form)).length
      expect(await count()).toBe(1200)
      for (const left of [700, 200, 0]) {
        await sweepAt(now + 2 * dayMs)
        expect(await count()).toBe(left)
      }
    })
  })
})

describe('the mail of a sign-up', () => {
  it.each([0, 1, 2, 3, 4, 5])(
    'is sent once, with one content, through a lost answer and a crash of the consumer: %i round trips',
    async (trips) => {
      const { consent, path } = await givenForm(await seedBuyer())
      const email = freshAddress()
      await signUp(path, { email, consent: consent.id })
      const provider = createProvider({ deduplicates: true })
      const engine = createReceiptEngine(provider.gateway, Date.now() + 1000)
      provider.play(['accept and lose the answer', 'accept and die'])
      await engine.runUntilCrash(trips)
      for (let round = 0; round < 8; round++) {
        engine.advance(10 * 60_000)
        await engine.runUntilCrash()
      }
      expect(provider.accepted.get(email)).toBe(1)
      const calls = provider.calls.filter((call) => call.email.to.address === email)
      expect(new Set(calls.map((call) => JSON.stringify(call.email))).size).toBe(1)
      expect((await confirm(readSignupLink(calls[0]?.email ?? { text: '' }))).status).toBe(200)
      expect(await db.all(sql`select status, content from transactional_emails where recipient = ${email}`)).toEqual([
        { status: 'sent', content: null },
      ])
    },
  )

  it.each(['unsubscribed', 'complaint', 'hard_bounce'])(
    'is not sent to an address that gets suppressed after the request: %s',
    async (reason) => {
      const shop = await seedBuyer()
      const { consent, path } = await givenForm(shop)
      const email = freshAddress()
      await signUp(path, { email, consent: consent.id })
      await write(sql`insert into suppressions (organization_id, channel, address, reason, created_at)
        values (${shop.organization}, 'email', ${email}, ${reason}, ${Date.now() + 1})`)
      const provider = createProvider({ deduplicates: true })
      await createReceiptEngine(provider.gateway, Date.now() + 1000).run()
      expect(provider.calls.filter((call) => call.email.to.address === email)).toEqual([])
      expect((await listMailsTo(email)).map(({ status }) => status)).toEqual(['failed'])
    },
  )
})

describe('an address whose mail', () => {
  it.each([
    ['bounced', { bounce: { type: 'Permanent', subType: 'General', message: 'gone' } }, 'hard_bounce'],
    ['complained', {}, 'complaint'],
  ])('%s is suppressed, and gets no other mail', async (type, more, reason) => {
    const shop = await seedBuyer()
    const { consent, path } = await givenForm(shop)
    const email = freshAddress()
    await requestLink(path, { email, consent: consent.id })
    const [mail] = await listMailsTo(email)
    const data = { email_id: 'm-1', tags: { reference: mail?.id }, ...more }
    const reply = await postEvent({ type: `email.${type}`, created_at: new Date().toISOString(), data })
    expect(reply.status).toBe(200)
    expect(await db.all(sql`select organization_id, reason from suppressions where address = ${email}`)).toEqual([
      { organization_id: shop.organization, reason },
    ])
    await later(2 * hourMs, () => signUp(path, { email, consent: consent.id }))
    expect(await listMailsTo(email)).toHaveLength(1)
  })
})

describe('an erased customer', () => {
  it.each([
    ['hard_bounce', 0],
    ['complaint', 0],
    ['unsubscribed', 1],
  ])('leaves no sign-up, and an address that stays suppressed by %s when it signs up again', async (reason, mails) => {
    const shop = await seedBuyer()
    const { form, consent, path } = await givenForm(shop)
    const [person] = await seedPeople({ organization: shop.organization, edition: shop.edition }, [{}])
    const email = person?.email ?? ''
    await signUp(path, { email, consent: consent.id })
    expect((await get(`/v1/user/${person?.id}/export`)).body.signups).toMatchObject([{ address: email }])
    await write(sql`insert into suppressions (organization_id, channel, address, reason, created_at)
      values (${shop.organization}, 'email', ${email}, ${reason}, ${Date.now()})`)
    await post(`/v1/user/${person?.id}/erase`, {})
    for (let round = 0; round < 4; round++) await sweepErasures(createContextAt(Date.now() + round * hourMs))
    expect([await listRequests(form.id), await listMailsTo(email)]).toEqual([[], []])
    await later(2 * hourMs, () => signUp(path, { email, consent: consent.id }))
    expect(await listMailsTo(email)).toHaveLength(mails)
    await later(4 * hourMs, () => signUp(path, { email, consent: consent.id }))
    expect(await listMailsTo(email)).toHaveLength(mails)
  })
})
