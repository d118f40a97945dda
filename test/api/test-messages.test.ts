import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { createFailure } from '../../src/domain/messaging/messaging.ts'
import { createUnconfiguredEmail } from '../../src/gateways/unconfigured/unconfigured.ts'
import { sendEmails, sweepTestMessages } from '../../src/modules/transactional-emails/jobs.ts'
import { call, callWith, get, post, publicUrl, readLinkPath } from '../support/api.ts'
import { listEntries } from '../support/audit.ts'
import { interruptDatabase } from '../support/bindings.ts'
import { createContextAt } from '../support/context.ts'
import { dump } from '../support/dump.ts'
import { postEvent } from '../support/provider-events.ts'
import { tally } from '../support/purchases.ts'
import { createProvider, createReceiptEngine } from '../support/receipts.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedPeople, seedSibling } from '../support/seeding/customers.ts'
import { givenMember } from '../support/seeding/members.ts'
import { seedCampaign } from '../support/seeding/messaging/campaigns.ts'
import { aBlock, seedMessage } from '../support/seeding/messaging/email-messages.ts'
import { seedSegment } from '../support/seeding/messaging/segments.ts'
import { seedSuppressions } from '../support/seeding/messaging/suppressions.ts'
import { db, write } from '../support/seeding/rows.ts'
import { givenTestDesk, listTests, receiveTests, sendTest } from '../support/test-messages.ts'
import { visit } from '../support/visits.ts'

const hour = 3_600_000

beforeEach(() => db.all(sql`delete from transactional_emails`))

