import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import type { RecipientEvent } from '../../src/domain/campaigns/recipient-events.ts'
import { engagements } from '../../src/domain/campaigns/sending-policy.ts'
import { createFailure, type SendResult } from '../../src/domain/messaging/messaging.ts'
import type { OutboundEmail } from '../../src/gateways/email/email.ts'
import { applyEvents } from '../../src/modules/message-events/jobs.ts'
import { get, post, publicUrl } from '../support/api.ts'
import { runAlarm, consume, createJob, readStats, runUntil } from '../support/campaigns.ts'
import {
  seedCampaignInStatus,
  type Crowd,
  seedCrowd,
  seedReady,
  seedRecipients,
} from '../support/seeding/messaging/campaigns.ts'
import { write } from '../support/seeding/rows.ts'

const zeros = {
  total_recipients: 0,
  sent: 0,
  failed: 0,
  pending: 0,
  cancelled: 0,
  delivered: 0,
  opened: 0,
  clicked: 0,
  bounced: 0,
  unsubscribed: 0,
  delivery_rate: 0,
  open_rate: 0,
  click_rate: 0,
  unsubscribe_rate: 0,
  skipped: 0,
  complained: 0,
  machine_opened: 0,
}

/** Makes consumers whose provider answers every message with the given result. */
const answerWith = (answer: (message: OutboundEmail, index: number) => SendResult) => {
  const { email } = createJob()
  return createJob({ email: { ...email, send: async (messages) => messages.map(answer) } })
}

const acceptMessage = (message: OutboundEmail): SendResult => ({ ok: true, providerId: `p-${message.reference}` })

async function seedStartedCampaign(people: number): Promise<{ id: string; crowd: Crowd }> {
  const crowd = await seedCrowd(people)
  const { campaign } = await seedReady(crowd)
  expect((await post(`/v1/campaigns/${campaign.id}/send-now`, {})).status).toBe(200)
  return { id: campaign.id, crowd }
}

const reportEvents = (type: RecipientEvent['type'], whom: (number | undefined)[]) =>
  whom.map((n): RecipientEvent => ({
    n: n ?? 0,
    type,
    at: Date.now() + 60_000,
    bounce: type === 'bounced' ? 'block' : null,
  }))

/** Sends a campaign to five people, of whom the provider refuses the last, and makes events about the others. */
async function seedPartlyRefused() {
  const { id, crowd } = await seedStartedCampaign(5)
  const seqs = crowd.people.map(({ seq }) => seq)
  const [a, b, c, d] = seqs
  const dead = crowd.people[4]?.email
  await runUntil(
    id,
    ['sent', 'failed'],
    answerWith((message) =>
      message.to.address === dead ? createFailure('permanent', 'invalid', 'no such box') : acceptMessage(message),
    ),
  )
  const events = [
    ...reportEvents('opened', [a, b, a]),
    ...reportEvents('clicked', [c, c]),
    ...reportEvents('machine_opened', [a, d]),
    ...reportEvents('bounced', [d]),
    ...reportEvents('complained', [b]),
    ...reportEvents('unsubscribed', [c]),
    // No recipient of this campaign has this number.
    ...reportEvents('opened', [2_000_000_000]),
  ]
  return { id, crowd, seqs, dead, events }
}

