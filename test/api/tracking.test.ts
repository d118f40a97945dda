import { env } from 'cloudflare:workers'
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import type { CampaignEventsMessage } from '../../src/context.ts'
import { app } from '../../src/app.ts'
import { consentRecords, consents } from '../../src/db/schema/consents.ts'
import { insert } from '../../src/db/write.ts'
import { mintLinkToken } from '../../src/domain/campaign-tokens.ts'
import { referenceOf } from '../../src/domain/campaign-events.ts'
import { fromBase64, toBase64, utf8 } from '../../src/domain/encoding.ts'
import { applyEvents } from '../../src/modules/tracking/jobs.ts'
import { get, post } from '../support/api.ts'
import { alarm, type Captured, capturedOf, realJob, statsOf, until } from '../support/campaigns.ts'
import { type Crowd, seedCrowd, seedReady } from '../support/seed-campaigns.ts'
import { seedEndpoint } from '../support/seed-webhooks.ts'
import { db, freshId, write } from '../support/seed.ts'

const phone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15'
const secret = `whsec_${toBase64(utf8('a secret of thirty-two characters'))}`

/** Asks as the world does, and keeps what was rung for the campaigns' objects. */
async function visit(path: string, init: RequestInit = {}, agent: string | null = phone) {
  const rung: CampaignEventsMessage[] = []
  const queue = {
    sendBatch: async (batch: { body: CampaignEventsMessage }[]) => void rung.push(...batch.map(({ body }) => body)),
  }
  const context = createExecutionContext()
  const headers = { ...(agent ? { 'user-agent': agent } : {}), ...(init.headers as Record<string, string>) }
  const request = new Request(`https://events.example.test${path}`, { redirect: 'manual', ...init, headers })
  const bindings = { ...env, CAMPAIGN_EVENTS: queue, EMAIL_WEBHOOK_SECRET: secret }
  const response = await app.fetch(request, bindings, context)
  await waitOnExecutionContext(context)
  return { status: response.status, headers: response.headers, text: await response.text(), rung }
}

/** Ten seconds later than anything was sent. */
const later = (messages: CampaignEventsMessage[]) =>
  messages.map((message) => ({
    ...message,
    events: message.events.map((event) => ({ ...event, at: event.at + 10_000 })),
  }))

interface Sent {
  id: string
  crowd: Crowd
  captured: Captured[]
}

async function sent(count: number): Promise<Sent> {
  const crowd = await seedCrowd(count)
  const { campaign } = await seedReady(crowd)
  await post(`/v1/campaigns/${campaign.id}/send-now`, {})
  await until(campaign.id, ['sent', 'failed'])
  return { id: campaign.id, crowd, captured: await capturedOf(campaign.id) }
}

const pathsIn = (mail: Captured | undefined, kind: string): string[] =>
  [...(mail?.html ?? '').matchAll(new RegExp(`https://events\\.example\\.test(/t/${kind}/[\\w-]+)`, 'g'))].map(
    ([, path]) => path ?? '',
  )