const listLinks = (text: string): string[] => [
  ...new Set([...text.matchAll(/https?:\/\/[^\s"<>)]+/g)].map(([link]) => link)),
]

describe('sendTestMessage', () => {
  it('sends the message to members in each language, marked as a test, with samples', async () => {
    const desk = await givenTestDesk()
    const to = [desk.manager.email, desk.editionManager.email]
    const { status, body } = await sendTest(desk.message, { to, languages: ['en', 'da'] }, desk.manager.token)
    expect([status, body.remaining]).toEqual([200, 46])
    expect(body.emails).toMatchObject(
      to.flatMap((recipient) => [
        { recipient, language: 'en', text_language: 'en', subject: '[Test] Hello Astrid', status: 'pending' },
        { recipient, language: 'da', text_language: 'da', subject: '[Test] Hej Astrid', error_code: null },
      ]),
    )
    const mails = await receiveTests()
    expect(mails.map(({ to: { address }, subject }) => `${address} ${subject}`).toSorted()).toEqual(
      to.flatMap((address) => [`${address} [Test] Hello Astrid`, `${address} [Test] Hej Astrid`]).toSorted(),
    )
    expect(await listTests(desk.organization)).toMatchObject(
      Array.from({ length: 4 }, () => ({ status: 'sent', content: null, user_id: null })),
    )
  })

  it('takes an address in another case, and the default language of the edition', async () => {
    const desk = await givenTestDesk()
    await write(sql`update editions set default_language = 'da' where id = ${desk.edition}`)
    const to = [desk.manager.email.toUpperCase().replace('@EXAMPLE.DK', '@example.dk')]
    const { body } = await sendTest(desk.message, { to })
    expect(body.emails).toMatchObject([{ recipient: desk.manager.email, language: 'da', subject: '[Test] Hej Astrid' }])
  })

  it('says in which language the texts are when one is missing', async () => {
    const desk = await givenTestDesk()
    const { body } = await sendTest(desk.message, { to: [desk.manager.email], languages: ['pl'] })
    expect(body.emails).toMatchObject([{ language: 'pl', text_language: 'en', subject: '[Test] Hello Astrid' }])
  })

  it('has links that open an example page and change nothing, by GET and by POST, and no pixel', async () => {
    const desk = await givenTestDesk()
    const blocks = [aBlock('{{ links.preferences }} <a href="https://example.com/map">map</a>')]
    const message = await seedMessage(desk, { type: 'campaign', blocks })
    await sendTest(message, { to: [desk.manager.email], languages: ['da'] })
    const [mail] = await receiveTests()
    const before = await dump()
    const example = `${publicUrl}/t/test`
    expect(listLinks(mail?.text ?? '').toSorted()).toEqual([
      `${example}/preferences?language=da`,
      `${example}/unsubscribe?language=da`,
      'https://example.com/map',
    ])
    expect(mail?.headers).toEqual({
      'List-Unsubscribe': `<${example}/unsubscribe?language=da>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    })
    expect(mail?.html).not.toMatch(/\/t\/[cous]\/|<img/)
    expect(mail?.html).toContain('href="https://example.com/map"')
    for (const page of ['unsubscribe', 'preferences', 'portal'])
      for (const init of [{}, { method: 'POST', body: 'List-Unsubscribe=One-Click' }]) {
        const shown = await visit(readLinkPath(`${example}/${page}?language=da`), init)
        expect([shown.status, shown.enqueued, shown.headers.get('cache-control')]).toEqual([200, [], 'no-store'])
        expect(shown.text).toContain('Intet blev ændret.')
        expect(shown.text).not.toContain('<form')
      }
    expect((await visit('/t/test/other')).status).toBe(404)
    expect((await visit('/t/test/portal?language=%3Cscript%3E')).text).toContain('Nothing was changed.')
    expect(await dump()).toEqual(before)
  })

  it('shows a customer as the caller sees them, in their language', async () => {
    const desk = await givenTestDesk()
    const [customer] = await seedPeople(desk, [{ first_name: 'Edition', locale: 'da' }])
    await write(sql`update users set first_name = 'Organisation', locale = 'en' where id = ${customer?.id}`)
    const ask = async (token: string) =>
      (await sendTest(desk.message, { to: [desk.manager.email], user_id: customer?.id }, token)).body.emails
    expect(await ask(desk.manager.token)).toMatchObject([{ language: 'en', subject: '[Test] Hello Organisation' }])
    expect(await ask(desk.editionManager.token)).toMatchObject([{ language: 'da', subject: '[Test] Hej Edition' }])
  })

  it('refuses customers whom the caller does not see, and those who were erased', async () => {
    const desk = await givenTestDesk()
    const other = await givenTestDesk()
    const sibling = await seedSibling(desk)
    const [ofSibling] = await seedPeople({ organization: desk.organization, edition: sibling }, [{}])
    const [stranger] = await seedPeople(other, [{}])
    const [erased] = await seedPeople(desk, [{ erased_at: 1 }])
    const ask = async (user: string | undefined, token: string) =>
      describeRefusal(await sendTest(desk.message, { to: [desk.manager.email], user_id: user }, token))
    const refusal = '400 validation_error: does_not_exist #/user_id'
    expect(await ask(ofSibling?.id, desk.editionManager.token)).toBe(refusal)
    expect(await ask(stranger?.id, desk.manager.token)).toBe(refusal)
    expect(await ask(erased?.id, desk.manager.token)).toBe(refusal)
    expect(await ask('usr_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8', desk.manager.token)).toBe(refusal)
    expect(await ask(ofSibling?.id, desk.manager.token)).toBe('200 undefined')
    expect(await listTests(desk.organization)).toHaveLength(1)
  })

  it('goes to members alone who have a role in the edition or in the organisation', async () => {
    const desk = await givenTestDesk()
    const other = await givenTestDesk()
    const organization = { id: desk.organization }
    const ofSibling = await givenMember(organization, 'admin', await seedSibling(desk))
    const to = [
      desk.manager.email,
      ofSibling.email,
      other.manager.email,
      'guest@example.com',
      desk.editionManager.email,
    ]
    const before = await dump()
    expect(describeRefusal(await sendTest(desk.message, { to }))).toBe(
      '400 validation_error: not_a_member #/to/1, not_a_member #/to/2, not_a_member #/to/3',
    )
    expect(await dump()).toEqual(before)
    const template = await seedMessage({ organization: desk.organization, edition: null }, { type: 'campaign' })
    const ask = async (body: object, token: string) => describeRefusal(await sendTest(template, { ...body }, token))
    const refusal = '400 validation_error: not_a_member #/to/0'
    expect(await ask({ to: [desk.editionManager.email] }, desk.manager.token)).toBe(refusal)
    expect(await ask({ to: [desk.manager.email] }, desk.manager.token)).toBe('200 undefined')
    expect(await ask({ to: [desk.manager.email] }, desk.editionManager.token)).toBe('403 permission_denied')
  })

  it('refuses a template of the platform, an archived edition and repeated addresses', async () => {
    const desk = await givenTestDesk()
    const to = [desk.manager.email]
    const platform = await seedMessage({ organization: null, edition: null })
    expect(describeRefusal(await sendTest(platform, { to }, desk.manager.token))).toBe('403 permission_denied')
    const repeated = await sendTest(desk.message, { to: [...to, desk.manager.email.toUpperCase()] })
    expect(describeRefusal(repeated)).toBe('400 validation_error: repeated #/to')
    await write(sql`update editions set is_archived = 1 where id = ${desk.edition}`)
    expect(describeRefusal(await sendTest(desk.message, { to }))).toBe('409 edition_archived')
    await db.all(sql`delete from email_messages where id = ${platform}`)
  })

  it('sends nothing to a suppressed address and says so', async () => {
    const desk = await givenTestDesk()
    for (const reason of ['unsubscribed', 'complaint', 'hard_bounce'] as const) {
      const { email } = await givenMember({ id: desk.organization }, 'viewer')
      await seedSuppressions(desk.organization, 1, { address: email, reason })
      const { body } = await sendTest(desk.message, { to: [email, desk.manager.email] })
      expect(body.emails).toMatchObject([
        { recipient: email, status: 'failed', error_code: 'suppressed' },
        { recipient: desk.manager.email, status: 'pending', error_code: null },
      ])
    }
    expect((await receiveTests()).map((mail) => mail.to.address)).toEqual(
      Array.from({ length: 3 }, () => desk.manager.email),
    )
  })

  it('writes nothing when no address is left', async () => {
    const desk = await givenTestDesk()
    await seedSuppressions(desk.organization, 1, { address: desk.manager.email })
    const before = await dump()
    const { status, body } = await sendTest(desk.message, { to: [desk.manager.email] })
    expect([status, body.remaining, body.emails[0].error_code]).toEqual([200, 50, 'suppressed'])
    expect(Object.keys(await dump()).filter((table) => table !== 'email_renditions')).toEqual(
      Object.keys(before).filter((table) => table !== 'email_renditions'),
    )
    expect(await listTests(desk.organization)).toEqual([])
  })

  it('sends nothing to an address that is suppressed before its turn', async () => {
    const desk = await givenTestDesk()
    await sendTest(desk.message, { to: [desk.manager.email] })
    await seedSuppressions(desk.organization, 1, { address: desk.manager.email })
    expect(await receiveTests()).toEqual([])
    expect(await listTests(desk.organization)).toMatchObject([
      { status: 'failed', error_code: 'suppressed', content: null },
    ])
  })

  it('sends at most 50 an hour for an organisation, also when requests come at once', async () => {
    const desk = await givenTestDesk()
    const people = await Promise.all(Array.from({ length: 8 }, () => givenMember({ id: desk.organization }, 'viewer')))
    const to = people.map(({ email }) => email)
    const replies = await Promise.all(Array.from({ length: 9 }, () => sendTest(desk.message, { to })))
    expect(tally(replies)).toEqual({ 200: 6, '429 test_limit_reached': 3 })
    expect(await listTests(desk.organization)).toHaveLength(48)
    const refusal = replies.find(({ status }) => status === 429)
    expect(refusal?.body).toMatchObject({ limit: 50, remaining: 2, retry_after: expect.any(Number) })
    expect(refusal?.headers.get('retry-after')).toBe(String(refusal?.body.retry_after))
    expect(refusal?.body.retry_after).toBeGreaterThan(3590)
    expect(refusal?.body.retry_after).toBeLessThanOrEqual(3600)
    expect((await sendTest(desk.message, { to: to.slice(0, 2) })).body.remaining).toBe(0)
    const other = await givenTestDesk()
    expect((await sendTest(other.message, { to: [other.manager.email] })).body.remaining).toBe(49)
    const [first] = await listTests(desk.organization)
    await write(sql`update transactional_emails set created_at = created_at - ${hour} where id = ${first?.id}`)
    expect((await sendTest(desk.message, { to: to.slice(0, 1) })).body.remaining).toBe(0)
    expect((await sendTest(desk.message, { to: to.slice(0, 1) })).status).toBe(429)
  })

  it('sends once for an Idempotency-Key', async () => {
    const desk = await givenTestDesk()
    const request = { body: { to: [desk.manager.email] }, headers: { 'idempotency-key': crypto.randomUUID() } }
    const path = `/v1/email-messages/${desk.message}/send-test`
    const replies = [await call(path, request), await call(path, request)]
    expect(replies[1]?.body).toEqual(replies[0]?.body)
    expect(await receiveTests()).toHaveLength(1)
  })

  it('is in the audit log with the addresses and the customer', async () => {
    const desk = await givenTestDesk()
    const [customer] = await seedPeople(desk, [{}])
    const body = { to: [desk.manager.email], languages: ['da'], user_id: customer?.id }
    const reply = await sendTest(desk.message, body, desk.editionManager.token)
    const [entry] = await listEntries(reply)
    expect(entry).toMatchObject({
      action: 'sendTestMessage',
      actor_id: desk.editionManager.account_id,
      organization_id: desk.organization,
      edition_id: desk.edition,
      resource_id: desk.message,
    })
    expect(JSON.parse(entry?.changes ?? '')).toEqual([
      { field: 'recipients', before: null, after: [desk.manager.email] },
      { field: 'languages', before: null, after: ['da'] },
      { field: 'user_id', before: null, after: customer?.id },
    ])
  })

  it('escapes hostile names, and keeps them out of the headers', async () => {
    const desk = await givenTestDesk()
    const first_name = '<script>alert(1)</script>\r\nBcc: all@example.com {{ order.number }}'
    const [customer] = await seedPeople(desk, [{ first_name }])
    await sendTest(desk.message, { to: [desk.manager.email], languages: ['en'], user_id: customer?.id })
    const [mail] = await receiveTests()
    expect(mail?.html).not.toContain('<script>')
    expect(mail?.text).toContain('{{ order.number }}')
    expect(mail?.subject).toBe('[Test] Hello <script>alert(1)</script> Bcc: all@example.com {{ order.number }}')
    expect(mail?.to).toEqual({ name: null, address: desk.manager.email })
  })

  it('says when the values make the message too large', async () => {
    const desk = await givenTestDesk()
    const loop = '{% for i in (1..50) %}{% for j in (1..50) %}{{ customer.first_name }}{% endfor %}{% endfor %}'
    const message = await seedMessage(desk, { blocks: [aBlock(loop)] })
    const [customer] = await seedPeople(desk, [{ first_name: 'x'.repeat(5000) }])
    const { body } = await sendTest(message, { to: [desk.manager.email], user_id: customer?.id })
    expect(body).toMatchObject({ remaining: 50, emails: [{ status: 'failed', error_code: 'render_failed' }] })
    expect(body.emails[0].error_detail).not.toBe('')
  })

  it('sends a message of 1.2 MB to a few addresses, and refuses it for many', async () => {
    const desk = await givenTestDesk()
    const loop = '{% for i in (1..50) %}{% for j in (1..50) %}{{ customer.first_name }}{% endfor %}{% endfor %}'
    const message = await seedMessage(desk, { blocks: [aBlock(loop)] })
    const [customer] = await seedPeople(desk, [{ first_name: 'x'.repeat(240), locale: 'en' }])
    const people = await Promise.all(Array.from({ length: 9 }, () => givenMember({ id: desk.organization }, 'viewer')))
    const to = people.map(({ email }) => email)
    const ask = async (addresses: string[]) =>
      describeRefusal(await sendTest(message, { to: addresses, user_id: customer?.id }))
    expect(await ask(to)).toBe('400 validation_error: template_too_large #/to')
    expect(await listTests(desk.organization)).toEqual([])
    expect(await ask(to.slice(0, 2))).toBe('200 undefined')
    expect((await receiveTests()).map(({ text }) => text.length > 500_000)).toEqual([true, true])
  })

  it('says that a message is too large whose backslashes take twice their room when it is stored', async () => {
    const desk = await givenTestDesk()
    const loop = '{% for i in (1..50) %}{% for j in (1..50) %}{{ customer.first_name }}{% endfor %}{% endfor %}'
    const message = await seedMessage(desk, { blocks: [aBlock(loop)] })
    const [customer] = await seedPeople(desk, [{ first_name: '\\'.repeat(240), locale: 'en' }])
    const { body } = await sendTest(message, { to: [desk.manager.email], user_id: customer?.id })
    expect(body.emails).toMatchObject([{ status: 'failed', error_code: 'render_failed', text_language: null }])
  })

  it('shows the blocks whose condition the customer fulfils, and with samples all', async () => {
    const desk = await givenTestDesk()
    const blocks = [
      { ...aBlock('For Danes', 'blk_1'), condition: 'user.locale == "da"' },
      { ...aBlock('For others', 'blk_2'), condition: 'user.locale != "da"' },
    ]
    const message = await seedMessage(desk, { type: 'campaign', blocks })
    const [customer] = await seedPeople(desk, [{ locale: 'da' }])
    const segment = await seedSegment(desk, { communication_channel: 'email' })
    const campaign = await seedCampaign(desk, segment.id, { email_message_id: message })
    const body = { to: [desk.manager.email], languages: ['en'] }
    const listShown = async (path: string, user_id?: string) => {
      expect((await post(`${path}/send-test`, { ...body, user_id })).status).toBe(200)
      const [mail] = await receiveTests()
      return ['For Danes', 'For others'].filter((text) => mail?.html.includes(text) && mail.text.includes(text))
    }
    for (const path of [`/v1/email-messages/${message}`, `/v1/campaigns/${campaign.id}`]) {
      expect(await listShown(path, customer?.id)).toEqual(['For Danes'])
      expect(await listShown(path)).toEqual(['For Danes', 'For others'])
    }
  })

  it('begins with the preheader', async () => {
    const desk = await givenTestDesk()
    const message = await seedMessage(desk, { preheader: { en: 'Dear {{ customer.first_name }}' } })
    await sendTest(message, { to: [desk.manager.email], languages: ['en'] })
    const [mail] = await receiveTests()
    expect(mail?.html).toContain('Dear Astrid')
    expect(mail?.text).not.toContain('Dear')
  })

  it('sends what the message said when the operation answered', async () => {
    const desk = await givenTestDesk()
    await sendTest(desk.message, { to: [desk.manager.email], languages: ['en'] })
    await write(sql`delete from email_messages where id = ${desk.message}`)
    expect(await receiveTests()).toMatchObject([{ subject: '[Test] Hello Astrid' }])
  })

  it('shows sample orders in a receipt, and the names of the edition and the organisation', async () => {
    const desk = await givenTestDesk('receipt')
    const blocks = [aBlock('{{ order.number }} {{ edition.name }} {{ edition.timezone }}{{ links.unsubscribe }}')]
    const message = await seedMessage(desk, { type: 'receipt', blocks })
    await sendTest(message, { to: [desk.manager.email], languages: ['en'] })
    const [mail] = await receiveTests()
    expect(mail?.text).toContain('100234 Nordlys 2026 Europe/Copenhagen\n')
    expect(mail?.headers).toEqual({ 'Auto-Submitted': 'auto-generated' })
    expect(mail?.text).not.toContain('/t/test/')
  })

  it('keeps the customer out of the message once they are erased', async () => {
    const desk = await givenTestDesk()
    const [customer] = await seedPeople(desk, [{}])
    await sendTest(desk.message, { to: [desk.manager.email], user_id: customer?.id })
    expect((await post(`/v1/user/${customer?.id}/erase`, {})).status).toBeLessThan(300)
    expect(await receiveTests()).toEqual([])
    expect(await listTests(desk.organization)).toMatchObject([
      { status: 'failed', error_code: 'erased', content: null },
    ])
  })

  it('shows no customer who is erased while it is composed', async () => {
    const desk = await givenTestDesk()
    const [customer] = await seedPeople(desk, [{}])
    const erase = () => post(`/v1/user/${customer?.id}/erase`, {})
    const reply = await callWith(
      interruptDatabase(/insert into "transactional_emails"/, erase),
      `/v1/email-messages/${desk.message}/send-test`,
      { body: { to: [desk.manager.email], user_id: customer?.id } },
    )
    expect(describeRefusal(reply)).toBe('400 validation_error: does_not_exist #/user_id')
    expect(await listTests(desk.organization)).toEqual([])
  })

  it('counts nowhere, and its hard bounce suppresses the address', async () => {
    const desk = await givenTestDesk()
    const [customer] = await seedPeople(desk, [{}])
    await sendTest(desk.message, { to: [desk.manager.email], user_id: customer?.id })
    await receiveTests()
    const [row] = await listTests(desk.organization)
    const tags = { reference: row?.id }
    const data = { email_id: 'x', created_at: new Date().toISOString(), tags, to: [desk.manager.email] }
    const before = await dump()
    for (const type of ['email.delivered', 'email.opened', 'email.clicked'])
      expect((await postEvent({ type, created_at: data.created_at, data })).status).toBe(200)
    expect(await dump()).toEqual(before)
    const bounce = { ...data, bounce: { type: 'Permanent', subType: 'General', message: '' } }
    await postEvent({ type: 'email.bounced', created_at: data.created_at, data: bounce })
    expect((await get(`/v1/user/${customer?.id}/messages`)).body.count).toBe(0)
    const changedTables = Object.entries(await dump()).filter(
      ([table, rows]) => JSON.stringify(rows) !== JSON.stringify(before[table]),
    )
    expect(changedTables.map(([table]) => table)).toEqual(['suppressions'])
    expect((await sendTest(desk.message, { to: [desk.manager.email] })).body.emails[0].error_code).toBe('suppressed')
  })

  it('keeps its content while the provider refuses it, and gives up after a day', async () => {
    const desk = await givenTestDesk()
    await sendTest(desk.message, { to: [desk.manager.email], languages: ['en'] })
    const provider = createProvider({ deduplicates: true })
    const engine = createReceiptEngine(provider.gateway, Date.now() + 1000)
    for (const kind of ['configuration', 'sender', 'transient'] as const) {
      provider.play([createFailure(kind, 'refused', '')])
      await engine.run()
      engine.advance(hour)
      expect(await listTests(desk.organization)).toMatchObject([{ status: 'pending', content: expect.any(String) }])
    }
    expect(new Set(provider.calls.map(({ email }) => email.subject))).toEqual(new Set(['[Test] Hello Astrid']))
    engine.advance(24 * hour)
    await engine.run()
    expect(provider.calls).toHaveLength(3)
    expect(await listTests(desk.organization)).toMatchObject([
      { status: 'failed', error_code: 'expired', content: null },
    ])
  })

  it('waits for a provider for a day', async () => {
    const desk = await givenTestDesk()
    await sendTest(desk.message, { to: [desk.manager.email] })
    const engine = createReceiptEngine(createUnconfiguredEmail(), Date.now() + 1000)
    await engine.run()
    expect(await listTests(desk.organization)).toMatchObject([{ status: 'pending', content: expect.any(String) }])
    engine.advance(24 * hour)
    await engine.run()
    expect(await listTests(desk.organization)).toMatchObject([
      { status: 'failed', error_code: 'provider_not_configured', content: null },
    ])
  })

  it('is deleted after 30 days', async () => {
    const desk = await givenTestDesk()
    await sendTest(desk.message, { to: [desk.manager.email] })
    await sendEmails(createContextAt(Date.now() + 1000))
    await sweepTestMessages(createContextAt(Date.now() + 29 * 24 * hour))
    expect(await listTests(desk.organization)).toHaveLength(1)
    await sweepTestMessages(createContextAt(Date.now() + 31 * 24 * hour))
    expect(await listTests(desk.organization)).toEqual([])
  })
})
