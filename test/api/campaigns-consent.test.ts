import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { Database } from '../../src/db/database.ts'
import { newMeter } from '../../src/domain/meter.ts'
import { selectExcluded } from '../../src/modules/campaigns/delivery/audience.ts'
import { applyEvents } from '../../src/modules/message-events/jobs.ts'
import { get, post } from '../support/api.ts'
import { runAlarm, listCaptured, createJob, loadCampaign, readStats, runUntil } from '../support/campaigns.ts'
import { type Crowd, marketingTo, seedCrowd, seedReady } from '../support/seeding/messaging/campaigns.ts'
import { seedMarketingConsent } from '../support/seeding/messaging/consents.ts'
import { db, write } from '../support/seeding/rows.ts'
import { listPaths, visit } from '../support/visits.ts'

const marketing = (segmentId: string) =>
  write(sql`update segments set communication_type = 'marketing' where id = ${segmentId}`)

/** Makes a campaign with recipients, before any message is sent. */
async function seedCalculated(crowd: Crowd, isMarketing = true): Promise<string> {
  const { campaign } = await seedReady(crowd)
  if (isMarketing) await marketing(campaign.segment_id)
  await post(`/v1/campaigns/${campaign.id}/send-now`, {})
  const object = env.CAMPAIGN_SENDER.get(env.CAMPAIGN_SENDER.idFromName(campaign.id))
  for (let turn = 0; turn < 50 && (await object.readSnapshot())?.status !== 'sending'; turn++)
    await runAlarm(campaign.id)
  expect(await readStats(campaign.id)).toMatchObject({ total_recipients: crowd.people.length, sent: 0 })
  return campaign.id
}

const skipped = async (id: string): Promise<[string, string][]> =>
  (await get(`/v1/campaigns/${id}/recipients?state=skipped`)).body.results.map(
    ({ address, reason }: { address: string; reason: string }) => [address, reason],
  )

describe('a person who opts out between the calculation and the sending', () => {
  let crowd: Crowd
  beforeEach(async () => {
    crowd = await seedCrowd(3)
    await seedMarketingConsent(crowd)
  })

  it('gets no message after unsubscribing', async () => {
    const { campaign } = await seedReady(crowd)
    await marketing(campaign.segment_id)
    await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    await runUntil(campaign.id, ['sent'])
    const [mail] = await listCaptured(campaign.id)
    const id = await seedCalculated(crowd)
    const leaveReply = await visit(listPaths(mail, 'u')[0] ?? '', { method: 'POST' })
    expect(leaveReply.status).toBe(200)
    expect(await runUntil(id, ['sent', 'failed'])).toMatchObject({
      status: 'sent',
      total_recipients: 2,
      skipped_count: 1,
    })
    const address = /<(.+)>/.exec(mail?.recipient ?? '')?.[1] ?? ''
    expect(await skipped(id)).toEqual([[address, 'unsubscribed']])
    expect((await listCaptured(id)).map(({ recipient }) => recipient).join(' ')).not.toContain(address)
  })

  it('gets no message after withdrawing the consent', async () => {
    const id = await seedCalculated(crowd)
    const [first] = crowd.people
    await write(sql`update consent_records set status = 'withdrawn' where user_id = ${first?.id ?? ''}`)
    await runUntil(id, ['sent', 'failed'])
    expect(await skipped(id)).toEqual([[first?.email, 'unsubscribed']])
    expect(await readStats(id)).toMatchObject({ total_recipients: 2, sent: 2, failed: 0, skipped: 1 })
  })

  it.each([
    ['hard_bounce', false, 'bounced'],
    ['hard_bounce', true, 'bounced'],
    ['complaint', true, 'unsubscribed'],
  ])(
    'is not contacted after a %s (marketing: %s), even if the person has another address by now',
    async (reason, isMarketing, outcome) => {
      const id = await seedCalculated(crowd, isMarketing)
      const [first, second] = crowd.people
      await write(
        ...[first, second].map(
          (person) => sql`insert into suppressions (organization_id, channel, address, reason, created_at)
          values (${crowd.organization}, 'email', ${person?.email ?? ''}, ${reason}, 1)`,
        ),
        sql`update users set email = ${`new-${first?.email}`} where id = ${first?.id ?? ''}`,
      )
      await runUntil(id, ['sent', 'failed'])
      expect((await skipped(id)).toSorted()).toEqual(
        [first, second].map((person) => [person?.email, outcome]).toSorted(),
      )
      expect((await loadCampaign(id)).sent_count).toBe(1)
    },
  )

  it('still gets transactional messages after a complaint', async () => {
    const id = await seedCalculated(crowd, false)
    await write(sql`insert into suppressions (organization_id, channel, address, reason, created_at)
      values (${crowd.organization}, 'email', ${crowd.people[0]?.email ?? ''}, 'complaint', 1)`)
    expect((await runUntil(id, ['sent', 'failed'])).sent_count).toBe(3)
  })

  it('still gets a message after a suppression in another organisation or for the other channel', async () => {
    const id = await seedCalculated(crowd)
    const other = await seedCrowd(0)
    const address = crowd.people[0]?.email ?? ''
    await write(
      sql`insert into suppressions (organization_id, channel, address, reason, created_at)
        values (${other.organization}, 'email', ${address}, 'hard_bounce', 1),
          (${crowd.organization}, 'sms', ${address}, 'hard_bounce', 1)`,
    )
    expect((await runUntil(id, ['sent', 'failed'])).sent_count).toBe(3)
  })

  it('reads as many rows with a long suppression list as with a short one', async () => {
    await write(sql`insert into suppressions (organization_id, channel, address, reason, created_at)
      select ${crowd.organization}, 'email', 'gone-' || value || '@example.test', 'hard_bounce', 1
      from json_each(${JSON.stringify(Array.from({ length: 3000 }, (_, index) => index))})`)
    const meter = newMeter()
    const audience = {
      organization_id: crowd.organization,
      edition_id: crowd.edition,
      communication_type: 'marketing',
      communication_channel: 'email',
    } as const
    const people = crowd.people.map(({ seq, email }) => ({ n: seq, address: email ?? '' }))
    expect(await new Database(env.DB, meter).all(selectExcluded(audience, people, Date.now()))).toEqual([])
    expect(meter.rows_read).toBeLessThan(60)
  })
})

