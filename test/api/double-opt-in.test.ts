import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { sweepEmails } from '../../src/modules/transactional-emails/jobs.ts'
import { eventsOf, give, recordsOf, stateOf } from '../support/consent-pages.ts'
import { seedScene } from '../support/seeding/customers.ts'
import { providerOf, receiptEngine } from '../support/receipts.ts'
import { write, db } from '../support/seeding/rows.ts'
import { visit } from '../support/visits.ts'
import { request, ask, mailsOf, deliver, linkIn, asked, statusOf } from '../support/double-opt-in.ts'
import { givenConsent } from '../support/seeding/messaging/consents.ts'

const minute = 60_000

describe('giving a consent that is confirmed by e-mail', () => {
  it.each([
    ['en', 'Please confirm: Day &', 'Yes, I agree'],
    ['da', 'Bekræft venligst: Day &', 'Ja, jeg giver samtykke'],
    ['se', 'Bekräfta: Day &', 'Ja, jag samtycker'],
    ['nl', 'Bevestig alstublieft: Day &', 'Ja, ik stem in'],
    ['pl', 'Prosimy o potwierdzenie: Day &', 'Tak, zgadzam się'],
  ])(
    'sends a message in %s with the wording as text, and counts after the confirmation',
    async (language, subject, button) => {
      const texts = Object.fromEntries(
        ['en', 'da', 'se', 'nl', 'pl'].map((one) => [one, `Day & <b>{{ customer.email }}</b> ${one}`]),
      )
      const { scene, consent, mail, path } = await asked({ title: texts, text: texts }, { language })
      expect(mail.subject).toContain(subject)
      expect(mail.subject).toContain('{{ customer.email }}')
      expect(mail.html).toContain(`Day &amp; &lt;b&gt;&#123;&#123; customer.email }}&lt;/b&gt; ${language}`)
      expect(mail.html).not.toContain('<b>{{')
      expect(await recordsOf(scene.person)).toMatchObject([
        { status: 'pending', method: 'double_opt_in', is_latest: 1 },
      ])
      expect(await statusOf(scene, consent.id)).toMatchObject({ status: 'pending', is_current: false })
      expect(await eventsOf(scene.organization)).toEqual([])

      const before = await stateOf(scene)
      for (const method of ['GET', 'HEAD', 'GET']) expect((await visit(path, { method })).status).toBe(200)
      const page = await visit(path)
      for (const text of [
        button,
        `Day &amp; &lt;b&gt;{{ customer.email }}&lt;/b&gt; ${language}`,
        `lang="${language === 'se' ? 'sv' : language}"`,
      ])
        expect(page.text).toContain(text)
      expect(await stateOf(scene)).toEqual(before)

      const done = await visit(path, { method: 'POST' })
      expect([done.status, done.text.includes('<form')]).toEqual([200, false])
      const [, given] = await recordsOf(scene.person)
      expect(given).toMatchObject({
        status: 'given',
        method: 'double_opt_in',
        source: 'confirmation_link',
        language,
        consent_version: 1,
        content_hash: consent.content_hash,
        is_latest: 1,
      })
      expect(await statusOf(scene, consent.id)).toMatchObject({ status: 'given', is_current: true })
      const audit = await db.all(
        sql<{ changes: string }>`select changes from audit_log where actor_id = ${scene.person.id}`,
      )
      expect(audit.map(({ changes }) => JSON.parse(changes))).toEqual([
        [{ field: `consents.${consent.key}`, before: 'pending', after: 'given' }],
      ])
      // The page that it leads to is the person's.
      const all = /href="\.\.(\/[\w-]+)"/.exec(done.text)?.[1]
      expect((await visit(`/consents${all}`)).status).toBe(200)
    },
  )

  it('gives the consent once when the link is confirmed many times, at once and later', async () => {
    const { scene, path } = await asked()
    const replies = await Promise.all(Array.from({ length: 6 }, () => visit(path, { method: 'POST' })))
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200))
    const after = await stateOf(scene)
    expect((await visit(path, { method: 'POST' })).status).toBe(200)
    expect((await visit(path)).status).toBe(200)
    expect(await stateOf(scene)).toEqual(after)
    expect((await recordsOf(scene.person)).map(({ status }) => status)).toEqual(['pending', 'given'])
    expect((await eventsOf(scene.organization)).map(({ kind }) => kind)).toEqual(['consent.given'])
  })

  it('sends one message for many requests at once, and one more after an hour', async () => {
    const scene = await seedScene()
    const consent = await givenConsent(scene.organization)
    const replies = await Promise.all(Array.from({ length: 5 }, () => ask(scene, consent.id)))
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200))
    expect(await mailsOf(scene)).toHaveLength(1)
    const record = replies[0]?.body.record.id
    expect((await ask(scene, consent.id)).body.record.id).toBe(record)
    expect(await mailsOf(scene)).toHaveLength(1)
    await write(
      sql`update transactional_emails set created_at = created_at - ${61 * minute} where organization_id = ${scene.organization}`,
    )
    await Promise.all(Array.from({ length: 3 }, () => ask(scene, consent.id)))
    expect(await mailsOf(scene)).toHaveLength(2)
    expect(await recordsOf(scene.person)).toMatchObject([{ id: record, status: 'pending' }])
    const mails = await deliver(scene)
    expect(new Set(mails.map(linkIn)).size).toBe(1)
    await visit(linkIn(mails[0] ?? { text: '' }), { method: 'POST' })
    // What is given is not asked for again.
    expect((await ask(scene, consent.id)).body.status).toBe('given')
    expect(await mailsOf(scene)).toHaveLength(2)
  })

  it('sends the message exactly once when sending is interrupted', async () => {
    const scene = await seedScene()
    const consent = await givenConsent(scene.organization)
    await ask(scene, consent.id)
    const provider = providerOf({ deduplicates: true })
    const engine = receiptEngine(provider.gateway, Date.now() + 1000)
    await sweepEmails(engine.job)
    expect(engine.enqueued).toHaveLength(1)
    const sentTo = () => provider.accepted.get(scene.person.email ?? '') ?? 0
    for (let trips = 1; trips < 12; trips++) {
      provider.play(['accept and die'])
      await engine.runUntilCrash(trips)
      engine.advance(3 * minute)
    }
    provider.play([])
    await engine.run()
    expect(sentTo()).toBe(1)
    expect(await mailsOf(scene)).toMatchObject([{ status: 'sent', kind: 'consent_confirmation' }])
  })

  it.each([
    ['email_missing', sql`update users set email = null`, undefined],
    ['address_suppressed', null, 'unsubscribed'],
    ['address_suppressed', null, 'complaint'],
    ['address_suppressed', null, 'hard_bounce'],
  ])('is refused as %s where no message may be sent, and writes nothing', async (code, change, reason) => {
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
    const before = await stateOf(scene)
    const reply = await ask(scene, consent.id)
    expect([reply.status, reply.body.code, reply.body.reason]).toEqual([409, code, reason])
    expect(await stateOf(scene)).toEqual(before)
  })

  it('sends nothing to an address that unsubscribes before the message goes out', async () => {
    const scene = await seedScene()
    await ask(scene, (await givenConsent(scene.organization)).id)
    await write(sql`insert into suppressions (organization_id, channel, address, reason, created_at)
      values (${scene.organization}, 'email', ${scene.person.email}, 'unsubscribed', 1)`)
    expect(await deliver(scene)).toEqual([])
    expect(await mailsOf(scene)).toMatchObject([
      { status: 'failed', error_code: 'suppressed', error_detail: 'unsubscribed' },
    ])
  })

  it('cannot have an occurred_at, and cannot skip or withdraw', async () => {
    const scene = await seedScene()
    const consent = await givenConsent(scene.organization)
    const before = await stateOf(scene)
    const late = await ask(scene, consent.id, { occurred_at: new Date().toISOString() })
    expect([late.status, late.body.errors]).toMatchObject([
      400,
      [{ code: 'not_with_double_opt_in', pointer: '#/occurred_at' }],
    ])
    for (const action of ['skip', 'withdraw']) {
      const reply = await give(scene.person, consent.id, request, action)
      expect([reply.status, reply.body.errors[0]]).toMatchObject([400, { pointer: '#/method' }])
    }
    expect(await stateOf(scene)).toEqual(before)
  })
})
