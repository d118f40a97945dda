import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { sweepEmails } from '../../../src/modules/transactional-emails/jobs.ts'
import { choose, dumpState, give, listAllRecords, listEvents, pageOf } from '../../support/consent-pages.ts'
import {
  request,
  ask,
  listMails,
  deliver,
  readLink,
  requestConfirmation,
  readStatus,
} from '../../support/double-opt-in.ts'
import { createProvider, createReceiptEngine } from '../../support/receipts.ts'
import { describeRefusal } from '../../support/refusals.ts'
import { type Scene, seedScene } from '../../support/seeding/customers.ts'
import { givenConsent } from '../../support/seeding/messaging/consents.ts'
import { seedReceiptMessage } from '../../support/seeding/messaging/email-messages.ts'
import { write, db } from '../../support/seeding/rows.ts'
import { anOrder, importOrders } from '../../support/seeding/sales/orders.ts'
import { visit } from '../../support/visits.ts'

const minute = 60_000

/** Imports an order of the person, with a receipt unless the options differ. */
async function buy({ organization, edition, person }: Scene, consents: object, options: object = {}) {
  const message = await seedReceiptMessage({ id: organization })
  await write(sql`update editions set transaction_receipt_email_id = ${message} where id = ${edition}`)
  const order = anOrder({ customer: { email: person.email }, created: new Date().toISOString(), consents })
  const shop = { organization_id: organization, edition_id: edition }
  return importOrders(shop, [order], { send_receipts: true, ...options })
}

