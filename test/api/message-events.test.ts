import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { mintLinkToken } from '../../src/domain/campaigns/link-tokens.ts'
import { applyEvents } from '../../src/modules/message-events/jobs.ts'
import { get, post } from '../support/api.ts'
import { runAlarm, listCaptured, createJob, readStats, runUntil } from '../support/campaigns.ts'
import { marketingTo, seedCrowd, seedReady } from '../support/seeding/messaging/campaigns.ts'
import { db, write } from '../support/seeding/rows.ts'
import { seedEndpoint } from '../support/seeding/webhooks.ts'
import { delayEvents, listPaths, type SentCampaign, sendCampaign, visit } from '../support/visits.ts'

const oneClick = {
  method: 'POST',
  body: 'List-Unsubscribe=One-Click',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
}

function readUnsubscribeLink(mail: SentCampaign['captured'][number] | undefined) {
  const headers = JSON.parse(mail?.headers ?? '{}') as Record<string, string>
  const link = /^<https:\/\/events\.example\.test(\/t\/u\/[\w-]+)>$/.exec(headers['List-Unsubscribe'] ?? '')
  return { headers, path: link?.[1] ?? '' }
}

const listSuppressed = ({ organization }: SentCampaign['crowd']) =>
  db.all(
    sql<{ address: string; reason: string }>`select address, reason from suppressions
      where organization_id = ${organization}`,
  )

describe('the links in messages', () => {
  let all: SentCampaign
  beforeAll(async () => {
    all = await sendCampaign(2)
  })

  it('redirect to their stored target, and count each person once', async () => {
    const [first = '', second = ''] = listPaths(all.captured[0], 'c')
    const reply = await visit(first)
    expect([reply.status, reply.headers.get('location')]).toEqual([302, 'https://example.com/tickets?a=1&b=2'])
    expect(reply.headers.get('cache-control')).toBe('no-store')
    expect((await visit(second)).headers.get('location')).toBe('https://example.com/map')
    const opened = await visit(listPaths(all.captured[1], 'o')[0] ?? '')
    expect([opened.status, opened.headers.get('content-type')]).toEqual([200, 'image/gif'])
    const messages = delayEvents([...reply.enqueued, ...reply.enqueued, ...opened.enqueued])
    await applyEvents(createJob(), messages)
    await applyEvents(createJob(), messages.toReversed())
    expect(await readStats(all.id)).toMatchObject({
      sent: 2,
      opened: 2,
      clicked: 1,
      click_rate: 0.5,
      open_rate: 1,
      machine_opened: 0,
    })
  })

  it.each([
    ['https://bücher.example/ø?n=Søn&m=a%20b#é', 'https://xn--bcher-kva.example/%C3%B8?n=S%C3%B8n&m=a%20b#%C3%A9'],
    ['https://EXAMPLE.com/日本', 'https://example.com/%E6%97%A5%E6%9C%AC'],
    ['https://example.com/a"b c', 'https://example.com/a%22b%20c'],
  ])('redirect to an ASCII address: %s', async (url, location) => {
    const place = await sendCampaign(1)
    await write(sql`update campaign_links set url = ${url} where campaign_id = ${place.id} and position = 0`)
    const reply = await visit(listPaths(place.captured[0], 'c')[0] ?? '')
    expect([reply.status, reply.headers.get('location')]).toEqual([302, location])
  })

  it('count requests of machines separately', async () => {
    const place = await sendCampaign(1)
    const [link = ''] = listPaths(place.captured[0], 'c')
    const [pixel = ''] = listPaths(place.captured[0], 'o')
    const head = await visit(link, { method: 'HEAD' })
    const bot = await visit(pixel, {}, 'Mozilla/5.0 (compatible; bingbot/2.0)')
    const machineVisit = await visit(pixel, {}, null)
    const soon = await visit(pixel)
    await applyEvents(createJob(), [
      ...delayEvents([...head.enqueued, ...bot.enqueued, ...machineVisit.enqueued]),
      ...soon.enqueued,
    ])
    expect(await readStats(place.id)).toMatchObject({ opened: 0, clicked: 0, machine_opened: 1 })
  })

  it('do not unsubscribe when their token was changed', async () => {
    const { path } = readUnsubscribeLink(all.captured[0])
    expect(await visit(`${path}x`, oneClick)).toMatchObject({ status: 404, enqueued: [] })
  })

  it('return 404 when their token was changed', async () => {
    const [path = ''] = listPaths(all.captured[0], 'c')
    for (const forged of [
      `${path.slice(0, -1)}${path.endsWith('A') ? 'B' : 'A'}`,
      '/t/c/x',
      path.replace('/c/', '/u/'),
      path.replace('/c/', '/o/'),
    ]) {
      const reply = await visit(forged)
      expect([forged, reply.status, reply.headers.get('location'), reply.enqueued]).toEqual([forged, 404, null, []])
    }
    // The token has a valid signature and names a link that the campaign does not have.
    const token = mintLinkToken('link-signing-key-of-the-tests', {
      kind: 'click',
      campaign_id: all.id,
      n: 1,
      link: 99,
    })
    expect((await visit(`/t/c/${token}`)).status).toBe(404)
  })
})

