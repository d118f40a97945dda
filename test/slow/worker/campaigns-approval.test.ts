import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { LostRace } from '../../../src/domain/errors.ts'
import { approveCampaign } from '../../../src/modules/campaigns/approval/decide.ts'
import { findAuthorizedCampaign } from '../../../src/modules/campaigns/checks.ts'
import { call, create, get, patch, post, rootToken } from '../../support/api.ts'
import { type ApprovalTeam, givenApprovalTeam, parts } from '../../support/campaign-approvals.ts'
import { createJob, listCaptured, loadCampaign, runAlarm, runUntil } from '../../support/campaigns.ts'
import { interruptBefore } from '../../support/context.ts'
import { finishErasures } from '../../support/personal-data.ts'
import type { Member } from '../../support/seeding/members.ts'
import { inRecipientStore, seedCrowd } from '../../support/seeding/messaging/campaigns.ts'
import { aBlock } from '../../support/seeding/messaging/email-messages.ts'
import { db, write } from '../../support/seeding/rows.ts'

let team: ApprovalTeam
beforeEach(async () => {
  team = await givenApprovalTeam()
})

const readCampaign = async (member: Member = team.author) => (await get(team.path, member.token)).body

const expectRefused = (reply: { status: number; body: unknown }, status: string | null) =>
  expect(reply).toMatchObject({ status: 409, body: { code: 'approval_required', approval_status: status } })

describe('an organisation that requires approvals', () => {
  it('is told by its admins alone, and the change stands in the audit log', async () => {
    const organization = `/v1/organizations/${team.crowd.organization}`
    expect((await patch(organization, { requires_campaign_approval: false }, team.reviewer.token)).status).toBe(403)
    expect((await get(organization, team.author.token)).body.requires_campaign_approval).toBe(true)
    const [entry] = (await get(`/v1/audit-log?organization_id=${team.crowd.organization}&action=updateOrganization`))
      .body.results
    expect(entry.changes).toMatchObject([{ field: 'requires_campaign_approval', before: false, after: true }])
  })

  it('refuses to schedule and to send until another account has approved', async () => {
    expectRefused(await team.sendNow(), null)
    expectRefused(await team.schedule(), null)
    expect((await readCampaign()).allowed_actions).toEqual(['update', 'delete', 'request_approval'])

    expect((await team.request(team.author, { note: 'New prices' })).body.approval).toMatchObject({
      status: 'requested',
      requested_by: team.author.account_id,
      request_note: 'New prices',
      decided_by: null,
      decided_at: null,
      note: null,
    })
    expectRefused(await team.sendNow(team.reviewer), 'requested')
    expect((await readCampaign(team.author)).allowed_actions).toEqual(['update', 'delete', 'reject'])
    expect((await readCampaign(team.reviewer)).allowed_actions).toEqual(['update', 'delete', 'approve', 'reject'])

    const approved = await team.approve(team.reviewer, { note: 'Fine' })
    expect(approved.body.approval).toMatchObject({
      status: 'approved',
      requested_by: team.author.account_id,
      request_note: 'New prices',
      decided_by: team.reviewer.account_id,
      note: 'Fine',
    })
    expect((await readCampaign()).allowed_actions).toEqual(['update', 'delete', 'reject', 'schedule', 'send_now'])
    expect(
      (await get(`/v1/campaigns?edition_id=${team.crowd.edition}`, team.author.token)).body.results[0],
    ).toMatchObject({
      approval: approved.body.approval,
      allowed_actions: ['update', 'delete', 'reject', 'schedule', 'send_now'],
    })
    expect((await team.schedule()).status).toBe(200)
    expect((await team.sendNow()).status).toBe(200)
    await runUntil(team.ready.campaign.id, ['sent'])
    expect(await listCaptured(team.ready.campaign.id)).toHaveLength(2)
  })

  it('writes what happened into the audit log', async () => {
    await team.getApproved()
    const { results } = (
      await get(
        `/v1/audit-log?organization_id=${team.crowd.organization}&resource_id=${team.ready.campaign.id}&ordering=created`,
      )
    ).body
    expect(results.map(({ action, actor }: { action: string; actor: { id: string } }) => [action, actor.id])).toEqual([
      ['requestCampaignApproval', team.author.account_id],
      ['approveCampaign', team.reviewer.account_id],
    ])
    expect(results[1].changes).toMatchObject([
      { field: 'approval', before: { status: 'requested' }, after: { status: 'approved' } },
    ])
  })

  it('answers campaigns of organisations that do not require it as before', async () => {
    await team.requireApproval(false)
    expect(await readCampaign()).toMatchObject({
      approval: null,
      allowed_actions: ['update', 'delete', 'schedule', 'send_now'],
    })
    expect((await team.sendNow()).status).toBe(200)
  })
})