describe('giveConsent for a consent that is confirmed by e-mail', () => {
  describe.each([
    ['en', 'Please confirm: Day &', 'Yes, I agree'],
    ['da', 'Bekræft venligst: Day &', 'Ja, jeg giver samtykke'],
    ['se', 'Bekräfta: Day &', 'Ja, jag samtycker'],
    ['nl', 'Bevestig alstublieft: Day &', 'Ja, ik stem in'],
    ['pl', 'Prosimy o potwierdzenie: Day &', 'Tak, zgadzam się'],
  ])('in %s', (language, subject, button) => {
    const texts = Object.fromEntries(
      ['en', 'da', 'se', 'nl', 'pl'].map((code) => [code, `Day & <b>{{ customer.email }}</b> ${code}`]),
    )
    const requestInLanguage = () => requestConfirmation({ title: texts, text: texts }, { language })

    it('sends a message with the wording as text, and waits for the confirmation', async () => {
      const { scene, consent, mail } = await requestInLanguage()
      expect(mail.subject).toContain(subject)
      expect(mail.subject).toContain('{{ customer.email }}')
      expect(mail.html).toContain(`Day &amp; &lt;b&gt;&#123;&#123; customer.email }}&lt;/b&gt; ${language}`)
      expect(mail.html).not.toContain('<b>{{')
      expect(await listAllRecords(scene.person)).toMatchObject([
        { status: 'pending', method: 'double_opt_in', is_latest: 1 },
      ])
      expect(await readStatus(scene, consent.id)).toMatchObject({ status: 'pending', is_current: false })
      expect(await listEvents(scene.organization)).toEqual([])
    })

    it('shows a page with the wording as text, and changes nothing before its button is pressed', async () => {
      const { scene, path } = await requestInLanguage()
      const before = await dumpState(scene)
      for (const method of ['GET', 'HEAD', 'GET']) expect((await visit(path, { method })).status).toBe(200)
      const page = await visit(path)
      for (const text of [
        button,
        `Day &amp; &lt;b&gt;{{ customer.email }}&lt;/b&gt; ${language}`,
        `lang="${language === 'se' ? 'sv' : language}"`,
      ])
        expect(page.text).toContain(text)
      expect(await dumpState(scene)).toEqual(before)
    })

    it('gives the consent after the confirmation, whose answer leads to the page of the person', async () => {
      const { scene, consent, path } = await requestInLanguage()
      const actionReply = await visit(path, { method: 'POST' })
      expect([actionReply.status, actionReply.text.includes('<form')]).toEqual([200, false])
      const [, record] = await listAllRecords(scene.person)
      expect(record).toMatchObject({
        status: 'given',
        method: 'double_opt_in',
        source: 'confirmation_link',
        language,
        consent_version: 1,
        content_hash: consent.content_hash,
        is_latest: 1,
      })
      expect(await readStatus(scene, consent.id)).toMatchObject({ status: 'given', is_current: true })
      const audit = await db.all(
        sql<{ changes: string }>`select changes from audit_log where actor_id = ${scene.person.id}`,
      )
      expect(audit.map(({ changes }) => JSON.parse(changes))).toEqual([
        [{ field: `consents.${consent.key}`, before: 'pending', after: 'given' }],
      ])
      const all = /href="\.\.(\/[\w-]+)"/.exec(actionReply.text)?.[1]
      expect((await visit(`/consents${all}`)).status).toBe(200)
    })
  })

  it('gives the consent once when the link is opened many times, at once and later', async () => {
    const { scene, path } = await requestConfirmation()
    const replies = await Promise.all(Array.from({ length: 6 }, () => visit(path, { method: 'POST' })))
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200))
    const after = await dumpState(scene)
    expect((await visit(path, { method: 'POST' })).status).toBe(200)
    expect((await visit(path)).status).toBe(200)
    expect(await dumpState(scene)).toEqual(after)
    expect((await listAllRecords(scene.person)).map(({ status }) => status)).toEqual(['pending', 'given'])
    expect((await listEvents(scene.organization)).map(({ kind }) => kind)).toEqual(['consent.given'])
  })

  it('sends one message for many simultaneous and repeated requests', async () => {
    const scene = await seedScene()
    const consent = await givenConsent(scene.organization)
    const replies = await Promise.all(Array.from({ length: 5 }, () => ask(scene, consent.id)))
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200))
    expect(await listMails(scene)).toHaveLength(1)
    const record = replies[0]?.body.record.id
    expect((await ask(scene, consent.id)).body.record.id).toBe(record)
    expect(await listMails(scene)).toHaveLength(1)
    expect(await listAllRecords(scene.person)).toMatchObject([{ id: record, status: 'pending' }])
  })

  it('sends one more message with the same link after an hour', async () => {
    const scene = await seedScene()
    const consent = await givenConsent(scene.organization)
    const record = (await ask(scene, consent.id)).body.record.id
    await write(
      sql`update transactional_emails set created_at = created_at - ${61 * minute} where organization_id = ${scene.organization}`,
    )
    await Promise.all(Array.from({ length: 3 }, () => ask(scene, consent.id)))
    expect(await listMails(scene)).toHaveLength(2)
    expect(await listAllRecords(scene.person)).toMatchObject([{ id: record, status: 'pending' }])
    const mails = await deliver(scene)
    expect(mails).toHaveLength(2)
    expect(new Set(mails.map(readLink)).size).toBe(1)
  })

  it('sends nothing for a consent that was given', async () => {
    const { scene, consent, path } = await requestConfirmation()
    await visit(path, { method: 'POST' })
    expect((await ask(scene, consent.id)).body.status).toBe('given')
    expect(await listMails(scene)).toHaveLength(1)
  })

  it('sends the message exactly once when sending is interrupted', async () => {
    const scene = await seedScene()
    const consent = await givenConsent(scene.organization)
    await ask(scene, consent.id)
    const provider = createProvider({ deduplicates: true })
    const engine = createReceiptEngine(provider.gateway, Date.now() + 1000)
    await sweepEmails(engine.job)
    expect(engine.enqueued).toHaveLength(1)
    const countSent = () => provider.accepted.get(scene.person.email ?? '') ?? 0
    for (let trips = 1; trips < 12; trips++) {
      provider.play(['accept and die'])
      await engine.runUntilCrash(trips)
      engine.advance(3 * minute)
    }
    provider.play([])
    await engine.run()
    expect(countSent()).toBe(1)
    expect(await listMails(scene)).toMatchObject([{ status: 'sent', kind: 'consent_confirmation' }])
  })

  it.each([
    ['email_missing', sql`update users set email = null`, undefined],
    ['address_suppressed', null, 'complaint'],
    ['address_suppressed', null, 'hard_bounce'],
  ])('is refused as %s when no message may be sent, and writes nothing', async (code, change, reason) => {
    const scene = await seedScene()
    const consent = await givenConsent(scene.organization)
    if (change)
      await write(
        sql`${change} where id = ${scene.person.id}`,
        sql`update edition_customers set email = null where user_seq = ${scene.person.seq}`,
      )
    else
      await write(sql`insert into suppressions (organization_id, channel, address, reason, created_at)
        values (${scene.organization}, 'email', ${scene.person.email}, ${reason}, 1)`)
    const before = await dumpState(scene)
    const reply = await ask(scene, consent.id)
    expect(describeRefusal(reply)).toBe(`409 ${code}`)
    expect(reply.body.reason).toBe(reason)
    expect(await dumpState(scene)).toEqual(before)
  })

  it('sends nothing to an address that unsubscribes before the message goes out', async () => {
    const scene = await seedScene()
    await ask(scene, (await givenConsent(scene.organization)).id)
    await write(sql`insert into suppressions (organization_id, channel, address, reason, created_at)
      values (${scene.organization}, 'email', ${scene.person.email}, 'unsubscribed', ${Date.now() + 500})`)
    expect(await deliver(scene)).toEqual([])
    expect(await listMails(scene)).toMatchObject([
      { status: 'failed', error_code: 'suppressed', error_detail: 'unsubscribed' },
    ])
  })

  it('refuses an occurred_at', async () => {
    const scene = await seedScene()
    const consent = await givenConsent(scene.organization)
    const before = await dumpState(scene)
    const reply = await ask(scene, consent.id, { occurred_at: new Date().toISOString() })
    expect(describeRefusal(reply)).toBe('400 validation_error: not_with_double_opt_in #/occurred_at')
    expect(await dumpState(scene)).toEqual(before)
  })

  it.each(['skip', 'withdraw'])('does not apply to the action %s', async (action) => {
    const scene = await seedScene()
    const consent = await givenConsent(scene.organization)
    const before = await dumpState(scene)
    const reply = await give(scene.person, consent.id, request, action)
    expect(describeRefusal(reply)).toMatch(/^400 validation_error: \w+ #\/method$/)
    expect(await dumpState(scene)).toEqual(before)
  })
})

