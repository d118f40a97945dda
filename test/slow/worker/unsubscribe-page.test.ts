import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mintLinkToken } from '../../../src/domain/campaigns/link-tokens.ts'
import { applyEvents } from '../../../src/modules/message-events/jobs.ts'
import { post } from '../../support/api.ts'
import { type Captured, listCaptured, createJob, readStats, runUntil } from '../../support/campaigns.ts'
import { marketingTo, seedCrowd, seedReady } from '../../support/seeding/messaging/campaigns.ts'
import { seedMessage } from '../../support/seeding/messaging/email-messages.ts'
import { db, write } from '../../support/seeding/rows.ts'
import { seedEndpoint } from '../../support/seeding/webhooks.ts'
import { listPaths, sendCampaign, visit } from '../../support/visits.ts'

const form = { 'content-type': 'application/x-www-form-urlencoded' }
const leave = (path: string) => visit(path, { method: 'POST', headers: form, body: 'List-Unsubscribe=One-Click' })
/** Returns the address to which the form of a page posts. */
const readAction = (path: string, html: string): string => {
  const action = /<form method="post" action="([^"]+)"/.exec(html)?.[1]
  return action === undefined ? '' : new URL(action, `https://events.example.test${path}`).pathname
}

interface Record {
  status: string
  is_latest: number
  method: string
  expires_at: number | null
  previous_record_id: string | null
  id: string
}
const listRecords = (userId: string) =>
  db.all(sql<Record>`select id, status, is_latest, method, expires_at, previous_record_id from consent_records
    where user_id = ${userId} order by occurred_at, id`)
const listSuppressions = (organization: string) =>
  db.all(sql<{ address: string; reason: string; channel: string }>`select address, reason, channel from suppressions
    where organization_id = ${organization} order by address`)
const findMail = (captured: Captured[], email: string | null | undefined) =>
  captured.find(({ recipient }) => recipient.includes(email ?? '?'))

/** Sends a campaign to two people, of whom the first leaves, and returns the link by which that person comes back. */
async function givenLeft() {
  const { id, crowd, consent } = await sendCampaign(2)
  const [person, other] = crowd.people
  const [path = ''] = listPaths(findMail(await listCaptured(id), person?.email), 'u')
  const reply = await leave(path)
  await applyEvents(createJob(), reply.enqueued)
  const back = readAction(path, reply.text)
  expect(back).toMatch(/^\/t\/s\/[\w-]+$/)
  return { id, crowd, consent, person, other, path, back }
}