describe('requestCampaignApproval', () => {
  it('is refused while a request waits and after it was approved', async () => {
    await team.request()
    expect(await team.request(team.reviewer)).toMatchObject({
      status: 409,
      body: { code: 'invalid_transition', current_status: 'requested', allowed_transitions: ['approved', 'rejected'] },
    })
    await team.approve()
    expect((await team.request()).body).toMatchObject({ current_status: 'approved', allowed_transitions: ['rejected'] })
    expect((await readCampaign()).approval.requested_by).toBe(team.author.account_id)
  })

  it('can be repeated after a rejection and after a change', async () => {
    await team.request()
    await team.reject(team.reviewer)
    expect((await team.request(team.author, { note: 'Again' })).body.approval).toMatchObject({
      status: 'requested',
      request_note: 'Again',
      decided_by: null,
      note: null,
    })
    await team.change('message', team.author, 'Other')
    expect((await team.request()).body.approval).toMatchObject({ status: 'requested', request_note: null })
  })

  it('is refused for a campaign that runs or has ended', async () => {
    for (const status of ['calculating', 'sending', 'sent', 'cancelled']) {
      await write(sql`update campaigns set status = ${status} where id = ${team.ready.campaign.id}`)
      expect((await team.request()).body).toMatchObject({ code: 'invalid_transition', current_status: status })
    }
  })

  it('makes one request with a repeated Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'once' }
    const send = () => call(`${team.path}/request-approval`, { token: team.author.token, body: {}, headers })
    const [first, second] = [await send(), await send()]
    expect([first.status, second.text]).toEqual([200, first.text])
    const { version } = await loadCampaign(team.ready.campaign.id)
    expect(version).toBe(2)
  })

  it('can be made before the organisation requires approvals', async () => {
    await team.requireApproval(false)
    await team.getApproved()
    await team.requireApproval(true)
    expect((await team.sendNow()).status).toBe(200)
  })
})

