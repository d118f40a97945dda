import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { LostRace } from '../../src/domain/errors.ts'
import { findAuthorizedCampaign } from '../../src/modules/campaigns/checks.ts'
import { advanceAudience, type AudienceProgress } from '../../src/modules/campaigns/index.ts'
import { scheduleCampaign, sendCampaignNow } from '../../src/modules/campaigns/transitions.ts'
import { get, patch, post, remove } from '../support/api.ts'
import { type ApprovalTeam, givenApprovalTeam, parts } from '../support/campaign-approvals.ts'
import { createJob, listCaptured, loadCampaign, runUntil } from '../support/campaigns.ts'
import { interruptBefore } from '../support/context.ts'
import { givenMember, type Member } from '../support/seeding/members.ts'
import { seedCrowd } from '../support/seeding/messaging/campaigns.ts'
import { db, formatHourFromNow, write } from '../support/seeding/rows.ts'

let team: ApprovalTeam
beforeEach(async () => {
  team = await givenApprovalTeam()
})

const readCampaign = async (member: Member = team.author) => (await get(team.path, member.token)).body

describe('the start of a campaign that needs an approval', () => {
  const starts = {
    schedule: scheduleCampaign,
    send: sendCampaignNow,
  }
  it.each(parts)('is refused when the %s changes at the same time', async (part) => {
    for (const start of [starts.send, starts.schedule] as const) {
      await team.getApproved()
      const ctx = interruptBefore(async () => void (await team.change(part, team.author, `Changed ${start.name}`)))
      const attempt = async () => {
        const campaign = await findAuthorizedCampaign(ctx, team.ready.campaign.id)
        return start === starts.send
          ? starts.send(ctx, campaign)
          : starts.schedule(ctx, campaign, { scheduled_at: formatHourFromNow() })
      }
      await expect(attempt()).rejects.toBeInstanceOf(LostRace)
      await expect(attempt()).rejects.toMatchObject({ code: 'approval_required' })
      expect((await loadCampaign(team.ready.campaign.id)).status).toBe('draft')
    }
  })

  it('fails if the segment changes before it is calculated, and reaches nobody', async () => {
    await team.getApproved()
    expect((await team.sendNow()).status).toBe(200)
    await team.change('segment', team.author, 'Anybody')
    const failed = await runUntil(team.ready.campaign.id, ['failed', 'sent'])
    expect(failed).toMatchObject({ status: 'failed', error_message: expect.stringContaining('approval_required') })
    expect(await listCaptured(team.ready.campaign.id)).toEqual([])
  })

  it('is not stopped by changes of the message and the sender after send-now has copied them', async () => {
    await team.getApproved()
    expect((await team.sendNow()).status).toBe(200)
    for (const part of ['message', 'sender'] as const) await team.change(part, team.author, 'Too late')
    await runUntil(team.ready.campaign.id, ['sent'])
    const messages = await listCaptured(team.ready.campaign.id)
    expect(messages.map(({ body, sender }) => `${body}${sender}`).join()).not.toContain('Too late')
  })

  /** A step of the first run, in which something happens once before what it decides is stored. */
  async function advance(
    step: 'content' | 'segment',
    segment_epoch: number,
    happen: () => Promise<unknown>,
  ): Promise<AudienceProgress> {
    const { db: jobDb } = createJob()
    const batch = jobDb.batch.bind(jobDb)
    let hasHappened = false
    jobDb.batch = async (statements) => {
      if (!hasHappened) await happen()
      hasHappened = true
      return batch(statements)
    }
    const { id } = team.ready.campaign
    return advanceAudience(createJob({ db: jobDb }), { campaign_id: id, run: 1, step, segment_epoch, added_up_to: 0 })
  }

  it.each(['message', 'segment', 'sender'] as const)(
    'copies nothing when the %s changes while a scheduled campaign starts',
    async (part) => {
      await team.getScheduled()
      const { id } = team.ready.campaign
      await write(sql`update campaigns set status = 'calculating', run = 1 where id = ${id}`)
      const progress = await advance('content', 0, () => team.change(part, team.author, 'Not approved'))
      expect(progress).toMatchObject({ type: 'failed', error: expect.stringContaining('approval_required') })
      expect(await db.all(sql`select 1 from campaign_contents where campaign_id = ${id}`)).toEqual([])
    },
  )

  it('lists nobody when the segment changes between its calculation and the list', async () => {
    await team.getApproved()
    expect((await team.sendNow()).status).toBe(200)
    const { id } = team.ready.segment
    const begin = await advance('segment', 0, async () => undefined)
    expect(begin).toMatchObject({ type: 'segment_calculating', epoch: 1 })
    const calculate = await advance('segment', 1, async () => undefined)
    expect(calculate).toMatchObject({ type: 'segment_calculating' })
    expect(await db.all(sql`select status from segments where id = ${id}`)).toEqual([{ status: 'ready' }])
    const change = () => team.change('segment', team.author, 'Anybody')
    expect(await advance('segment', 1, change)).toMatchObject({ type: 'segment_calculating' })
    expect(await advance('segment', 1, async () => undefined)).toMatchObject({
      type: 'failed',
      error: expect.stringContaining('approval_required'),
    })
  })

  it('succeeds at the time of its schedule with what was approved', async () => {
    await team.getScheduled()
    await team.startDue()
    expect((await runUntil(team.ready.campaign.id, ['sent', 'failed'])).status).toBe('sent')
  })

  it('is refused when a paused campaign whose time has passed is resumed without its approval', async () => {
    await team.getScheduled()
    const { token } = team.author
    expect((await post(`${team.path}/pause`, {}, token)).status).toBe(200)
    await team.startDue()
    await team.change('message', team.author, 'Changed')
    const reply = await post(`${team.path}/resume`, {}, token)
    expect(reply).toMatchObject({ status: 409, body: { code: 'approval_required', approval_status: 'outdated' } })
    await team.getApproved()
    expect((await post(`${team.path}/resume`, {}, token)).body.status).toBe('calculating')
  })

  it('is missing in the plan of the campaign until it is approved', async () => {
    const listCodes = async () =>
      (await get(`${team.path}/plan`, team.author.token)).body.faults.map(({ code }: { code: string }) => code)
    expect(await listCodes()).toEqual(['approval_required'])
    await team.getApproved()
    expect(await listCodes()).toEqual([])
    await team.change('sender', team.author, 'Another')
    expect(await listCodes()).toEqual(['approval_required'])
  })

  it('does not ask for another approval of another send window', async () => {
    await team.getScheduled()
    const window = { days: ['monday'], from: '09:00', to: '17:00' }
    const reply = await patch(team.path, { send_window: window }, team.author.token)
    expect([reply.status, reply.body.warnings, reply.body.approval.status]).toEqual([200, undefined, 'approved'])
  })

  it('is allowed again for a failed campaign that has not changed, and for its retry', async () => {
    await team.getApproved()
    await write(sql`update users set is_active = 0 where organization_id = ${team.crowd.organization}`)
    await team.sendNow()
    await runUntil(team.ready.campaign.id, ['failed'])
    expect((await readCampaign()).allowed_actions).toContain('send_now')
    await write(sql`update users set is_active = 1 where organization_id = ${team.crowd.organization}`)
    expect((await team.sendNow()).status).toBe(200)
    await runUntil(team.ready.campaign.id, ['sent'])
  })

  it('fails for scheduled campaigns from before the requirement, of which the admin is told', async () => {
    await team.requireApproval(false)
    expect((await team.schedule()).status).toBe(200)
    const reply = await team.requireApproval(true)
    expect(reply.body.warnings).toMatchObject([
      { code: 'approval_required', detail: expect.stringContaining('1 scheduled campaign has no approval') },
    ])
    await team.startDue()
    expect(await loadCampaign(team.ready.campaign.id)).toMatchObject({
      status: 'failed',
      error_message: expect.stringContaining('approval_required'),
    })
  })
})