describe('getCampaignStats', () => {
  it.each(['draft', 'scheduled', 'calculating', 'sending', 'failed', 'cancelled'] as const)(
    'returns zeros for a campaign that is %s and has reached nobody',
    async (status) => {
      const id = await seedCampaignInStatus(await seedCrowd(1), status)
      expect(await readStats(id)).toEqual(zeros)
    },
  )

  it('returns zeros until the campaign starts sending', async () => {
    const { campaign } = await seedReady(await seedCrowd(1), { status: 'calculating', run: 1 })
    expect(await readStats(campaign.id)).toEqual(zeros)
  })

  it.each([
    ['sending', { pending: 2, cancelled: 0 }],
    ['cancelled', { pending: 0, cancelled: 2 }],
  ] as const)('counts the remaining recipients of a campaign that is %s', async (status, left) => {
    const { campaign } = await seedReady(await seedCrowd(1), { status, run: 1 })
    await seedRecipients(campaign.id, 6, { run: 1_000_000, status })
    expect(await readStats(campaign.id)).toEqual({ ...zeros, total_recipients: 6, sent: 2, failed: 2, ...left })
    const { body } = await get(`/v1/campaigns/${campaign.id}/recipients?engagement=not_opened&ordering=-sent_at`)
    expect([body.count, body.results.map(({ state }: { state: string }) => state)]).toEqual([2, ['sent', 'sent']])
  })

  it('counts a refused message as failed, and lists its recipient with the reason', async () => {
    const { id, dead } = await seedPartlyRefused()
    expect(await readStats(id)).toEqual({
      ...zeros,
      total_recipients: 5,
      sent: 4,
      failed: 1,
      delivered: 4,
      delivery_rate: 1,
    })
    const { body } = await get(`/v1/campaigns/${id}/recipients?state=failed`)
    expect(body.results).toMatchObject([
      {
        address: dead,
        reason: 'rejected',
        error_code: 'invalid',
        error_detail: 'no such box',
        attempts: 1,
        sent_at: null,
      },
    ])
  })

  it('counts each person once, however often and in whichever order events are reported', async () => {
    const { id, events } = await seedPartlyRefused()
    const message = { type: 'campaign.events' as const, campaign_id: id, events }
    await applyEvents(createJob(), [message, message])
    await applyEvents(createJob(), [{ ...message, events: events.toReversed() }])
    expect(await readStats(id)).toEqual({
      total_recipients: 5,
      sent: 4,
      failed: 1,
      pending: 0,
      cancelled: 0,
      delivered: 4,
      opened: 3,
      clicked: 1,
      bounced: 1,
      unsubscribed: 1,
      delivery_rate: 1,
      open_rate: 0.75,
      click_rate: 0.25,
      unsubscribe_rate: 0.25,
      skipped: 0,
      complained: 1,
      machine_opened: 2,
    })
  })

  it('counts a refused recipient as delivered when the message arrived after all', async () => {
    const { id, seqs, events } = await seedPartlyRefused()
    const late = reportEvents('delivered', [seqs[4]])
    for (const reported of [events, late])
      await applyEvents(createJob(), [{ type: 'campaign.events', campaign_id: id, events: reported }])
    expect(await readStats(id)).toMatchObject({ sent: 5, failed: 0, delivered: 5, open_rate: 0.6 })
    await runAlarm(id)
    const { body } = await get(`/v1/campaigns/${id}`)
    expect(body).toMatchObject({ status: 'sent', total_recipients: 5, sent_count: 5, failed_count: 0, user_count: 5 })
  })
})

describe('listCampaignRecipients', () => {
  let scene: Awaited<ReturnType<typeof seedPartlyRefused>>
  beforeAll(async () => {
    scene = await seedPartlyRefused()
    await applyEvents(createJob(), [{ type: 'campaign.events', campaign_id: scene.id, events: scene.events }])
  })

  const list = (query: string) => get(`/v1/campaigns/${scene.id}/recipients?${query}`)

  it('lists the people of each engagement, on two pages', async () => {
    const listPeople = async (engagement: string) => {
      const { body } = await list(`engagement=${engagement}&page_size=2`)
      const second = body.next ? await get(body.next.replace(publicUrl, '')) : null
      const people = [...body.results, ...(second?.body.results ?? [])].map((row: { id: string }) =>
        scene.crowd.people.findIndex((person) => person.id === row.id),
      )
      expect([engagement, body.count]).toEqual([engagement, people.length])
      return people
    }
    const engaged = Object.fromEntries(
      await Promise.all(engagements.map(async (engagement) => [engagement, await listPeople(engagement)] as const)),
    )
    expect(engaged).toEqual({
      delivered: [0, 1, 2, 3],
      opened: [0, 1, 2],
      not_opened: [],
      clicked: [2],
      not_clicked: [0, 1],
      bounced: [3],
      complained: [1],
      unsubscribed: [2],
    })
  })

  it('finds nobody who opened a message that failed', async () => {
    expect((await list('engagement=opened&state=failed')).body.count).toBe(0)
  })

  it('refuses an unknown engagement', async () => {
    expect((await list('engagement=liked')).body.errors).toMatchObject([{ code: 'invalid_choice', attr: 'engagement' }])
  })
})