describe('approveCampaign', () => {
  it('is refused to the account that requested it, whatever its token', async () => {
    await team.request()
    const { token } = await create<{ token: string }>('/v1/auth/tokens', { name: 'second', member_id: team.author.id })
    for (const same of [team.author, { token }])
      expect(await team.approve(same)).toMatchObject({ status: 409, body: { code: 'four_eyes_required' } })
    expect((await readCampaign()).approval.status).toBe('requested')
    expect((await team.approve(team.reviewer)).status).toBe(200)
  })

  it('is refused to the superuser who requested it', async () => {
    await team.request({ token: rootToken })
    expect((await team.approve({ token: rootToken })).body.code).toBe('four_eyes_required')
    expect((await team.approve()).status).toBe(200)
  })

  it.each(parts)('is refused to the account that last changed the %s', async (part) => {
    await team.change('campaign', team.admin, 'Earlier')
    expect((await team.change(part, team.reviewer, 'Changed')).status).toBe(200)
    await team.request()
    expect((await readCampaign(team.reviewer)).allowed_actions).not.toContain('approve')
    expect(await team.approve(team.reviewer)).toMatchObject({ status: 409, body: { code: 'four_eyes_required' } })
    expect((await team.approve(team.admin)).status).toBe(200)
    expect((await readCampaign()).approval.decided_by).toBe(team.admin.account_id)
  })

  it('is refused to the account that created the campaign, until another one changes it', async () => {
    const { id } = await create<{ id: string }>(
      '/v1/campaigns',
      {
        organization_id: team.crowd.organization,
        edition_id: team.crowd.edition,
        segment_id: team.ready.segment.id,
        name: 'Mine',
        channel: 'email',
        email_message_id: team.ready.message,
      },
      team.reviewer.token,
    )
    team.path = `/v1/campaigns/${id}`
    await team.request()
    expect((await team.approve(team.reviewer)).body.code).toBe('four_eyes_required')
    await team.change('campaign', team.admin, 'Ours')
    await team.request()
    expect((await team.approve(team.admin)).body.code).toBe('four_eyes_required')
    expect((await team.approve(team.reviewer)).status).toBe(200)
  })

  it('needs a request, and is given once', async () => {
    expect(await team.approve()).toMatchObject({
      status: 409,
      body: { code: 'invalid_transition', current_status: null, allowed_transitions: ['requested'] },
    })
    await team.getApproved()
    expect((await team.approve(team.admin)).body).toMatchObject({
      code: 'invalid_transition',
      current_status: 'approved',
    })
    expect((await readCampaign()).approval.decided_by).toBe(team.reviewer.account_id)
  })

  it('approves nothing else than the campaign with the ETag in If-Match', async () => {
    await team.request()
    const { headers } = await get(team.path, team.reviewer.token)
    const etag = { 'if-match': headers.get('etag') ?? '' }
    await team.change('message', team.author, 'Another text')
    await team.request()
    const approveRead = () => call(`${team.path}/approve`, { token: team.reviewer.token, body: {}, headers: etag })
    // Both requests may have been made in one millisecond.
    await write(sql`update campaign_approvals set requested_at = requested_at + 1`)
    expect((await approveRead()).status).toBe(412)
  })

  it.each(parts)('is lost when the %s changes at the same time', async (part) => {
    await team.request()
    const ctx = interruptBefore(async () => void (await team.change(part, team.author, 'Meanwhile')))
    const attempt = async () => approveCampaign(ctx, await findAuthorizedCampaign(ctx, team.ready.campaign.id), {})
    await expect(attempt()).rejects.toBeInstanceOf(LostRace)
    await expect(attempt()).rejects.toMatchObject({ code: 'invalid_transition' })
    expect((await readCampaign()).approval.status).toBe('outdated')
  })

  it('is given by one of two who approve and reject at the same time', async () => {
    await team.request()
    const replies = await Promise.all([team.approve(team.reviewer), team.approve(team.admin)])
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409])
  })
})

