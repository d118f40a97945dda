import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { segments } from '../../src/db/schema/segments.ts'
import { update } from '../../src/db/write.ts'
import { LostRace } from '../../src/domain/errors.ts'
import { createFailure } from '../../src/domain/messaging/messaging.ts'
import type { OutboundEmail } from '../../src/gateways/email/email.ts'
import { findAuthorizedCampaign } from '../../src/modules/campaigns/checks.ts'
import { startAndReadRequestedRun } from '../../src/modules/campaigns/delivery/due.ts'
import { scheduleCampaign } from '../../src/modules/campaigns/transitions.ts'
import { deleteEmailMessage } from '../../src/modules/email-messages/delete.ts'
import { findMessage } from '../../src/modules/email-messages/queries.ts'
import { get, patch, post, remove } from '../support/api.ts'
import { listCaptured, createJob, loadCampaign, runUntil } from '../support/campaigns.ts'
import { interruptBefore } from '../support/context.ts'
import { givenMember } from '../support/seeding/members.ts'
import {
  seedCampaignInStatus,
  type Crowd,
  type ReadyCampaign,
  seedCrowd,
  seedReady,
} from '../support/seeding/messaging/campaigns.ts'
import { write, formatHourFromNow } from '../support/seeding/rows.ts'

let crowd: Crowd
let manager: string
beforeAll(async () => {
  crowd = await seedCrowd(3)
  manager = (await givenMember({ id: crowd.organization }, 'manager', crowd.edition)).token
})

const buildPath = (id: string, more = '') => `/v1/campaigns/${id}${more}`
const sendNow = async (id: string) => expect((await post(buildPath(id, '/send-now'), {})).status).toBe(200)
const moveSegment = (id: string, edition_id: string | null) => write(update(segments, { edition_id }, sql`id = ${id}`))
const findListed = async (id: string) => {
  const { body } = await get(`/v1/campaigns?edition_id=${crowd.edition}&page_size=500`)
  return body.results.find((campaign: { id: string }) => campaign.id === id)
}

async function givenSent(): Promise<ReadyCampaign> {
  const ready = await seedReady(crowd)
  await sendNow(ready.campaign.id)
  await runUntil(ready.campaign.id, ['sent'])
  return ready
}

/** Makes a campaign whose provider refused all recipients for a temporary reason. */
async function givenFailed(): Promise<ReadyCampaign> {
  const ready = await seedReady(crowd)
  await sendNow(ready.campaign.id)
  const job = createJob()
  const send = async (messages: readonly OutboundEmail[]) =>
    messages.map(() => createFailure('configuration', 'invalid_api_key', ''))
  await runUntil(ready.campaign.id, ['failed'], { ...job, email: { ...job.email, send } })
  return ready
}

const starts = () =>
  [
    ['/send-now', {}],
    ['/schedule', { scheduled_at: formatHourFromNow() }],
  ] as const