describe('retryFailedCampaignRecipients', () => {
  it('continues after the provider account was repaired, and sends to each person once', async () => {
    const { id } = await seedStartedCampaign(4)
    const wrong = answerWith(() => createFailure('configuration', 'invalid_api_key', 'no such key'))
    expect(await runUntil(id, ['sent', 'failed'], wrong)).toMatchObject({
      status: 'failed',
      error_message: 'invalid_api_key: no such key',
    })
    const before = (await get(`/v1/campaigns/${id}`)).body
    expect(before).toMatchObject({ total_recipients: 4, sent_count: 0, failed_count: 0 })
    expect(before.completed_at).not.toBeNull()
    expect(await readStats(id)).toEqual({ ...zeros, total_recipients: 4, pending: 4 })
    const reached: string[] = []
    const well = answerWith((message) => {
      reached.push(message.to.address)
      return acceptMessage(message)
    })
    const reply = await post(`/v1/campaigns/${id}/retry-failed`, {})
    expect([reply.status, reply.body]).toMatchObject([
      200,
      { status: 'sending', error_message: '', completed_at: null, started_at: before.started_at },
    ])
    await runUntil(id, ['sent', 'failed'], well)
    expect(await readStats(id)).toEqual({ ...zeros, total_recipients: 4, sent: 4, delivered: 4, delivery_rate: 1 })
    expect([reached.length, new Set(reached).size]).toEqual([4, 4])
    const secondReply = await post(`/v1/campaigns/${id}/retry-failed`, {})
    expect(secondReply).toMatchObject({ status: 409, body: { code: 'nothing_to_retry', current_status: 'sent' } })
    await consume(id, well)
    expect(reached.length).toBe(4)
  })

  it('sends nothing to recipients who were refused for good, and neither does sendCampaignNow', async () => {
    const { id } = await seedStartedCampaign(2)
    const calls: string[] = []
    const refusing = answerWith((message) => {
      calls.push(message.to.address)
      return createFailure('permanent', 'blocked', '')
    })
    expect(await runUntil(id, ['sent', 'failed'], refusing)).toMatchObject({
      status: 'failed',
      error_message: 'No message could be sent.',
      failed_count: 2,
    })
    expect((await post(`/v1/campaigns/${id}/retry-failed`, {})).body.code).toBe('nothing_to_retry')
    expect((await post(`/v1/campaigns/${id}/send-now`, {})).body.status).toBe('calculating')
    await runUntil(id, ['sent', 'failed'], refusing)
    expect([calls.length, (await readStats(id)).failed]).toEqual([2, 2])
  })

  it('skips people who have unsubscribed since', async () => {
    const { id, crowd } = await seedStartedCampaign(2)
    await runUntil(
      id,
      ['failed'],
      answerWith(() => createFailure('configuration', 'invalid_api_key', 'no such key')),
    )
    await write(sql`insert into suppressions (organization_id, channel, address, reason, created_at)
      values (${crowd.organization}, 'email', ${crowd.people[0]?.email ?? ''}, 'hard_bounce', 1)`)
    await post(`/v1/campaigns/${id}/retry-failed`, {})
    await runUntil(id, ['sent', 'failed'])
    expect(await readStats(id)).toMatchObject({ total_recipients: 1, sent: 1, failed: 0, skipped: 1 })
  })
})
