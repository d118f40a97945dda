import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { sweepEmails } from '../../src/modules/transactional-emails/jobs.ts'
import { listEvents, give, listAllRecords, dumpState } from '../support/consent-pages.ts'
import { type Scene, seedScene } from '../support/seeding/customers.ts'
import { createProvider, createReceiptEngine } from '../support/receipts.ts'
import { write, db } from '../support/seeding/rows.ts'
import { visit } from '../support/visits.ts'
import {
  request,
  ask,
  listMails,
  deliver,
  readLink,
  requestConfirmation,
  readStatus,
} from '../support/double-opt-in.ts'
import { givenConsent } from '../support/seeding/messaging/consents.ts'

const minute = 60_000

describe('giveConsent for a consent that is confirmed by e-mail', () => {
  it.each([
    ['en', 'Please confirm: Day &', 'Yes, I agree'],
    ['da', 'Bekræft venligst: Day &', 'Ja, jeg giver samtykke'],
    ['se', 'Bekräfta: Day &', 'Ja, jag samtycker'],
    ['nl', 'Bevestig alstublieft: Day &', 'Ja, ik stem in'],
    ['pl', 'Prosimy o potwierdzenie: Day &', 'Tak, zgadzam się'],
  ])(
    'sends a message in %s with the wording as text, and counts only after the confirmation',
    async (language, subject, button) => {
      const texts = Object.fromEntries(
        ['en', 'da', 'se', 'nl', 'pl'].map((code) => [code, `Day & <b>{{ customer.email }}</b> ${code}`]),
      )
      const { scene, consent, mail, path } = await requestConfirmation({ title: texts, text: texts }, { language })
      expect(mail.subject).toContain(subject)
      expect(mail.subject).toContain('{{ customer.email }}')
      expect(mail.html).toContain(`Day &amp; &lt;b&gt;&#123;&#123; customer.email }}&lt;/b&gt; ${language}`)
      expect(mail.html).not.toContain('<b>{{')
      expect(await listAllRecords(scene.person)).toMatchObject([
        { status: 'pending', method: 'double_opt_in', is_latest: 1 },
      ])
      expect(await readStatus(scene, consent.id)).toMatchObject({ status: 'pending', is_current: false })
      expect(await listEvents(scene.organization)).toEqual([])

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
      // The link leads to the person's own page.
      const all = /href="\.\.(\/[\w-]+)"/.exec(actionReply.text)?.[1]
      expect((await visit(`/consents${all}`)).status).toBe(200)
    },
  )

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

  it('sends one message for many simultaneous requests, and one more after an hour', async () => {
    const scene = await seedScene()
    const consent = await givenConsent(scene.organization)
    const replies = await Promise.all(Array.from({ length: 5 }, () => ask(scene, consent.id)))
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200))
    expect(await listMails(scene)).toHaveLength(1)
    const record = replies[0]?.body.record.id
    expect((await ask(scene, consent.id)).body.record.id).toBe(record)
    expect(await listMails(scene)).toHaveLength(1)
    await write(
      sql`update transactional_emails set created_at = created_at - ${61 * minute} where organization_id = ${scene.organization}`,
    )
    await Promise.all(Array.from({ length: 3 }, () => ask(scene, consent.id)))
    expect(await listMails(scene)).toHaveLength(2)
    expect(await listAllRecords(scene.person)).toMatchObject([{ id: record, status: 'pending' }])
    const mails = await deliver(scene)
    expect(new Set(mails.map(readLink)).size).toBe(1)
    await visit(readLink(mails[0] ?? { text: '' }), { method: 'POST' })
    // The service does not ask again for a consent that was given.
    expect((await ask(scene, consent.id)).body.status).toBe('given')
    expect(await listMails(scene)).toHaveLength(2)
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
    expect([reply.status, reply.body.code, reply.body.reason]).toEqual([409, code, reason])
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

  it('refuses an occurred_at, and does not apply to skipping or withdrawing', async () => {
    const scene = await seedScene()
    const consent = await givenConsent(scene.organization)
    const before = await dumpState(scene)
    const lateReply = await ask(scene, consent.id, { occurred_at: new Date().toISOString() })
    expect([lateReply.status, lateReply.body.errors]).toMatchObject([
      400,
      [{ code: 'not_with_double_opt_in', pointer: '#/occurred_at' }],
    ])
    for (const action of ['skip', 'withdraw']) {
      const reply = await give(scene.person, consent.id, request, action)
      expect([reply.status, reply.body.errors[0]]).toMatchObject([400, { pointer: '#/method' }])
    }
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
    expect((await ask(scene, consent.id)).body).toMatchObject({ status: 'pending', effective: false })
    const [mail] = await deliver(scene)
    await visit(readLink(mail ?? { text: '' }), { method: 'POST' })
    expect(await listReasons(scene)).toEqual([])
    expect(await readStatus(scene, consent.id)).toMatchObject({ status: 'given', effective: true })
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
    expect([refusal.status, refusal.body.code, refusal.body.reason]).toEqual([
      409,
      'address_suppressed',
      'unsubscribed',
    ])
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