describe('rejectCampaign', () => {
  it('needs a note, and takes a request or an approval away', async () => {
    await team.request()
    for (const body of [{}, { note: '' }, { note: ' ' }, { note: null }, { note: 'x'.repeat(1001) }])
      expect((await team.reject(team.reviewer, body)).status).toBe(400)
    const rejected = await team.reject(team.author, { note: 'The wrong day' })
    expect(rejected.body.approval).toMatchObject({
      status: 'rejected',
      decided_by: team.author.account_id,
      note: 'The wrong day',
    })
    expectRefused(await team.sendNow(), 'rejected')
    expect((await team.approve()).body).toMatchObject({
      current_status: 'rejected',
      allowed_transitions: ['requested'],
    })
    await team.change('message', team.author, 'Right day')
    expect((await readCampaign()).approval.status).toBe('rejected')
    await team.getApproved()
    expect((await team.reject(team.reviewer)).status).toBe(200)
    expectRefused(await team.schedule(), 'rejected')
  })

  it('keeps a campaign that stopped half-way from reaching the others, until it is approved again', async () => {
    await team.getApproved()
    await team.sendNow()
    const { id } = team.ready.campaign
    await runUntil(id, ['sending'], createJob(), false)
    await inRecipientStore(id, (store) => store.changeRecord({ status: 'failed', projected_at: 0 }))
    await runAlarm(id)
    expect((await readCampaign()).allowed_actions).toContain('retry_failed')
    await team.change('message', team.author, 'Only what was approved is sent, so this changes nothing')
    expect((await readCampaign()).allowed_actions).toContain('retry_failed')
    expect((await team.reject(team.reviewer)).status).toBe(409)
    await team.getApproved()
    expect((await team.reject(team.reviewer)).status).toBe(200)
    expect((await readCampaign()).allowed_actions).not.toContain('retry_failed')
    const retry = () => post(`${team.path}/retry-failed`, {}, team.author.token)
    expectRefused(await retry(), 'rejected')
    expect(await listCaptured(id)).toEqual([])
    await team.getApproved()
    expect((await retry()).status).toBe(200)
    expect((await runUntil(id, ['sent'])).sent_count).toBe(2)
  })

  it('lets a scheduled campaign fail at its start', async () => {
    await team.getScheduled()
    await team.reject(team.reviewer)
    await team.startDue()
    expect(await loadCampaign(team.ready.campaign.id)).toMatchObject({ status: 'failed' })
  })
})