describe('the walls around approvals', () => {
  it('keep out other organisations, other editions, and roles of an edition where the segment is of everybody', async () => {
    await team.request()
    const foreigner = await givenMember({ id: (await seedCrowd(0)).organization }, 'admin')
    const second = await seedCrowd(0)
    await write(sql`update editions set organization_id = ${team.crowd.organization} where id = ${second.edition}`)
    const neighbour = await givenMember({ id: team.crowd.organization }, 'admin', second.edition)
    for (const outsider of [foreigner, neighbour]) {
      expect((await team.request(outsider)).status).toBe(404)
      expect((await team.approve(outsider)).status).toBe(404)
      expect((await team.reject(outsider)).status).toBe(404)
    }
    await write(sql`update segments set edition_id = null where id = ${team.ready.segment.id}`)
    const colleague = await givenMember({ id: team.crowd.organization }, 'admin', team.crowd.edition)
    expect((await team.approve(colleague)).status).toBe(403)
    expect((await team.request(colleague)).status).toBe(403)
    const viewer = await givenMember({ id: team.crowd.organization }, 'viewer')
    expect((await team.approve(viewer)).status).toBe(403)
    expect((await team.reject(viewer)).status).toBe(403)
  })

  it('delete an approval with its campaign', async () => {
    await team.request()
    expect((await remove(team.path, team.author.token)).status).toBe(204)
    expect(await db.all(sql`select 1 from campaign_approvals where campaign_id = ${team.ready.campaign.id}`)).toEqual(
      [],
    )
  })

  it('are closed in an archived edition', async () => {
    await team.request()
    await write(sql`update editions set is_archived = 1 where id = ${team.crowd.edition}`)
    expect((await team.approve()).body.code).toBe('edition_archived')
    expect((await team.reject(team.reviewer)).body.code).toBe('edition_archived')
    expect((await readCampaign(team.reviewer)).allowed_actions).toEqual([])
  })
})
