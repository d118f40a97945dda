import { beforeAll, describe, expect, it } from 'vitest'
import { campaignLifecycle, type CampaignStatus, isRunning } from '../../src/domain/campaigns/lifecycle.ts'
import { sweepCampaigns } from '../../src/modules/campaigns/jobs.ts'
import { get, patch, post, remove, publicUrl } from '../support/api.ts'
import { runAlarm, createJob, loadCampaign, runUntil } from '../support/campaigns.ts'
import { describeRefusal } from '../support/refusals.ts'
import {
  seedCampaignInStatus,
  type Crowd,
  seedCampaigns,
  seedCrowd,
  seedReady,
  inRecipientStore,
} from '../support/seeding/messaging/campaigns.ts'
import { seedMessage } from '../support/seeding/messaging/email-messages.ts'
import { seedSegment } from '../support/seeding/messaging/segments.ts'
import { formatHourFromNow } from '../support/seeding/rows.ts'

let crowd: Crowd
beforeAll(async () => {
  crowd = await seedCrowd(3)
})

const verbs: Record<
  string,
  { call: (id: string) => ReturnType<typeof get>; allowed: Partial<Record<CampaignStatus, string>> }
> = {
  schedule: {
    call: (id) => post(`/v1/campaigns/${id}/schedule`, { scheduled_at: formatHourFromNow() }),
    allowed: { draft: 'scheduled', scheduled: 'scheduled', failed: 'scheduled' },
  },
  'send-now': {
    call: (id) => post(`/v1/campaigns/${id}/send-now`, {}),
    allowed: { draft: 'calculating', scheduled: 'calculating', failed: 'calculating' },
  },
  cancel: {
    call: (id) => post(`/v1/campaigns/${id}/cancel`, {}),
    allowed: { scheduled: 'cancelled', calculating: 'cancelled', sending: 'cancelled' },
  },
  pause: {
    call: (id) => post(`/v1/campaigns/${id}/pause`, {}),
    allowed: { scheduled: 'scheduled', calculating: 'calculating', sending: 'sending' },
  },
  'retry-failed': { call: (id) => post(`/v1/campaigns/${id}/retry-failed`, {}), allowed: { sent: 'sending' } },
  patch: {
    call: (id) => patch(`/v1/campaigns/${id}`, { name: 'Changed' }),
    allowed: { draft: 'draft', scheduled: 'scheduled' },
  },
  delete: { call: (id) => remove(`/v1/campaigns/${id}`), allowed: { draft: '', failed: '', cancelled: '' } },
}

const actionNames: Record<string, string> = { 'send-now': 'send_now', 'retry-failed': 'retry_failed', patch: 'update' }

const table = Object.keys(verbs).flatMap((verb) => campaignLifecycle.states.map((status) => [verb, status] as const))

describe('the status of a campaign', () => {
  it.each(table)('decides whether %s is allowed: %s', async (verb, status) => {
    const expectedVerb = verbs[verb]
    const id = await seedCampaignInStatus(crowd, status, {
      total_recipients: status === 'sent' ? 3 : 0,
      sent_count: 0,
    })
    const before = await loadCampaign(id)
    const { allowed_actions } = (await get(`/v1/campaigns/${id}`)).body
    const reply = await expectedVerb?.call(id)
    const to = expectedVerb?.allowed[status]
    // A retry has nothing to do because no recipient failed.
    const isEmpty = verb === 'retry-failed' && status === 'failed'
    expect(allowed_actions.includes(actionNames[verb] ?? verb)).toBe(to !== undefined)
    if (to !== undefined) {
      expect([reply?.status, reply?.body?.status ?? '']).toEqual([to === '' ? 204 : 200, to])
      return
    }
    expect([reply?.status, reply?.body?.code]).toEqual([409, isEmpty ? 'nothing_to_retry' : 'invalid_transition'])
    expect(reply?.body.current_status).toBe(status)
    if (!isEmpty) expect(reply?.body.allowed_transitions).toEqual(campaignLifecycle.targetsOf(status))
    const after = await loadCampaign(id)
    if (!isRunning(status)) expect(after).toEqual(before)
  })
})