describe('the page of a link to unsubscribe', () => {
  it.each([
    ['en', 'news and offers by e-mail', 'Subscribe again'],
    ['da', 'nyheder og tilbud på e-mail', 'Tilmeld igen'],
    ['se', 'nyheter och erbjudanden via e-post', 'Prenumerera igen'],
    ['nl', 'nieuws en aanbiedingen per e-mail', 'Opnieuw aanmelden'],
    ['pl', 'wiadomości i ofert', 'Zapisz mnie ponownie'],
  ])(
    'names in %s the organisation and the kind of messages that stop, and offers to undo it',
    async (locale, kind, again) => {
      const crowd = await seedCrowd(1, { enabled_languages: ['en', 'da', 'se', 'nl', 'pl'] })
      const [person] = crowd.people
      await write(
        sql`update organizations set name = 'Nord & <b>lys</b>' where id = ${crowd.organization}`,
        sql`update users set locale = ${locale} where id = ${person?.id ?? ''}`,
      )
      const { campaign } = await seedReady(crowd)
      const consent = await marketingTo(crowd, campaign.segment_id)
      await write(
        sql`update consents set title = '{"en":"<i>Letters</i>","da":"<i>Letters</i>"}' where id = ${consent}`,
      )
      await post(`/v1/campaigns/${campaign.id}/send-now`, {})
      await runUntil(campaign.id, ['sent'])
      const [path = ''] = listPaths((await listCaptured(campaign.id))[0], 'u')
      const unsubscribePage = await visit(path)
      const leaveReply = await leave(path)
      const looked = await visit(path)
      const back = await visit(readAction(path, leaveReply.text), { method: 'POST' })
      for (const page of [unsubscribePage, leaveReply, looked, back]) {
        expect(page.status).toBe(200)
        expect(page.text).toContain(kind)
        expect(page.text).toContain('Nord &amp; &lt;b&gt;lys&lt;/b&gt;')
        expect(page.text).toContain(person?.email)
        expect(page.text).toContain('&lt;i&gt;Letters&lt;/i&gt; (')
        expect(page.text).toContain(`<html lang="${locale === 'se' ? 'sv' : locale}">`)
        expect(page.text).not.toMatch(/undefined|null|\[object/)
      }
      expect([unsubscribePage, leaveReply, looked, back].map(({ text }) => text.includes(again))).toEqual([
        false,
        true,
        true,
        false,
      ])
      expect(looked.text).toBe(leaveReply.text)
      expect(readAction(path, back.text)).toBe(path)
    },
  )

  it('changes nothing when it is only read', async () => {
    const { crowd, person, back } = await givenLeft()
    const before = await listRecords(person?.id ?? '')
    for (const method of ['GET', 'HEAD']) expect((await visit(back, { method })).status).toBe(200)
    expect(await listRecords(person?.id ?? '')).toEqual(before)
    expect(await listSuppressions(crowd.organization)).toMatchObject([
      { address: person?.email, reason: 'unsubscribed' },
    ])
  })

  it('ends the suppression, gives the withdrawn consents again and sends the webhook', async () => {
    const { id, crowd, consent, person, other, back } = await givenLeft()
    const expires = Date.now() + 86_400_000_000
    await write(sql`update consent_records set expires_at = ${expires}
      where user_id = ${person?.id ?? ''} and status = 'given'`)
    await seedEndpoint(
      { organization: crowd.organization, edition: crowd.edition },
      { events: ['consent.given'], edition_id: null },
    )
    const before = await listRecords(person?.id ?? '')
    const actionReply = await visit(back, { method: 'POST' })
    expect([actionReply.status, actionReply.headers.get('cache-control'), actionReply.enqueued]).toEqual([
      200,
      'no-store',
      [],
    ])
    await visit(back, { method: 'POST' })
    expect(await listSuppressions(crowd.organization)).toEqual([])
    const records = await listRecords(person?.id ?? '')
    expect(records).toMatchObject([
      { status: 'given', is_latest: 0 },
      { status: 'withdrawn', is_latest: 0, method: 'one_click_unsubscribe', expires_at: null },
      {
        status: 'given',
        is_latest: 1,
        method: 'one_click_resubscribe',
        expires_at: expires,
        previous_record_id: before[1]?.id,
      },
    ])
    expect(await listRecords(other?.id ?? '')).toMatchObject([{ status: 'given', is_latest: 1 }])
    const events = await db.all(sql<{ payload: string; deliveries: number }>`select payload,
      (select count(*) from webhook_deliveries where event_id = webhook_events.id) as deliveries
      from webhook_events where organization_id = ${crowd.organization} and kind = 'consent.given'`)
    expect(events).toMatchObject([{ deliveries: 1 }])
    expect(JSON.parse(events[0]?.payload ?? '{}').data).toMatchObject({
      consent: { id: consent },
      status: 'given',
      previous_status: 'withdrawn',
      user: { api_id: person?.id },
      record_id: records[2]?.id,
    })
    // The campaign's number of unsubscriptions stays.
    expect(await readStats(id)).toMatchObject({ unsubscribed: 1 })
  })

  it('lets the person leave again', async () => {
    const { crowd, path, back } = await givenLeft()
    await visit(back, { method: 'POST' })
    expect((await leave(path)).status).toBe(200)
    expect(await listSuppressions(crowd.organization)).toMatchObject([{ reason: 'unsubscribed' }])
  })

  it('does not undo a withdrawal that was made elsewhere since', async () => {
    const { crowd, captured } = await sendCampaign(1)
    const [person] = crowd.people
    const [path = ''] = listPaths(captured[0], 'u')
    const leaveReply = await leave(path)
    // The person withdraws the consent elsewhere.
    await write(sql`update consent_records set method = 'portal' where user_id = ${person?.id ?? ''} and is_latest = 1`)
    await visit(readAction(path, leaveReply.text), { method: 'POST' })
    expect(await listRecords(person?.id ?? '')).toMatchObject([
      { status: 'given' },
      { status: 'withdrawn', is_latest: 1 },
    ])
  })

  it.each(['complaint', 'hard_bounce'])(
    'does not offer to undo a %s, whether it came before or after',
    async (reason) => {
      const { id, crowd, captured } = await sendCampaign(1)
      const [person] = crowd.people
      const [path = ''] = listPaths(captured[0], 'u')
      const leaveReply = await leave(path)
      const back = readAction(path, leaveReply.text)
      const n = person?.seq ?? 0
      const event =
        reason === 'complaint'
          ? { n, type: 'complained' as const, at: Date.now() }
          : { n, type: 'bounced' as const, bounce: 'hard' as const, at: Date.now() }
      await applyEvents(createJob(), [{ type: 'campaign.events', campaign_id: id, events: [event] }])
      expect(await listSuppressions(crowd.organization)).toMatchObject([{ reason }])
      const tried = await visit(back, { method: 'POST' })
      expect(tried.status).toBe(200)
      expect(tried.text).not.toContain('<form')
      expect((await visit(path)).text).toBe(tried.text)
      expect(await listSuppressions(crowd.organization)).toMatchObject([{ reason }])
      expect(await listRecords(person?.id ?? '')).toMatchObject([
        { status: 'given' },
        { status: 'withdrawn', is_latest: 1 },
      ])
    },
  )

  it('refuses tokens of another kind, forged ones, and those of a person who does not exist', async () => {
    const { id, crowd, captured } = await sendCampaign(1)
    const [path = ''] = listPaths(captured[0], 'u')
    const leaveReply = await leave(path)
    const back = readAction(path, leaveReply.text)
    const token = back.slice('/t/s/'.length)
    const nobody = mintLinkToken('link-signing-key-of-the-tests', {
      kind: 'resubscribe',
      campaign_id: id,
      n: 999_999,
      link: 0,
    })
    const forged = [path.replace('/u/', '/s/'), `/t/u/${token}`, `${back.slice(0, -2)}AA`, '/t/s/x', `/t/s/${nobody}`]
    for (const forgedPath of forged)
      for (const method of ['GET', 'POST'])
        expect([forgedPath, (await visit(forgedPath, { method })).status]).toEqual([forgedPath, 404])
    expect(await listSuppressions(crowd.organization)).toMatchObject([{ reason: 'unsubscribed' }])
  })

  it('shows the state of the last action, for any sequence of actions', async () => {
    const { crowd, captured } = await sendCampaign(1)
    const [person] = crowd.people
    const [path = ''] = listPaths(captured[0], 'u')
    const back = readAction(path, (await leave(path)).text)
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(path, back), { minLength: 1, maxLength: 5 }), async (steps) => {
        for (const step of steps) await leave(step)
        const isLeft = steps.at(-1) === path
        expect((await listSuppressions(crowd.organization)).length).toBe(isLeft ? 1 : 0)
        const records = await listRecords(person?.id ?? '')
        const latest = records.filter(({ is_latest }) => is_latest === 1)
        expect(latest.map(({ status }) => status)).toEqual([isLeft ? 'withdrawn' : 'given'])
        // The chain of records is unbroken.
        for (const record of records)
          if (record.previous_record_id !== null)
            expect(records.some(({ id }) => id === record.previous_record_id)).toBe(true)
        const page = await visit(path)
        expect(page.text.includes('/s/')).toBe(isLeft)
      }),
      { numRuns: 6 },
    )
    // Exactly one of two simultaneous requests takes effect.
    await Promise.all([leave(path), leave(back), leave(path), leave(back)])
    const latest = (await listRecords(person?.id ?? '')).filter(({ is_latest }) => is_latest === 1)
    expect(latest).toHaveLength(1)
  })
})