describe('links of messages', () => {
  let all: Sent
  beforeAll(async () => {
    all = await sent(2)
  })

  it('lead where they were written to lead, and count people once', async () => {
    const [first = '', second = ''] = pathsIn(all.captured[0], 'c')
    const reply = await visit(first)
    expect([reply.status, reply.headers.get('location')]).toEqual([302, 'https://example.com/tickets?a=1&b=2'])
    expect(reply.headers.get('cache-control')).toBe('no-store')
    expect((await visit(second)).headers.get('location')).toBe('https://example.com/map')
    const opened = await visit(pathsIn(all.captured[1], 'o')[0] ?? '')
    expect([opened.status, opened.headers.get('content-type')]).toEqual([200, 'image/gif'])
    const messages = later([...reply.rung, ...reply.rung, ...opened.rung])
    await applyEvents(realJob(), messages)
    await applyEvents(realJob(), messages.toReversed())
    expect(await statsOf(all.id)).toMatchObject({
      sent: 2,
      opened: 2,
      clicked: 1,
      click_rate: 0.5,
      open_rate: 1,
      machine_opened: 0,
    })
  })

  it('flag machines and count them apart', async () => {
    const place = await sent(1)
    const [link = ''] = pathsIn(place.captured[0], 'c')
    const [pixel = ''] = pathsIn(place.captured[0], 'o')
    const head = await visit(link, { method: 'HEAD' })
    const bot = await visit(pixel, {}, 'Mozilla/5.0 (compatible; bingbot/2.0)')
    const none = await visit(pixel, {}, null)
    const soon = await visit(pixel)
    await applyEvents(realJob(), [...later([...head.rung, ...bot.rung, ...none.rung]), ...soon.rung])
    expect(await statsOf(place.id)).toMatchObject({ opened: 0, clicked: 0, machine_opened: 1 })
  })

  it('that somebody has tampered with lead nowhere', async () => {
    const [path = ''] = pathsIn(all.captured[0], 'c')
    for (const forged of [
      `${path.slice(0, -1)}${path.endsWith('A') ? 'B' : 'A'}`,
      '/t/c/x',
      path.replace('/c/', '/u/'),
      path.replace('/c/', '/o/'),
    ]) {
      const reply = await visit(forged)
      expect([forged, reply.status, reply.headers.get('location'), reply.rung]).toEqual([forged, 404, null, []])
    }
    // Well signed, of a link that the campaign does not have.
    const token = await mintLinkToken('link-signing-key-of-the-tests', {
      kind: 'click',
      campaign_id: all.id,
      n: 1,
      link: 99,
    })
    expect((await visit(`/t/c/${token}`)).status).toBe(404)
  })
})

async function giveConsent(crowd: Crowd, userId: string): Promise<string> {
  const id = freshId('consent')
  const at = Date.now() - 86_400_000
  await write(
    insert(consents, {
      id,
      organization_id: crowd.organization,
      key: 'newsletter',
      name: 'Newsletter',
      type: 'marketing',
      channels: '["email"]',
      created_at: at,
      modified_at: at,
    }),
    insert(consentRecords, {
      id: freshId('consent_record'),
      organization_id: crowd.organization,
      consent_id: id,
      consent_version: 1,
      content_hash: 'x',
      user_id: userId,
      status: 'given',
      method: 'checkbox',
      source: 'checkout',
      language: 'en',
      occurred_at: at,
      record_hash: 'first',
      is_latest: 1,
    }),
  )
  return id
}