describe('the segment of a campaign', () => {
  it('is shown as it was at the start, after any later change', async () => {
    const { campaign, segment } = await givenSent()
    const snapshot = {
      id: segment.id,
      name: segment.name,
      communication_type: 'transactional',
      communication_channel: 'email',
      status: 'ready',
      user_count: 3,
    }
    const readSegments = async () => [
      (await get(buildPath(campaign.id))).body.segment,
      (await findListed(campaign.id)).segment,
    ]
    expect(await readSegments()).toEqual([snapshot, snapshot])
    const change = { name: 'Renamed', communication_type: 'marketing', communication_channel: 'sms' }
    expect((await patch(`/v1/segments/${segment.id}`, change)).body).toMatchObject({ ...change, user_count: 0 })
    expect(await readSegments()).toEqual([snapshot, snapshot])
    expect((await remove(`/v1/segments/${segment.id}`)).status).toBe(204)
    expect(await readSegments()).toEqual([snapshot, snapshot])
  })

  it('is shown as it is now while the campaign is a draft, scheduled or calculating', async () => {
    for (const status of ['draft', 'scheduled', 'calculating'] as const) {
      const id = await seedCampaignInStatus(crowd, status)
      const { segment_id } = await loadCampaign(id)
      await patch(`/v1/segments/${segment_id}`, { name: 'Renamed' })
      expect((await get(buildPath(id))).body.segment.name).toBe('Renamed')
    }
  })

  it('keeps its state of the first start, also when a schedule is missed or cancelled', async () => {
    const now = Date.now()
    const due = await seedReady(crowd, { status: 'scheduled', scheduled_at: now - 1000 })
    const missed = await seedReady(crowd, { status: 'scheduled', scheduled_at: now - 30 * 3_600_000 })
    const cancelled = await seedReady(crowd, { status: 'scheduled', scheduled_at: now + 3_600_000 })
    expect((await startAndReadRequestedRun(createJob(), due.campaign.id))?.status).toBe('calculating')
    expect((await startAndReadRequestedRun(createJob(), missed.campaign.id))?.status).toBe('failed')
    expect((await post(buildPath(cancelled.campaign.id, '/cancel'), {})).body.status).toBe('cancelled')
    for (const { campaign, segment } of [due, missed, cancelled]) {
      const snapshot = (await loadCampaign(campaign.id)).segment_snapshot
      expect(snapshot).toMatchObject({ edition_id: crowd.edition, name: segment.name, communication_channel: 'email' })
    }
    await patch(`/v1/segments/${missed.segment.id}`, { name: 'Renamed' })
    expect((await get(buildPath(missed.campaign.id))).body.segment.name).toBe(missed.segment.name)
  })
})

describe('a campaign to the whole organisation whose segment then moves to an edition', () => {
  it('answers 403 to roles of the edition who list its recipients or retry it', async () => {
    const { campaign, segment } = await seedReady(crowd)
    await moveSegment(segment.id, null)
    await sendNow(campaign.id)
    await runUntil(campaign.id, ['sent'])
    await moveSegment(segment.id, crowd.edition)
    for (const reply of [
      await get(buildPath(campaign.id, '/recipients'), manager),
      await post(buildPath(campaign.id, '/retry-failed'), {}, manager),
    ])
      expect(reply).toMatchObject({ status: 403, body: { code: 'permission_denied', required_roles: ['OA', 'OM'] } })
    expect((await get(buildPath(campaign.id), manager)).status).toBe(200)
  })

  it('stays closed to roles of the edition when it is sent again to the edition', async () => {
    const { campaign, segment } = await seedReady(crowd, { status: 'failed' })
    await moveSegment(segment.id, null)
    await sendNow(campaign.id)
    await runUntil(campaign.id, ['sent'])
    await write(sql`update campaigns set status = 'failed' where id = ${campaign.id}`)
    await moveSegment(segment.id, crowd.edition)
    for (const [more, body] of starts())
      expect((await post(buildPath(campaign.id, more), body, manager)).status).toBe(403)
    expect((await post(buildPath(campaign.id, '/schedule'), { scheduled_at: formatHourFromNow() })).status).toBe(200)
    expect((await get(buildPath(campaign.id, '/recipients'), manager)).status).toBe(403)
    await write(sql`update campaigns set scheduled_at = ${Date.now() - 1} where id = ${campaign.id}`)
    await startAndReadRequestedRun(createJob(), campaign.id)
    expect((await loadCampaign(campaign.id)).segment_snapshot).toMatchObject({ edition_id: null })
    expect((await get(buildPath(campaign.id, '/recipients'), manager)).status).toBe(403)
  })
})

describe('a campaign to an edition whose segment then moves to the whole organisation', () => {
  it('stays readable for roles of the edition, who cannot send it again', async () => {
    const { campaign, segment } = await givenFailed()
    await moveSegment(segment.id, null)
    expect((await get(buildPath(campaign.id, '/recipients'), manager)).body.count).toBe(3)
    for (const [more, body] of starts())
      expect((await post(buildPath(campaign.id, more), body, manager)).status).toBe(403)
    expect((await post(buildPath(campaign.id, '/retry-failed'), {}, manager)).status).toBe(200)
    expect(await runUntil(campaign.id, ['sent'])).toMatchObject({ sent_count: 3, total_recipients: 3 })
  })
})

