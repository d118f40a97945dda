import { beforeAll, describe, expect, it } from 'vitest'
import { maxTimelineBuckets, timelineNames } from '../../src/domain/campaigns/timeline.ts'
import { createFailure } from '../../src/domain/messaging/messaging.ts'
import { applyEvents } from '../../src/modules/message-events/jobs.ts'
import { get, post } from '../support/api.ts'
import { createJob, readStats, runAlarm, runUntil } from '../support/campaigns.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import {
  inRecipientStore,
  seedCrowd,
  seedLinks,
  seedReady,
  seedRecipients,
} from '../support/seeding/messaging/campaigns.ts'
import { delayEvents, listPaths, type SentCampaign, sendCampaign, visit } from '../support/visits.ts'

interface Bucket extends Record<(typeof timelineNames)[number], number> {
  start: string
}

async function readTimeline(id: string, query = '', token?: string): Promise<Bucket[]> {
  const { status, body, text } = await get(`/v1/campaigns/${id}/timeline?${query}`, token)
  expect([status, text]).toEqual([200, expect.anything()])
  return body.buckets
}

const zeros = { sent: 0, delivered: 0, opened: 0, clicked: 0, bounced: 0, unsubscribed: 0 }

/** Seeds a campaign that sent a message at each of these times. */
async function seedSentAt(timezone: string, times: readonly string[]): Promise<string> {
  const { campaign } = await seedReady(await seedCrowd(1, { timezone }), { status: 'sent', run: 1 })
  const people = await seedRecipients(campaign.id, times.length * 3, { run: 1_000_000 })
  await inRecipientStore(campaign.id, (store) => {
    const pending = people.filter((_, index) => index % 3 === 2)
    store.recordOutcomes(
      new Map(
        pending.map(({ n }, index) => [n, { to: 'sent', provider_id: null, at: Date.parse(times[index] ?? '') }]),
      ),
      false,
    )
  })
  return campaign.id
}

/** Leaves out what `seedRecipients` sent in January 2026. */
const listStarts = (buckets: readonly Bucket[]) =>
  buckets.filter(({ start }) => !start.startsWith('2026-01-15')).map(({ start, sent }) => [start, sent])

const sumBuckets = (buckets: readonly Bucket[]) =>
  Object.fromEntries(timelineNames.map((name) => [name, buckets.reduce((sum, bucket) => sum + bucket[name], 0)]))