describe('createCampaign', () => {
  const body = async (fields: object = {}) => ({
    organization_id: crowd.organization,
    edition_id: crowd.edition,
    segment_id: (await seedSegment(crowd)).id,
    name: 'News',
    channel: 'sms',
    ...fields,
  })

  it('makes a draft from texts by language, and returns them in the default language', async () => {
    const reply = await post(
      '/v1/campaigns',
      await body({ sms_body: { da: 'Hej ł', en: 'Hello {{ customer.first_name }}' } }),
    )
    expect(reply.status).toBe(201)
    expect(reply.headers.get('location')).toBe(`${publicUrl}/v1/campaigns/${reply.body.id}`)
    expect(reply.body).toMatchObject({
      status: 'draft',
      scheduled_at: null,
      sms_body: 'Hello {{ customer.first_name }}',
      sms_body_translations: { da: 'Hej ł', en: 'Hello {{ customer.first_name }}' },
      sms_sizes: { da: { encoding: 'ucs2' }, en: { encoding: 'gsm7', parts: 1 } },
      total_recipients: 0,
      error_message: '',
    })
  })

  it('refuses texts that are not valid templates', async () => {
    const reply = await post(
      '/v1/campaigns',
      await body({ sms_body: { en: 'Hello {{ customer.first_name', da: 'fine' } }),
    )
    expect([reply.status, reply.body.errors.map((error: { pointer: string }) => error.pointer)]).toEqual([
      400,
      ['#/sms_body/en'],
    ])
  })

  it('names every id that does not exist', async () => {
    const reply = await post('/v1/campaigns', await body({ segment_id: 'seg_none', email_message_id: 'eml_none' }))
    expect(reply.body.errors).toMatchObject([
      { pointer: '#/segment_id', code: 'does_not_exist' },
      { pointer: '#/email_message_id', code: 'does_not_exist' },
    ])
  })
})

describe('updateCampaign', () => {
  it('removes the content of the channel that is no longer used', async () => {
    const id = await seedCampaignInStatus(crowd, 'draft')
    const sms = await patch(`/v1/campaigns/${id}`, { channel: 'sms', sms_body: { en: 'Hi' } })
    expect(sms.body).toMatchObject({ channel: 'sms', email_message_id: null, sms_body: 'Hi' })
    const email = await patch(`/v1/campaigns/${id}`, { channel: 'email' })
    expect(email.body).toMatchObject({ channel: 'email', email_message_id: null, sms_body: '' })
  })

  it('refuses a change that would make a scheduled campaign incomplete', async () => {
    const id = await seedCampaignInStatus(crowd, 'scheduled')
    const reply = await patch(`/v1/campaigns/${id}`, { email_message_id: null })
    expect(describeRefusal(reply)).toBe('409 campaign_not_ready: required #/email_message_id')
  })
})

describe('sendCampaignNow', () => {
  it('lists everything that keeps an e-mail campaign from being sent', async () => {
    const { campaign } = await seedReady(crowd, {
      email_message_id: await seedMessage(crowd, { type: 'other', blocks: [], subject: { da: 'Hej' } }),
    })
    const reply = await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    const at = '#/email_message_id'
    expect(describeRefusal(reply)).toBe(
      `409 campaign_not_ready: wrong_type ${at}, no_blocks ${at}, missing_subject ${at}`,
    )
  })

  it('lists everything that keeps an SMS campaign from being sent', async () => {
    const other = await seedCrowd(1, { sms_sender_name: 'Unset', is_archived: true })
    const segment = await seedSegment(other, { communication_channel: 'email' })
    const [campaign] = await seedCampaigns(other, segment.id, 1, { channel: 'sms', sms_body: { da: 'Hej' } })
    const { body } = await post(`/v1/campaigns/${campaign?.id}/send-now`, {})
    expect(body.errors.map(({ code }: { code: string }) => code)).toEqual([
      'missing_text',
      'sender_unset',
      'channel_mismatch',
      'edition_archived',
    ])
  })

  it('ends as failed with a reason when no recipient can be reached', async () => {
    const empty = await seedCrowd(0)
    const { campaign } = await seedReady(empty)
    await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    expect(await runUntil(campaign.id, ['failed', 'sent'])).toMatchObject({
      status: 'failed',
      error_message: 'Nobody in the segment can be reached.',
      total_recipients: 0,
    })
  })
})