describe('unsubscribing', () => {
  it('changes nothing when its page is only read', async () => {
    const { crowd, captured } = await sendCampaign(1)
    const { path } = readUnsubscribeLink(captured[0])
    for (const method of ['GET', 'HEAD']) {
      const page = await visit(path, { method })
      expect([page.status, page.enqueued]).toEqual([200, []])
      if (method === 'GET') expect(page.text).toContain('<html lang="da">')
      if (method === 'GET') expect(page.text).toContain('Afmeld</button>')
    }
    expect(await listSuppressed(crowd)).toEqual([])
  })

  it('withdraws the consent by one POST without cookies, and only once when it is repeated', async () => {
    const { id, crowd, captured, consent } = await sendCampaign(2)
    const person = crowd.people[0]
    await seedEndpoint(
      { organization: crowd.organization, edition: crowd.edition },
      { events: ['consent.withdrawn'], edition_id: null },
    )
    const mail = captured.find(({ recipient }) => recipient.includes(person?.email ?? '?'))
    const { path, headers } = readUnsubscribeLink(mail)
    expect(headers['List-Unsubscribe-Post']).toBe('List-Unsubscribe=One-Click')
    const actionReply = await visit(path, oneClick)
    expect([actionReply.status, actionReply.headers.get('set-cookie')]).toEqual([200, null])
    const secondReply = await visit(path, oneClick)
    expect(secondReply.status).toBe(200)
    await applyEvents(createJob(), [...actionReply.enqueued, ...secondReply.enqueued])

    expect(await listSuppressed(crowd)).toEqual([{ address: person?.email, reason: 'unsubscribed' }])
    const records = await db.all(sql<{
      id: string
      status: string
      is_latest: number
      previous_record_id: string | null
      record_hash: string
      method: string
    }>`
      select id, status, is_latest, previous_record_id, record_hash, method from consent_records
      where consent_id = ${consent} and user_id = ${person?.id ?? ''} order by occurred_at`)
    expect(records).toMatchObject([
      { status: 'given', is_latest: 0 },
      { status: 'withdrawn', is_latest: 1, previous_record_id: records[0]?.id, method: 'one_click_unsubscribe' },
    ])
    expect(records[1]?.record_hash).toMatch(/^[0-9a-f]{64}$/)
    const events = await db.all(sql<{ payload: string; deliveries: number }>`select payload,
      (select count(*) from webhook_deliveries where event_id = webhook_events.id) as deliveries
      from webhook_events where organization_id = ${crowd.organization} and kind = 'consent.withdrawn'`)
    expect(events).toMatchObject([{ deliveries: 1 }])
    expect(JSON.parse(events[0]?.payload ?? '{}').data).toMatchObject({
      status: 'withdrawn',
      user: { api_id: person?.id },
    })
    expect(await readStats(id)).toMatchObject({ unsubscribed: 1, unsubscribe_rate: 0.5 })
  })
})