describe('unsubscribing', () => {
  it('takes one POST without cookies; looking changes nothing', async () => {
    const { id, crowd, captured } = await sent(2)
    const person = crowd.people[0]
    const consent = await giveConsent(crowd, person?.id ?? '')
    await seedEndpoint(
      { organization: crowd.organization, edition: crowd.edition },
      { events: '["consent.withdrawn"]', edition_id: null },
    )
    const mail = captured.find(({ recipient }) => recipient.includes(person?.email ?? '?'))
    const headers = JSON.parse(mail?.headers ?? '{}') as Record<string, string>
    expect(headers['List-Unsubscribe-Post']).toBe('List-Unsubscribe=One-Click')
    const path =
      /^<https:\/\/events\.example\.test(\/t\/u\/[\w-]+)>$/.exec(headers['List-Unsubscribe'] ?? '')?.[1] ?? ''
    const suppressed = () =>
      db().all(
        sql<{
          address: string
          reason: string
        }>`select address, reason from suppressions where organization_id = ${crowd.organization}`,
      )

    for (const method of ['GET', 'HEAD']) {
      const page = await visit(path, { method })
      expect([page.status, page.rung]).toEqual([200, []])
      if (method === 'GET') expect(page.text).toContain('<html lang="da">')
      if (method === 'GET') expect(page.text).toContain('Afmeld</button>')
    }
    expect(await suppressed()).toEqual([])

    const body = 'List-Unsubscribe=One-Click'
    const form = { method: 'POST', body, headers: { 'content-type': 'application/x-www-form-urlencoded' } }
    const done = await visit(path, form)
    expect([done.status, done.headers.get('set-cookie')]).toEqual([200, null])
    const again = await visit(path, form)
    expect(again.status).toBe(200)
    await applyEvents(realJob(), [...done.rung, ...again.rung])

    expect(await suppressed()).toEqual([{ address: person?.email, reason: 'unsubscribed' }])
    const records = await db().all(sql<{
      id: string
      status: string
      is_latest: number
      previous_record_id: string | null
      record_hash: string
      method: string
    }>`
      select id, status, is_latest, previous_record_id, record_hash, method from consent_records where consent_id = ${consent} order by occurred_at`)
    expect(records).toMatchObject([
      { status: 'given', is_latest: 0 },
      { status: 'withdrawn', is_latest: 1, previous_record_id: records[0]?.id, method: 'one_click_unsubscribe' },
    ])
    expect(records[1]?.record_hash).toMatch(/^[0-9a-f]{64}$/)
    const events = await db().all(sql<{ payload: string; deliveries: number }>`select payload,
      (select count(*) from webhook_deliveries where event_id = webhook_events.id) as deliveries
      from webhook_events where organization_id = ${crowd.organization} and kind = 'consent.withdrawn'`)
    expect(events).toMatchObject([{ deliveries: 1 }])
    expect(JSON.parse(events[0]?.payload ?? '{}').data).toMatchObject({
      status: 'withdrawn',
      user: { api_id: person?.id },
    })
    expect(await statsOf(id)).toMatchObject({ unsubscribed: 1, unsubscribe_rate: 0.5 })
    expect((await visit(`${path}x`, form)).status).toBe(404)
  })
})

async function tell(event: object, signedWith = secret) {
  const body = JSON.stringify(event)
  const [id, timestamp] = [crypto.randomUUID(), String(Math.floor(Date.now() / 1000))]
  const key = await crypto.subtle.importKey(
    'raw',
    fromBase64(signedWith.slice(6)),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  )
  const mac = toBase64(new Uint8Array(await crypto.subtle.sign('HMAC', key, utf8(`${id}.${timestamp}.${body}`))))
  const headers = {
    'content-type': 'application/json',
    'svix-id': id,
    'svix-timestamp': timestamp,
    'svix-signature': `v1,${mac}`,
  }
  return visit('/provider-events/resend', { method: 'POST', body, headers }, null)
}