describe('transactional messages', () => {
  it('have no unsubscribe link in a campaign by e-mail, neither in texts nor in headers', async () => {
    const crowd = await seedCrowd(1)
    const message = await seedMessage(crowd, {
      type: 'campaign',
      subject: { en: 'Hello' },
      blocks: [
        { id: 'a', type: 'rich_text', data: { text: { en: '<p>Gates open. Out: [{{ links.unsubscribe }}]</p>' } } },
        { id: 'b', type: 'footer', data: { text: { en: '<p>Street 1</p>' }, show_unsubscribe: true } },
      ],
    })
    const { campaign } = await seedReady(crowd, { email_message_id: message })
    await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    await runUntil(campaign.id, ['sent'])
    const [mail] = await listCaptured(campaign.id)
    expect(Object.keys(JSON.parse(mail?.headers ?? '{}')).toSorted()).toEqual(['Feedback-ID', 'List-Id'])
    expect(mail?.html).toContain('Out: []')
    expect(`${mail?.html} ${mail?.body}`).not.toMatch(/\/t\/u\/|unsubscribe|afmeld/i)
  })

  it('have no unsubscribe text in a campaign by SMS', async () => {
    const crowd = await seedCrowd(1)
    const { campaign } = await seedReady(crowd, { channel: 'sms', sms_body: { en: 'Gates open' } })
    await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    await runUntil(campaign.id, ['sent'])
    expect((await listCaptured(campaign.id)).map(({ body }) => body)).toEqual(['Gates open'])
  })
})