describe('an approved campaign whose content changes', () => {
  it.each(parts)('needs a new approval after a change of the %s', async (part) => {
    await team.getApproved()
    expect((await team.change(part, team.author, 'Changed')).status).toBe(200)
    const { approval, allowed_actions } = await readCampaign()
    expect(approval).toMatchObject({ status: 'outdated', decided_by: team.reviewer.account_id })
    expect(allowed_actions).toEqual(['update', 'delete', 'request_approval'])
    expectRefused(await team.sendNow(), 'outdated')
    expectRefused(await team.schedule(), 'outdated')
    await team.getApproved()
    expect((await team.sendNow()).status).toBe(200)
  })

  const otherChanges: [string, () => [string, object]][] = [
    ['the text of an SMS', () => [team.path, { channel: 'sms', sms_body: { en: 'Doors' } }]],
    ['the subject', () => [`/v1/email-messages/${team.ready.message}`, { subject: { en: 'Other', da: 'Andet' } }]],
    ['the type of the segment', () => [`/v1/segments/${team.ready.segment.id}`, { communication_type: 'marketing' }]],
    ['the edition of the segment', () => [`/v1/segments/${team.ready.segment.id}`, { edition_id: null }]],
    ['the address for replies', () => [`/v1/editions/${team.crowd.edition}`, { email_reply_to: 'other@example.com' }]],
    ['the sender of SMS', () => [`/v1/editions/${team.crowd.edition}`, { sms_sender_name: 'Platform' }]],
    ['the name of the edition', () => [`/v1/editions/${team.crowd.edition}`, { name: 'Free tickets' }]],
    ['the name of the organisation', () => [`/v1/organizations/${team.crowd.organization}`, { name: 'Free tickets' }]],
  ]
  it.each(otherChanges)('needs a new approval after a change of %s', async (_, describeChange) => {
    await team.getApproved()
    const [where, body] = describeChange()
    expect((await patch(where, body, team.admin.token)).status).toBe(200)
    expect((await readCampaign(team.reviewer)).approval.status).toBe('outdated')
    expect((await team.sendNow(team.reviewer)).status).toBe(409)
  })

  it('keeps its approval when a person is erased whose address its conditions and its segment name', async () => {
    const [person] = team.crowd.people
    const condition = `user.email != "${person?.email}"`
    const message = `/v1/email-messages/${team.ready.message}`
    const blocks = [aBlock('For everybody'), { ...aBlock('For others', 'blk_2'), condition }]
    expect((await patch(message, { blocks }, team.admin.token)).status).toBe(200)
    const segment = `/v1/segments/${team.ready.segment.id}`
    expect((await patch(segment, { expression: condition }, team.reviewer.token)).status).toBe(200)
    await team.getScheduled(team.admin)
    expect((await post(`/v1/user/${person?.id}/erase`, {})).status).toBeLessThan(300)
    await finishErasures()
    for (const path of [message, segment]) expect((await get(path)).text).not.toContain(person?.email)
    expect((await readCampaign()).approval.status).toBe('approved')
    // An erasure is no change of those who had changed the message before.
    await team.reject(team.author)
    await team.request()
    expect((await team.approve(team.reviewer)).body.code).toBe('four_eyes_required')
    expect((await team.approve(team.admin)).status).toBe(200)
  })

  it('needs a new approval after its event is renamed', async () => {
    await team.getScheduled()
    const [edition] = await db.all(
      sql<{ event_id: string }>`select event_id from editions where id = ${team.crowd.edition}`,
    )
    const reply = await patch(`/v1/events/${edition?.event_id}`, { name: 'Another festival' }, team.admin.token)
    expect(reply.body.warnings).toMatchObject([{ code: 'approval_lost' }])
    expect((await readCampaign()).approval.status).toBe('outdated')
    expect((await team.request(team.reviewer)).status).toBe(200)
    expect((await team.approve(team.admin)).body.code).toBe('four_eyes_required')
  })

  it('keeps its approval when nothing is changed, and when it is scheduled for another time', async () => {
    await team.getScheduled()
    const { name } = await loadCampaign(team.ready.campaign.id)
    expect((await patch(team.path, { name }, team.author.token)).body.warnings).toBeUndefined()
    await patch(`/v1/segments/${team.ready.segment.id}`, { name: 'Renamed' }, team.author.token)
    await patch(`/v1/editions/${team.crowd.edition}`, { metadata: { a: 1 } }, team.author.token)
    expect((await post(`/v1/segments/${team.ready.segment.id}/recalculate`, {}, team.author.token)).status).toBe(200)
    expect((await team.schedule()).status).toBe(200)
    expect((await readCampaign()).approval.status).toBe('approved')
  })

  it.each(parts)('says so to whoever changes the %s of a scheduled campaign', async (part) => {
    await team.change(part, team.author, 'Before')
    await team.getScheduled()
    const reply = await team.change(part, team.author, 'Changed')
    expect(reply).toMatchObject({ status: 200, body: { warnings: [{ code: 'approval_lost' }] } })
    expect(reply.body.warnings[0].detail).toContain('1 scheduled campaign.')
    // The warning is no part of the resource, and is given once.
    expect((await team.change(part, team.author, 'Changed again')).body.warnings).toBeUndefined()
    await team.startDue()
    expect(await loadCampaign(team.ready.campaign.id)).toMatchObject({
      status: 'failed',
      sent_count: 0,
      error_message: expect.stringContaining('approval_required'),
    })
    expect(await listCaptured(team.ready.campaign.id)).toEqual([])
  })

  it('repeats its warning with a repeated Idempotency-Key', async () => {
    await team.getScheduled()
    const headers = { 'idempotency-key': 'rename' }
    const rename = () =>
      call(team.path, { method: 'PATCH', token: team.author.token, body: { name: 'Renamed' }, headers })
    const [first, second] = [await rename(), await rename()]
    expect(first.body.warnings).toHaveLength(1)
    expect(second.text).toBe(first.text)
  })

  it('warns nobody about campaigns of other organisations, and of drafts', async () => {
    await team.getApproved()
    expect((await team.change('message', team.author, 'Changed')).body.warnings).toBeUndefined()
    await team.getScheduled()
    const other = await seedCrowd(1)
    const reply = await patch(`/v1/editions/${other.edition}`, { email_sender_name: 'Another' })
    expect([reply.status, reply.body.warnings]).toEqual([200, undefined])
    expect((await readCampaign()).approval.status).toBe('approved')
  })
})