describe('a link to unsubscribe', () => {
  it('shows the page for an unknown link, and changes nothing when it is forged or of another campaign', async () => {
    const crowd = await seedCrowd(1)
    const { campaign } = await seedReady(crowd)
    await marketingTo(crowd, campaign.segment_id)
    await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    await runUntil(campaign.id, ['sent'])
    const [path = ''] = listPaths((await listCaptured(campaign.id))[0], 'u')
    const token = path.slice('/t/u/'.length)
    const bytes = Uint8Array.from(atob(token.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.codePointAt(0) ?? 0)
    const forged = bytes.map((byte, at) => (at === 3 ? byte ^ 1 : byte))
    const swapped = btoa(String.fromCodePoint(...forged))
      .replaceAll('+', '-')
      .replaceAll('/', '_')
      .replaceAll('=', '')
    const unknown = await visit('/t/u/x', { method: 'POST' })
    for (const wrongToken of [swapped, token.slice(0, -2), `${token}AA`, encodeURIComponent(`${token} `)])
      for (const method of ['GET', 'POST']) {
        const reply = await visit(`/t/u/${wrongToken}`, { method })
        expect([wrongToken, reply.status, reply.text, reply.enqueued]).toEqual([wrongToken, 404, unknown.text, []])
      }
    const rows = await db.all(sql`select 1 from suppressions where organization_id = ${crowd.organization}`)
    expect(rows).toEqual([])
    expect((await visit(path, { method: 'POST' })).status).toBe(200)
  })
})

describe('a hard bounce and a complaint about one address', () => {
  it('leave the hard bounce as the reason, in either order and when both are reported twice', async () => {
    const crowd = await seedCrowd(1)
    const { campaign } = await seedReady(crowd)
    await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    await runUntil(campaign.id, ['sent'])
    const n = crowd.people[0]?.seq ?? 0
    const event = (type: 'complained' | 'bounced', bounce: 'hard' | null) => ({
      type: 'campaign.events' as const,
      campaign_id: campaign.id,
      events: [{ n, type, at: Date.now(), bounce }],
    })
    const reason = async () =>
      await db.all(
        sql<{ reason: string }>`select reason from suppressions where organization_id = ${crowd.organization}`,
      )
    await applyEvents(createJob(), [event('complained', null)])
    expect(await reason()).toEqual([{ reason: 'complaint' }])
    await applyEvents(createJob(), [event('bounced', 'hard')])
    expect(await reason()).toEqual([{ reason: 'hard_bounce' }])
    await applyEvents(createJob(), [event('complained', null)])
    expect(await reason()).toEqual([{ reason: 'hard_bounce' }])
  })
})