describe('the page of a link to unsubscribe', () => {
  it('is in the language of the recipient, and escapes names', async () => {
    const spoken = ['en', 'da', 'se', 'nl', 'pl'] as const
    const crowd = await seedCrowd(spoken.length, { enabled_languages: spoken })
    await write(
      sql`update organizations set name = 'Nord & <b>lys</b>' where id = ${crowd.organization}`,
      ...spoken.map((locale, at) => sql`update users set locale = ${locale} where id = ${crowd.people[at]?.id ?? ''}`),
    )
    const { campaign } = await seedReady(crowd)
    await marketingTo(crowd, campaign.segment_id)
    await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    await runUntil(campaign.id, ['sent'])
    const captured = await listCaptured(campaign.id)
    const pageOf = async (email: string | null | undefined) =>
      (
        await visit(
          listPaths(
            captured.find(({ recipient }) => recipient.includes(email ?? '?')),
            'u',
          )[0] ?? '',
        )
      ).text
    const pageTexts = await Promise.all(crowd.people.map(({ email }) => pageOf(email)))
    expect(pageTexts.map((page) => /<html lang="(\w+)">.*<button[^>]*>([^<]+)</.exec(page)?.slice(1))).toEqual([
      ['en', 'Unsubscribe'],
      ['da', 'Afmeld'],
      ['sv', 'Avsluta prenumeration'],
      ['nl', 'Afmelden'],
      ['pl', 'Rezygnuję'],
    ])
    for (const [at, page] of pageTexts.entries()) {
      expect(page).toContain('Nord &amp; &lt;b&gt;lys&lt;/b&gt;')
      expect(page).toContain(crowd.people[at]?.email)
    }
  })
})

describe('an SMS campaign', () => {
  it('is sent to each number once, with the name of the organisation and an unsubscribe text', async () => {
    const crowd = await seedCrowd(3)
    const [first, second] = crowd.people
    await write(sql`update users set phone_number = ${first?.phone_number ?? ''} where id = ${second?.id ?? ''}`)
    const { campaign } = await seedReady(crowd, { channel: 'sms' })
    await marketingTo(crowd, campaign.segment_id)
    await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    const row = await runUntil(campaign.id, ['sent', 'failed'])
    expect(row).toMatchObject({ status: 'sent', total_recipients: 2, sent_count: 2, skipped_count: 1 })
    const captured = await listCaptured(campaign.id)
    expect(captured.map(({ recipient }) => recipient).toSorted()).toEqual(
      [crowd.people[0]?.phone_number, crowd.people[2]?.phone_number].toSorted(),
    )
    expect(captured[0]?.sender).toMatch(/^Nordlys \w+$/)
    expect(captured[0]?.body).toMatch(
      /^Doors open: https:\/\/events\.example\.test\/t\/c\/[\w-]+\n(Stop|Afmeld): https:\/\/events\.example\.test\/t\/u\/[\w-]+$/,
    )
    const { body } = await get(`/v1/campaigns/${campaign.id}/recipients?state=skipped`)
    expect(body.results).toMatchObject([{ reason: 'duplicate_address' }])
  })
})

describe('receipts of campaigns', () => {
  it('tell segments who received and opened a campaign', async () => {
    const { id, crowd, captured } = await sendCampaign(2)
    const opened = await visit(listPaths(captured[0], 'o')[0] ?? '')
    await applyEvents(createJob(), delayEvents(opened.enqueued))
    const rows = () =>
      db.all(sql<{ user_id: string; is_opened: number }>`select user_id, opened_at is not null as is_opened
        from campaign_receipts where campaign_id = ${id} and received_at is not null order by user_id`)
    for (let turn = 0; turn < 20 && (await rows()).filter(({ is_opened }) => is_opened).length === 0; turn++)
      await runAlarm(id)
    expect((await rows()).map(({ user_id }) => user_id)).toEqual(crowd.people.map((person) => person.id).toSorted())
    expect((await rows()).filter(({ is_opened }) => is_opened).length).toBe(1)
  })
})