describe('the message of a campaign', () => {
  it.each(['draft', 'scheduled', 'calculating', 'sending'] as const)(
    'cannot be deleted while the campaign is %s',
    async (status) => {
      const id = await seedCampaignInStatus(crowd, status)
      const { email_message_id, name } = await loadCampaign(id)
      const reply = await remove(`/v1/email-messages/${email_message_id}`)
      expect(reply).toMatchObject({
        status: 409,
        body: { code: 'email_message_in_use', related_objects: [{ type: 'campaign', id, name }] },
      })
      expect((await get(`/v1/email-messages/${email_message_id}`)).status).toBe(200)
    },
  )

  it.each(['sent', 'failed', 'cancelled'] as const)(
    'can be deleted once the campaign is %s, and the campaign still names it',
    async (status) => {
      const id = await seedCampaignInStatus(crowd, status)
      const before = (await get(buildPath(id))).text
      const message = (await loadCampaign(id)).email_message_id ?? ''
      expect((await remove(`/v1/email-messages/${message}`, manager)).status).toBe(204)
      expect((await get(`/v1/email-messages/${message}`)).status).toBe(404)
      expect((await get(buildPath(id))).text).toBe(before)
      expect(JSON.parse(before).email_message_id).toBe(message)
    },
  )

  it('is sent from the campaign’s own copy when it and the segment are deleted after the start', async () => {
    const { campaign, segment, message } = await givenFailed()
    expect((await remove(`/v1/email-messages/${message}`)).status).toBe(204)
    expect((await remove(`/v1/segments/${segment.id}`)).status).toBe(204)
    expect((await post(buildPath(campaign.id, '/retry-failed'), {}, manager)).status).toBe(200)
    expect(await runUntil(campaign.id, ['sent'])).toMatchObject({ sent_count: 3 })
    const captured = await listCaptured(campaign.id)
    expect(captured.every(({ html }) => html.includes('Hello Astrid'))).toBe(true)
    expect((await get(buildPath(campaign.id))).body).toMatchObject({
      email_message_id: message,
      segment: { id: segment.id, name: segment.name, user_count: 3 },
    })
  })

  it('must exist again before a failed campaign can be started again', async () => {
    const { campaign, message } = await givenFailed()
    await remove(`/v1/email-messages/${message}`)
    for (const [more, body] of starts()) {
      const reply = await post(buildPath(campaign.id, more), body)
      expect([reply.status, reply.body.errors]).toMatchObject([
        409,
        [{ pointer: '#/email_message_id', code: 'does_not_exist' }],
      ])
    }
    expect(await loadCampaign(campaign.id)).toMatchObject({ status: 'failed', run: 1 })
  })

  it('cannot be deleted while its campaign is scheduled at the same time', async () => {
    const failed = await seedCampaignInStatus(crowd, 'failed')
    const message = (await loadCampaign(failed)).email_message_id ?? ''
    const late = interruptBefore(async () => void (await remove(`/v1/email-messages/${message}`)))
    await expect(
      scheduleCampaign(late, await findAuthorizedCampaign(late, failed), { scheduled_at: formatHourFromNow() }),
    ).rejects.toBeInstanceOf(LostRace)
    const secondCampaign = await seedCampaignInStatus(crowd, 'failed')
    const other = (await loadCampaign(secondCampaign)).email_message_id ?? ''
    const ctx = interruptBefore(() =>
      write(sql`update campaigns set status = 'scheduled' where id = ${secondCampaign}`),
    )
    await expect(deleteEmailMessage(ctx, await findMessage(ctx, other))).rejects.toBeInstanceOf(LostRace)
    expect(await loadCampaign(secondCampaign)).toMatchObject({ email_message_id: other, status: 'scheduled' })
    expect((await get(`/v1/email-messages/${other}`)).status).toBe(200)
  })
})