describe('scheduleCampaign', () => {
  it('accepts local time of the edition, and returns it in the same form', async () => {
    const id = await seedCampaignInStatus(crowd, 'draft')
    const today = new Date()
    // A schedule is at most a year away, so the test uses the next June.
    const year = today.getUTCFullYear() + (today.getUTCMonth() >= 5 ? 1 : 0)
    const reply = await post(`/v1/campaigns/${id}/schedule`, { scheduled_at: `${year}-06-01T10:00:00` })
    expect(reply.body).toMatchObject({ status: 'scheduled', scheduled_at: `${year}-06-01T10:00:00+02:00` })
    expect((await loadCampaign(id)).scheduled_at).toBe(Date.UTC(year, 5, 1, 8))
  })

  it('needs a message', async () => {
    const { campaign } = await seedReady(crowd, { email_message_id: null })
    const reply = await post(`/v1/campaigns/${campaign.id}/schedule`, { scheduled_at: formatHourFromNow() })
    expect(describeRefusal(reply)).toBe('409 campaign_not_ready: required #/email_message_id')
  })

  it.each([
    ['2020-01-01T10:00:00Z', 'scheduled_at_in_past'],
    ['2040-01-01T10:00:00Z', 'scheduled_at_too_far'],
    ['2027-03-28T02:30:00', 'nonexistent_local_time'],
    ['soon', 'invalid_date'],
  ])('refuses the time %s', async (scheduled_at, code) => {
    const id = await seedCampaignInStatus(crowd, 'draft')
    const reply = await post(`/v1/campaigns/${id}/schedule`, { scheduled_at })
    expect(describeRefusal(reply)).toBe(`400 validation_error: ${code} #/scheduled_at`)
  })

  it('starts once at its time', async () => {
    const id = await seedCampaignInStatus(crowd, 'scheduled', { scheduled_at: Date.now() - 60_000 })
    await sweepCampaigns(createJob())
    await sweepCampaigns(createJob())
    const row = await runUntil(id, ['sent', 'failed'])
    expect([row.status, row.run, row.sent_count]).toEqual(['sent', 1, 3])
  })

  it('ends as failed when it is more than six hours late', async () => {
    const id = await seedCampaignInStatus(crowd, 'scheduled', { scheduled_at: Date.now() - 6 * 3_600_000 - 1000 })
    await sweepCampaigns(createJob())
    const row = await runUntil(id, ['failed'])
    expect(row.run).toBe(0)
    expect(row.error_message).toMatch(/^missed_schedule/)
  })
})

describe('cancelCampaign', () => {
  it('stops a campaign that was started and has sent nothing yet', async () => {
    const { campaign } = await seedReady(crowd, { status: 'calculating', run: 1 })
    const reply = await post(`/v1/campaigns/${campaign.id}/cancel`, {})
    expect([reply.status, reply.body.status]).toEqual([200, 'cancelled'])
    await sweepCampaigns(createJob())
    await runAlarm(campaign.id)
    expect(await loadCampaign(campaign.id)).toMatchObject({ status: 'cancelled', total_recipients: 0 })
  })

  it('is refused once everything is sent, although the campaign still shows as sending', async () => {
    const id = await seedCampaignInStatus(crowd, 'sending')
    await inRecipientStore(id, (store) => store.changeRecord({ status: 'sent' }))
    const reply = await post(`/v1/campaigns/${id}/cancel`, {})
    expect(reply).toMatchObject({ status: 409, body: { code: 'invalid_transition', current_status: 'sent' } })
  })
})