describe('getCampaignTimeline', () => {
  it('is empty before the campaign starts', async () => {
    const { campaign } = await seedReady(await seedCrowd(1, { timezone: 'Asia/Kolkata' }))
    const { body } = await get(`/v1/campaigns/${campaign.id}/timeline`)
    expect(body).toEqual({ interval: 'hour', timezone: 'Asia/Kolkata', buckets: [] })
  })

  it('adds up to the statistics of a campaign that people open, click and leave', async () => {
    const { id, crowd } = await sendCampaign(4)
    const at = Date.now() + 60_000
    const event = (index: number, type: 'opened' | 'clicked' | 'bounced' | 'unsubscribed', later: number) => ({
      n: crowd.people[index]?.seq ?? 0,
      type,
      at: at + later,
    })
    const hour = 3_600_000
    const events = [
      event(0, 'opened', hour),
      event(0, 'clicked', 2 * hour),
      event(1, 'bounced', hour),
      event(2, 'unsubscribed', 30 * hour),
    ]
    const message = { type: 'campaign.events' as const, campaign_id: id, events }
    await applyEvents(createJob(), [message, message])
    // A provider reports an earlier open later.
    await applyEvents(createJob(), [{ ...message, events: [event(0, 'opened', 0), event(3, 'opened', 50 * hour)] }])
    const stats = await readStats(id)
    const expected = Object.fromEntries(timelineNames.map((name) => [name, stats[name]]))
    expect(expected).toMatchObject({ sent: 4, opened: 2, clicked: 1, bounced: 1, unsubscribed: 1 })
    for (const interval of ['minute', 'hour', 'day'])
      expect(sumBuckets(await readTimeline(id, `interval=${interval}`))).toEqual(expected)
    const minutes = await readTimeline(id, 'interval=minute')
    expect(minutes.filter(({ opened }) => opened > 0).map(({ start }) => Date.parse(start))).toEqual(
      [at, at + 50 * hour].map((time) => Math.floor(time / 60_000) * 60_000),
    )
    await inRecipientStore(id, (store) => store.erase(crowd.people[0]?.seq ?? 0))
    expect(sumBuckets(await readTimeline(id, 'interval=day'))).toEqual(expected)
  })

  it.each([
    [
      'Europe/Copenhagen',
      'hour',
      ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z', '2026-10-25T01:45:00Z'],
      [
        ['2026-10-25T02:00:00+02:00', 1],
        ['2026-10-25T02:00:00+01:00', 2],
      ],
    ],
    [
      'Europe/Copenhagen',
      'day',
      ['2026-10-24T22:00:00Z', '2026-10-25T22:59:59Z', '2026-10-25T23:00:00Z'],
      [
        ['2026-10-25T00:00:00+02:00', 2],
        ['2026-10-26T00:00:00+01:00', 1],
      ],
    ],
    [
      'Asia/Kolkata',
      'hour',
      ['2026-06-01T18:29:59Z', '2026-06-01T18:30:00Z'],
      [
        ['2026-06-01T23:00:00+05:30', 1],
        ['2026-06-02T00:00:00+05:30', 1],
      ],
    ],
    [
      'Asia/Kathmandu',
      'day',
      ['2026-06-01T18:14:59Z', '2026-06-01T18:15:00Z'],
      [
        ['2026-06-01T00:00:00+05:45', 1],
        ['2026-06-02T00:00:00+05:45', 1],
      ],
    ],
    // Clocks go from 02:00 to 02:30, and back from 02:00 to 01:30.
    ['Australia/Lord_Howe', 'hour', ['2026-10-03T15:40:00Z'], [['2026-10-04T02:30:00+11:00', 1]]],
    [
      'Australia/Lord_Howe',
      'hour',
      ['2026-04-04T14:50:00Z', '2026-04-04T15:10:00Z'],
      [
        ['2026-04-05T01:00:00+11:00', 1],
        ['2026-04-05T01:30:00+10:30', 1],
      ],
    ],
  ] as const)('splits the time in %s by %s', async (timezone, interval, times, starts) => {
    const id = await seedSentAt(timezone, times)
    expect(listStarts(await readTimeline(id, `interval=${interval}`))).toEqual(starts)
  })

  it('counts the minutes of a period alone', async () => {
    const id = await seedSentAt('UTC', ['2026-06-01T10:00:59Z', '2026-06-01T10:01:00Z', '2026-06-01T10:02:00Z'])
    const buckets = await readTimeline(id, 'interval=minute&from=2026-06-01T12:01:00%2B02:00&to=2026-06-01T10:02:00Z')
    expect(buckets).toEqual([{ ...zeros, start: '2026-06-01T10:01:00+00:00', sent: 1 }])
    expect(await readTimeline(id, 'from=2026-06-02T00:00:00Z&to=2026-06-01T00:00:00Z')).toEqual([])
  })

  it('refuses a timeline with too many buckets, and has it by a longer interval or in parts', async () => {
    const times = Array.from({ length: maxTimelineBuckets }, (_, minute) =>
      new Date(Date.UTC(2026, 5, 1, 0, minute)).toISOString(),
    )
    const id = await seedSentAt('UTC', times)
    const { status, body } = await get(`/v1/campaigns/${id}/timeline?interval=minute`)
    expect([status, body.errors]).toMatchObject([400, [{ attr: 'interval', code: 'too_many_buckets' }]])
    expect(await readTimeline(id, 'interval=minute&from=2026-06-01T00:00:00Z')).toHaveLength(maxTimelineBuckets)
    expect(sumBuckets(await readTimeline(id))['sent']).toBe(2 * maxTimelineBuckets)
  })

  it('is seen by roles of the edition, and not by those of another edition or organisation', async () => {
    const { id, crowd } = await sendCampaign(1)
    const other = await seedEdition({ id: crowd.organization })
    const viewer = await givenMember({ id: crowd.organization }, 'viewer', crowd.edition)
    const stranger = await givenMember({ id: crowd.organization }, 'viewer', other.id)
    for (const path of ['timeline', 'links']) {
      expect((await get(`/v1/campaigns/${id}/${path}`, viewer.token)).status).toBe(200)
      expect((await get(`/v1/campaigns/${id}/${path}`, stranger.token)).status).toBe(404)
    }
  })
})

interface Link {
  position: number
  url: string
  languages: string[]
  clicks: number
  people: number
  machine_clicked: number
}

const listLinks = async (id: string, query = ''): Promise<Link[]> => {
  const { status, body, text } = await get(`/v1/campaigns/${id}/links?${query}`)
  expect([status, text]).toEqual([200, expect.anything()])
  return body.results
}