describe('what providers tell', () => {
  const about = (id: string, n: number, type: string, more: object = {}) => ({
    type: `email.${type}`,
    created_at: new Date().toISOString(),
    data: { email_id: 'm-1', tags: { reference: referenceOf(id, n) }, ...more },
  })

  it('counts once, in any order, and keeps dead addresses from the next campaign', async () => {
    const { id, crowd } = await sent(3)
    const [bounced, complaining, happy] = crowd.people
    const replies = [
      await tell(
        about(id, bounced?.seq ?? 0, 'bounced', { bounce: { type: 'Permanent', subType: 'General', message: 'gone' } }),
      ),
      await tell(about(id, bounced?.seq ?? 0, 'delivered')),
      await tell(about(id, complaining?.seq ?? 0, 'complained')),
      await tell(about(id, happy?.seq ?? 0, 'clicked', { click: { link: 'https://example.com/map' } })),
      await tell(about(id, happy?.seq ?? 0, 'opened')),
    ]
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    const messages = replies.flatMap(({ rung }) => rung)
    await applyEvents(realJob(), messages)
    await applyEvents(realJob(), messages.toReversed())
    expect(await statsOf(id)).toMatchObject({ sent: 3, bounced: 1, complained: 1, opened: 1, clicked: 1 })
    expect(
      await db().all(sql<{ address: string; reason: string }>`select address, reason from suppressions
        where organization_id = ${crowd.organization} order by address`),
    ).toEqual([
      { address: bounced?.email, reason: 'hard_bounce' },
      { address: complaining?.email, reason: 'complaint' },
    ])
    const { campaign } = await seedReady(crowd)
    await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    const row = await until(campaign.id, ['sent', 'failed'])
    expect(row.total_recipients + row.skipped_count).toBe(3)
    const { body } = await get(`/v1/campaigns/${campaign.id}/recipients?state=skipped`)
    expect(body.results.map(({ address }: { address: string }) => address)).toContain(bounced?.email)
  })

  it('takes an address for dead after the third soft bounce, each message counted once', async () => {
    const crowd = await seedCrowd(1)
    const n = crowd.people[0]?.seq ?? 0
    const suppressed = async () =>
      (await db().all(sql`select 1 from suppressions where organization_id = ${crowd.organization}`)).length
    for (let time = 1; time <= 3; time++) {
      const { campaign } = await seedReady(crowd)
      await post(`/v1/campaigns/${campaign.id}/send-now`, {})
      await until(campaign.id, ['sent'])
      const soft = await tell(
        about(campaign.id, n, 'bounced', { bounce: { type: 'Transient', subType: 'MailboxFull', message: 'full' } }),
      )
      for (let again = 0; again < 3; again++) await applyEvents(realJob(), soft.rung)
      expect([time, await suppressed()]).toEqual([time, time === 3 ? 1 : 0])
    }
  })

  it('is not believed without the signature, and not of strangers', async () => {
    expect(
      (await tell(about('cmp_x', 1, 'opened'), `whsec_${toBase64(utf8('another secret of some characters'))}`)).status,
    ).toBe(401)
    expect((await visit('/provider-events/resend', { method: 'POST', body: '{}' })).status).toBe(401)
    expect((await visit('/provider-events/unheard-of', { method: 'POST', body: '{}' })).status).toBe(404)
    expect((await tell({ type: 'email.opened', data: { tags: { reference: 'tem_1' } } })).rung).toEqual([])
  })
})

describe('an SMS campaign', () => {
  it('goes to each number once, with the name of the organisation and a way out', async () => {
    const crowd = await seedCrowd(3)
    const [first, second] = crowd.people
    await write(sql`update users set phone_number = ${first?.phone_number ?? ''} where id = ${second?.id ?? ''}`)
    const { campaign } = await seedReady(crowd, { channel: 'sms' })
    await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    const row = await until(campaign.id, ['sent', 'failed'])
    expect(row).toMatchObject({ status: 'sent', total_recipients: 2, sent_count: 2, skipped_count: 1 })
    const captured = await capturedOf(campaign.id)
    expect(captured.map(({ recipient }) => recipient).toSorted()).toEqual(
      [crowd.people[0]?.phone_number, crowd.people[2]?.phone_number].toSorted(),
    )
    expect(captured[0]?.sender).toMatch(/^Nordlys \d+$/)
    expect(captured[0]?.body).toMatch(
      /^Doors open: https:\/\/events\.example\.test\/t\/c\/[\w-]+\n(Stop|Afmeld): https:\/\/events\.example\.test\/t\/u\/[\w-]+$/,
    )
    const { body } = await get(`/v1/campaigns/${campaign.id}/recipients?state=skipped`)
    expect(body.results).toMatchObject([{ reason: 'duplicate_address' }])
  })
})

describe('receipts of campaigns', () => {
  it('tell segments who got one and who opened it', async () => {
    const { id, crowd, captured } = await sent(2)
    const opened = await visit(pathsIn(captured[0], 'o')[0] ?? '')
    await applyEvents(realJob(), later(opened.rung))
    const rows = () =>
      db().all(sql<{ user_id: string; is_opened: number }>`select user_id, opened_at is not null as is_opened
        from campaign_receipts where campaign_id = ${id} and received_at is not null order by user_id`)
    for (let turn = 0; turn < 20 && (await rows()).filter(({ is_opened }) => is_opened).length === 0; turn++)
      await alarm(id)
    expect((await rows()).map(({ user_id }) => user_id)).toEqual(crowd.people.map((one) => one.id).toSorted())
    expect((await rows()).filter(({ is_opened }) => is_opened).length).toBe(1)
  })
})