describe('an unsubscribed customer', () => {
  const suppress = ({ organization, person }: Scene, reason = 'unsubscribed') =>
    write(sql`insert into suppressions (organization_id, channel, address, reason, created_at)
      values (${organization}, 'email', ${person.email}, ${reason}, 1)`)
  const listReasons = ({ organization }: Scene) =>
    db.all(sql<{ reason: string }>`select reason from suppressions where organization_id = ${organization}`)

  it('is subscribed again by confirming a message', async () => {
    const scene = await seedScene()
    const consent = await givenConsent(scene.organization)
    await suppress(scene)
    const { status, body } = await ask(scene, consent.id)
    expect([status, body]).toMatchObject([
      200,
      { status: 'pending', is_current: false, effective: false, blocked_by: 'unsubscribed' },
    ])
    const [mail] = await deliver(scene)
    await visit(readLink(mail ?? { text: '' }), { method: 'POST' })
    expect(await listReasons(scene)).toEqual([])
    expect(await readStatus(scene, consent.id)).toMatchObject({ status: 'given', effective: true, blocked_by: null })
  })

  it('can confirm a consent that a checkbox gave without effect', async () => {
    const scene = await seedScene()
    const consent = await givenConsent(scene.organization)
    await suppress(scene)
    await give(scene.person, consent.id, { method: 'checkbox', source: 'checkout' })
    // The checkbox has sent the message already.
    expect((await ask(scene, consent.id)).body).toMatchObject({ status: 'given', effective: false })
    const [mail, ...others] = await deliver(scene)
    expect(others).toEqual([])
    await visit(readLink(mail ?? { text: '' }), { method: 'POST' })
    expect(await listReasons(scene)).toEqual([])
    expect(await readStatus(scene, consent.id)).toMatchObject({ status: 'given', effective: true })
  })

  const checkbox = { method: 'checkbox', source: 'checkout' }

  it.each(['checkbox', 'preference_center'])('is asked to confirm a consent that was given by %s', async (method) => {
    const scene = await seedScene()
    const consent = await givenConsent(scene.organization)
    await suppress(scene)
    const { body } = await give(scene.person, consent.id, { ...checkbox, method })
    expect(body).toMatchObject({ status: 'given', is_current: true, effective: false, blocked_by: 'unsubscribed' })
    const [mail] = await deliver(scene)
    const path = readLink(mail ?? { text: '' })
    const page = await visit(path)
    expect([page.status, page.text.includes('<form')]).toEqual([200, true])
    expect(await listReasons(scene)).toEqual([{ reason: 'unsubscribed' }])
    const replies = await Promise.all([1, 2, 3].map(() => visit(path, { method: 'POST' })))
    expect(replies.map(({ status, text }) => [status, text.includes('<form')])).toEqual(replies.map(() => [200, false]))
    expect(await listReasons(scene)).toEqual([])
    expect(await readStatus(scene, consent.id)).toMatchObject({ status: 'given', effective: true, blocked_by: null })
    expect((await listAllRecords(scene.person)).map((record) => [record.status, record.method])).toEqual([
      ['given', method],
      ['given', 'double_opt_in'],
    ])
  })

  it('is asked to confirm a consent that is given again', async () => {
    const scene = await seedScene()
    const consent = await givenConsent(scene.organization)
    await give(scene.person, consent.id, checkbox)
    await suppress(scene)
    await give(scene.person, consent.id, checkbox)
    const [mail] = await deliver(scene)
    await visit(readLink(mail ?? { text: '' }), { method: 'POST' })
    expect(await listReasons(scene)).toEqual([])
  })

  it.each<[string, object, Record<string, unknown>]>([
    ['staff report the consent', { method: 'admin' }, {}],
    ['another system reports the consent', { method: 'api' }, {}],
    ['the consent is not marketing', checkbox, { type: 'photo' }],
    ['the consent is for SMS', checkbox, { channels: ['sms'] }],
  ])('is sent nothing when %s', async (_, answer, fields) => {
    const scene = await seedScene()
    const consent = await givenConsent(scene.organization, fields)
    await suppress(scene)
    expect((await give(scene.person, consent.id, { ...checkbox, ...answer })).status).toBe(200)
    expect(await listMails(scene)).toEqual([])
  })

  it('is sent nothing for a consent that was given before the address unsubscribed', async () => {
    const scene = await seedScene()
    const consent = await givenConsent(scene.organization)
    await suppress(scene)
    await write(
      sql`update suppressions set created_at = ${Date.now() + minute} where organization_id = ${scene.organization}`,
    )
    await give(scene.person, consent.id, checkbox)
    expect(await listMails(scene)).toEqual([])
  })

  it.each(['complaint', 'hard_bounce', 'invalid'])('is sent nothing after a %s', async (reason) => {
    const scene = await seedScene()
    const consent = await givenConsent(scene.organization)
    await suppress(scene, reason)
    await give(scene.person, consent.id, checkbox)
    expect(await listMails(scene)).toEqual([])
  })

  it('stays unsubscribed after the link when they complained or withdrew the consent', async () => {
    const ways = [
      ({ organization }: Scene) =>
        write(sql`update suppressions set reason = 'complaint' where organization_id = ${organization}`),
      ({ person }: Scene, consent: string) => give(person, consent, checkbox, 'withdraw'),
    ]
    for (const change of ways) {
      const scene = await seedScene()
      const consent = await givenConsent(scene.organization)
      await suppress(scene)
      await give(scene.person, consent.id, checkbox)
      const [mail] = await deliver(scene)
      await change(scene, consent.id)
      await visit(readLink(mail ?? { text: '' }), { method: 'POST' })
      expect(await listReasons(scene)).toHaveLength(1)
    }
  })

  it('gets one message for many checkboxes, orders and consents at once, and another after 30 days', async () => {
    const scene = await seedScene()
    const consents = [await givenConsent(scene.organization), await givenConsent(scene.organization)]
    await suppress(scene)
    const answers = [1, 2, 3].flatMap(() => consents.map(({ id }) => give(scene.person, id, checkbox)))
    const orders = [1, 2, 3].map(() => buy(scene, { [consents[0]?.key]: true }))
    for (const { status } of await Promise.all([...answers, ...orders])) expect(status).toBeLessThan(300)
    expect((await deliver(scene)).filter(readLink)).toHaveLength(1)
    await write(sql`update transactional_emails set created_at = created_at - ${31 * 1440 * minute}
      where organization_id = ${scene.organization} and kind = 'consent_confirmation'`)
    await buy(scene, { [consents[1]?.key]: true })
    expect((await listMails(scene)).filter(({ kind }) => kind === 'consent_confirmation')).toHaveLength(2)
  })

  it('is asked only by the organisation that they unsubscribed from', async () => {
    const email = `shared-${crypto.randomUUID()}@example.test`
    const [left, other] = [await seedScene({ email }), await seedScene({ email })]
    await suppress(left)
    for (const scene of [left, other]) await give(scene.person, (await givenConsent(scene.organization)).id, checkbox)
    expect([await listMails(left), await listMails(other)].map(({ length }) => length)).toEqual([1, 0])
  })

  it('is asked after an order with consent, if the import sends messages', async () => {
    const scene = await seedScene()
    const consent = await givenConsent(scene.organization)
    await suppress(scene)
    await buy(scene, { [consent.key]: true }, { send_receipts: false })
    expect(await listMails(scene)).toEqual([])
    await buy(scene, { [consent.key]: true })
    const mail = (await deliver(scene)).find(readLink)
    await visit(readLink(mail ?? { text: '' }), { method: 'POST' })
    expect(await listReasons(scene)).toEqual([])
    expect(await readStatus(scene, consent.id)).toMatchObject({ status: 'given', effective: true })
  })

  it('is asked about their e-mail address on a page that was opened from an SMS', async () => {
    const scene = await seedScene()
    const phone = scene.person.phone_number ?? ''
    const consent = await givenConsent(scene.organization, { channels: ['email', 'sms'] })
    await suppress(scene)
    const page = await pageOf(scene, scene.person, { channel: 'sms', address: phone })
    expect((await choose(page, { give: [consent.id] })).status).toBe(200)
    expect(await listReasons(scene)).toEqual([{ reason: 'unsubscribed' }])
    const [mail] = await deliver(scene)
    await visit(readLink(mail ?? { text: '' }), { method: 'POST' })
    expect(await listReasons(scene)).toEqual([])
  })

  it('gets the message exactly once when sending is interrupted', async () => {
    const scene = await seedScene()
    await suppress(scene)
    await give(scene.person, (await givenConsent(scene.organization)).id, checkbox)
    const provider = createProvider({ deduplicates: true })
    const engine = createReceiptEngine(provider.gateway, Date.now() + 1000)
    for (let trips = 1; trips < 12; trips++) {
      provider.play(['accept and die'])
      await engine.runUntilCrash(trips)
      engine.advance(3 * minute)
    }
    provider.play([])
    await engine.run()
    expect(provider.accepted.get(scene.person.email ?? '')).toBe(1)
  })

  it('is asked once in 30 days, whatever the consent', async () => {
    const scene = await seedScene()
    const [first, second] = [await givenConsent(scene.organization), await givenConsent(scene.organization)]
    await suppress(scene)
    expect((await ask(scene, first.id)).status).toBe(200)
    expect(await deliver(scene)).toHaveLength(1)
    const ageBy = (days: number) =>
      write(sql`update transactional_emails set created_at = created_at - ${days * 86_400_000}
        where organization_id = ${scene.organization}`)
    await ageBy(29)
    const before = await dumpState(scene)
    const refusal = await ask(scene, second.id)
    expect(describeRefusal(refusal)).toBe('409 address_suppressed')
    expect(refusal.body.reason).toBe('unsubscribed')
    expect((await ask(scene, first.id)).status).toBe(200)
    expect(await dumpState(scene)).toEqual(before)
    await ageBy(2)
    expect((await ask(scene, second.id)).status).toBe(200)
    expect(await deliver(scene)).toHaveLength(1)
  })

  it.each(['complaint', 'hard_bounce'])(
    'stays unsubscribed when a %s arrives while the message is under way',
    async (reason) => {
      const scene = await seedScene()
      const consent = await givenConsent(scene.organization)
      await suppress(scene)
      await ask(scene, consent.id)
      const [mail] = await deliver(scene)
      await write(sql`update suppressions set reason = ${reason} where organization_id = ${scene.organization}`)
      await visit(readLink(mail ?? { text: '' }), { method: 'POST' })
      expect(await listReasons(scene)).toEqual([{ reason }])
      expect(await readStatus(scene, consent.id)).toMatchObject({
        status: 'given',
        effective: false,
        blocked_by: reason,
      })
    },
  )

  it.each(['unsubscribed', 'complaint', 'hard_bounce'])(
    'has an answer that says that a consent by checkbox has no effect after: %s',
    async (reason) => {
      const scene = await seedScene()
      const consent = await givenConsent(scene.organization)
      await suppress(scene, reason)
      const { body } = await give(scene.person, consent.id, { method: 'checkbox', source: 'checkout' })
      expect(body).toMatchObject({ status: 'given', is_current: true, effective: false, blocked_by: reason })
      expect(await listReasons(scene)).toEqual([{ reason }])
    },
  )

  it('can still be reached by another channel of the consent', async () => {
    const scene = await seedScene()
    await write(sql`update users set phone_number = '+4532123456' where id = ${scene.person.id}`)
    const consent = await givenConsent(scene.organization, { channels: ['email', 'sms'] })
    await suppress(scene)
    const { body } = await give(scene.person, consent.id, { method: 'checkbox', source: 'checkout' })
    expect(body).toMatchObject({ effective: true, blocked_by: null })
  })
})