describe('listCampaignLinks', () => {
  let all: SentCampaign
  beforeAll(async () => {
    all = await sendCampaign(3)
  })

  it('is empty before the campaign starts', async () => {
    const { campaign } = await seedReady(await seedCrowd(1))
    expect(await listLinks(campaign.id)).toEqual([])
  })

  it('counts clicks and people of each link in the order of the mail, and programs apart', async () => {
    const paths = all.captured.map((mail) => listPaths(mail, 'c'))
    const visits = [
      await visit(paths[0]?.[0] ?? ''),
      await visit(paths[1]?.[0] ?? ''),
      await visit(paths[2]?.[1] ?? '', {}, 'Mozilla/5.0 (compatible; bingbot/2.0)'),
      await visit(paths[2]?.[1] ?? '', { method: 'HEAD' }),
      await visit(listPaths(all.captured[2], 'o')[0] ?? ''),
    ]
    const messages = delayEvents(visits.flatMap(({ enqueued }) => enqueued))
    await applyEvents(createJob(), [...messages, ...messages])
    await applyEvents(createJob(), messages.toReversed())
    // The same person comes back an hour later.
    const later = messages.slice(0, 1).map((message) => ({
      ...message,
      events: message.events.map((event) => ({ ...event, at: event.at + 3_600_000 })),
    }))
    await applyEvents(createJob(), [...later, ...later])
    expect(await listLinks(all.id)).toEqual([
      {
        position: 0,
        url: 'https://example.com/tickets?a=1&b=2',
        languages: ['da', 'en'],
        clicks: 3,
        people: 2,
        machine_clicked: 0,
      },
      {
        position: 1,
        url: 'https://example.com/map',
        languages: ['da', 'en'],
        clicks: 0,
        people: 0,
        machine_clicked: 1,
      },
    ])
    expect(await readStats(all.id)).toMatchObject({ clicked: 2, machine_opened: 1 })
  })

  it('lists the links of one language in the order of its message', async () => {
    const { campaign } = await seedReady(await seedCrowd(1), { status: 'sent', run: 1 })
    await seedLinks(campaign.id, 4)
    const list = async (query: string) => (await listLinks(campaign.id, query)).map(({ position }) => position)
    expect(await list('')).toEqual([0, 1, 2, 3])
    expect(await list('language=en')).toEqual([0, 1, 2, 3])
    expect(await list('language=da')).toEqual([3, 2, 1])
    expect(await list('language=da&ordering=-position')).toEqual([1, 2, 3])
    expect(await list('language=pl')).toEqual([])
    expect((await listLinks(campaign.id)).map(({ languages }) => languages)).toEqual([
      ['en'],
      ...Array.from({ length: 3 }, () => ['da', 'en']),
    ])
    const byClicks = await listLinks(campaign.id, 'ordering=-clicks')
    const clicks = byClicks.map((link) => link.clicks)
    expect(clicks).toEqual([4, 2, 1, 0])
    expect((await listLinks(campaign.id, 'ordering=people,position')).map(({ people }) => people)).toEqual([0, 1, 2, 3])
    const { body } = await get(`/v1/campaigns/${campaign.id}/links?page_size=2&language=da`)
    expect(body).toMatchObject({ count: 3 })
    expect((await get(body.next.replace(/^https?:\/\/[^/]+/, ''))).body.results).toMatchObject([{ position: 1 }])
  })
})

describe('the failures of a campaign', () => {
  it('are counted by reason, and add up to its failed recipients', async () => {
    const crowd = await seedCrowd(4)
    const { campaign } = await seedReady(crowd)
    expect((await get(`/v1/campaigns/${campaign.id}`)).body.failed_by_reason).toEqual({
      rejected: 0,
      unreachable: 0,
      rate_limited: 0,
      unknown: 0,
    })
    const { email } = createJob()
    const job = createJob({
      email: {
        ...email,
        send: async (messages) =>
          messages.map((message) =>
            message.to.address === crowd.people[0]?.email
              ? { ok: true, providerId: 'p' }
              : createFailure('permanent', 'invalid', 'no such box'),
          ),
      },
    })
    await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    await runUntil(campaign.id, ['sent', 'failed'], job)
    await inRecipientStore(campaign.id, (store) => {
      const outcome = { to: 'failed', reason: 'unknown', code: '', detail: '' } as const
      store.recordOutcomes(new Map([[crowd.people[1]?.seq ?? 0, outcome]]), false)
    })
    const event = { n: crowd.people[0]?.seq ?? 0, type: 'opened' as const, at: Date.now() + 60_000 }
    await applyEvents(job, [{ type: 'campaign.events', campaign_id: campaign.id, events: [event] }])
    await runAlarm(campaign.id)
    const { body } = await get(`/v1/campaigns/${campaign.id}`)
    expect(body).toMatchObject({
      failed_count: 3,
      failed_by_reason: { rejected: 2, unreachable: 0, rate_limited: 0, unknown: 1 },
    })
    expect(await readStats(campaign.id)).toMatchObject({ failed: 3 })
  })
})
