import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { app } from '../../src/app.ts'
import { formatInZone } from '../../src/domain/time/time-zones.ts'
import { sweepCampaigns } from '../../src/modules/campaigns/jobs.ts'
import { get, patch, post, buildRequest } from '../support/api.ts'
import { runAlarm, createJob, loadCampaign, runUntil } from '../support/campaigns.ts'
import {
  seedCampaignInStatus,
  type Crowd,
  seedCampaigns,
  seedCrowd,
  seedReady,
} from '../support/seeding/messaging/campaigns.ts'
import { seedMessage } from '../support/seeding/messaging/email-messages.ts'
import { seedSegment } from '../support/seeding/messaging/segments.ts'
import { write, formatHourFromNow } from '../support/seeding/rows.ts'

let crowd: Crowd
let stranger: Crowd
beforeAll(async () => {
  crowd = await seedCrowd(2)
  stranger = await seedCrowd(0)
})

// The clocks of Copenhagen change on 28 March and 31 October 2027.
describe('the time for which a campaign is scheduled', () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })

  it('is the first of two equal local times, unless an offset chooses the second', async () => {
    const id = await seedCampaignInStatus(crowd, 'draft')
    const day = '2027-10-31'
    vi.spyOn(Date, 'now').mockReturnValue(Date.UTC(2027, 8, 1))
    const scheduleAt = async (scheduled_at: string) => {
      const { body } = await post(`/v1/campaigns/${id}/schedule`, { scheduled_at })
      return [body.scheduled_at, new Date((await loadCampaign(id)).scheduled_at ?? 0).toISOString()]
    }
    expect(await scheduleAt(`${day}T02:30:00`)).toEqual([`${day}T02:30:00+02:00`, `${day}T00:30:00.000Z`])
    expect(await scheduleAt(`${day}T02:30:00+01:00`)).toEqual([`${day}T02:30:00+01:00`, `${day}T01:30:00.000Z`])
    expect(await scheduleAt(`${day}T02:30:00Z`)).toEqual([`${day}T03:30:00+01:00`, `${day}T02:30:00.000Z`])
  })

  it.each([
    ['is skipped by the clocks', () => '2027-03-28T02:30:00', 'nonexistent_local_time'],
    ['is over', () => new Date(Date.now() - 1000).toISOString(), 'scheduled_at_in_past'],
    // Two hours ago may be an hour that the clocks show twice, and then the later one counts.
    [
      'is over there',
      () => formatInZone(Date.now() - 7_200_000, 'Europe/Copenhagen').slice(0, 19),
      'scheduled_at_in_past',
    ],
    ['is more than a year away', () => new Date(Date.now() + 367 * 86_400_000).toISOString(), 'scheduled_at_too_far'],
    ['is a day alone', () => '2030-01-01', 'invalid_date'],
    ['is no day', () => '2030-02-30T10:00:00Z', 'invalid_date'],
    ['is blank', () => '', 'invalid_date'],
  ])('changes nothing when it %s, with or without an earlier schedule', async (_, time, code) => {
    for (const status of ['draft', 'scheduled'] as const) {
      const id = await seedCampaignInStatus(crowd, status)
      const before = await loadCampaign(id)
      const reply = await post(`/v1/campaigns/${id}/schedule`, { scheduled_at: time() })
      expect([reply.status, reply.body.errors]).toMatchObject([400, [{ code, pointer: '#/scheduled_at' }]])
      expect(await loadCampaign(id)).toEqual(before)
    }
  })

  it('can be moved later, and the earlier time starts nothing', async () => {
    const id = await seedCampaignInStatus(crowd, 'scheduled', { scheduled_at: Date.now() - 1000 })
    await post(`/v1/campaigns/${id}/schedule`, { scheduled_at: formatHourFromNow() })
    await sweepCampaigns(createJob())
    await runAlarm(id)
    expect(await loadCampaign(id)).toMatchObject({ status: 'scheduled', run: 0 })
  })
})

describe('a scheduled campaign', () => {
  it.each([
    ['the edition was archived', sql`update editions set is_archived = 1`, 'The edition is archived.'],
    [
      'all blocks of the message were deleted',
      sql`update email_messages set blocks = '[]'`,
      'The message has no blocks.',
    ],
    [
      'the segment was changed to SMS',
      sql`update segments set communication_channel = 'sms'`,
      'The segment is not for email campaigns.',
    ],
    [
      'the segment cannot be calculated',
      sql`update segments set expression = 'user.'`,
      'The segment could not be calculated',
    ],
  ])('fails at its time, and says why, when %s', async (_, change, message) => {
    const place = await seedCrowd(1)
    const { campaign } = await seedReady(place, { status: 'scheduled', scheduled_at: Date.now() - 1000 })
    await write(sql`${change} where organization_id = ${place.organization}`)
    await sweepCampaigns(createJob())
    const row = await runUntil(campaign.id, ['failed', 'sent'])
    expect([row.status, row.sent_count, row.error_message]).toEqual(['failed', 0, expect.stringContaining(message)])
  })
})

describe('a campaign that names other resources', () => {
  it('gets the same answer for ids of other organisations and for ids that do not exist', async () => {
    const other = { organization: crowd.organization, edition: (await seedCrowd(0)).edition }
    const foreign = {
      segment_id: [(await seedSegment(stranger)).id, (await seedSegment(other)).id, 'seg_none'],
      email_message_id: [await seedMessage(stranger, { type: 'campaign' }), await seedMessage(other), 'eml_none'],
    }
    const id = await seedCampaignInStatus(crowd, 'draft')
    const before = await loadCampaign(id)
    for (const [field, values] of Object.entries(foreign))
      for (const value of values) {
        const reply = await patch(`/v1/campaigns/${id}`, { name: 'Changed', [field]: value })
        expect([reply.status, reply.body.errors]).toMatchObject([
          400,
          [{ code: 'does_not_exist', pointer: `#/${field}` }],
        ])
        expect(reply.body.errors.length).toBe(1)
      }
    expect(await loadCampaign(id)).toEqual(before)
  })

  it('may use a segment and a message of the whole organisation', async () => {
    const organizationPlace = { organization: crowd.organization, edition: null }
    const segment = await seedSegment(organizationPlace)
    const reply = await post('/v1/campaigns', {
      organization_id: crowd.organization,
      edition_id: crowd.edition,
      segment_id: segment.id,
      name: '  Everybody  ',
      channel: 'email',
      email_message_id: await seedMessage(organizationPlace, { type: 'campaign' }),
    })
    expect([reply.status, reply.body.name, reply.body.segment]).toEqual([
      201,
      'Everybody',
      {
        id: segment.id,
        name: segment.name,
        communication_type: 'transactional',
        communication_channel: 'email',
        status: 'draft',
        user_count: segment.user_count,
      },
    ])
    expect((await post(`/v1/campaigns/${reply.body.id}/schedule`, { scheduled_at: formatHourFromNow() })).status).toBe(
      200,
    )
  })
})

describe('createCampaign and updateCampaign', () => {
  it.each([
    [{ name: ' ' }, '#/name', 'blank'],
    [{ name: 'x'.repeat(256) }, '#/name', 'max_length'],
    [{ name: null }, '#/name', 'null'],
    [{ channel: 'fax' }, '#/channel', 'invalid_choice'],
    [{ sms_body: { fr: 'Bonjour' } }, '#/sms_body/fr', 'unknown_language'],
    [{ sms_body: { en: 'x'.repeat(1601) } }, '#/sms_body/en', 'max_length'],
    [{ sms_body: 'Hello' }, '#/sms_body', 'invalid'],
  ])('refuse %j and change nothing', async (fields, pointer, code) => {
    const id = await seedCampaignInStatus(crowd, 'draft')
    const before = await loadCampaign(id)
    const reply = await patch(`/v1/campaigns/${id}`, { ...fields })
    expect([reply.status, reply.body.errors.map((error: { pointer: string }) => error.pointer)]).toEqual([
      400,
      [pointer],
    ])
    expect(reply.body.errors[0].code).toContain(code)
    expect(await loadCampaign(id)).toEqual(before)
    expect((await patch(`/v1/campaigns/${id}`, { name: 'x'.repeat(255) })).status).toBe(200)
  })
})

describe('a service that cannot send campaigns', () => {
  const sendWithout = async (id: string, bindings: object) => {
    const request = buildRequest(`/v1/campaigns/${id}/send-now`, { body: {} })
    const response = await app.fetch(request, { ...env, ...bindings }, createExecutionContext())
    const { code, errors } = await response.json<{ code: string; errors: { code: string }[] }>()
    return [response.status, code, errors.map((error) => error.code)]
  }

  it('is refused with a problem that names the missing configuration', async () => {
    const id = await seedCampaignInStatus(crowd, 'draft')
    const before = await loadCampaign(id)
    expect(await sendWithout(id, { LINK_SIGNING_KEY: '' })).toEqual([
      409,
      'campaign_not_ready',
      ['links_not_configured'],
    ])
    const provider = { EMAIL_PROVIDER: 'cloudflare', EMAIL: { send: async () => undefined } }
    expect(await sendWithout(id, provider)).toEqual([409, 'campaign_not_ready', ['gateway_not_bulk']])
    expect(await loadCampaign(id)).toEqual(before)
  })
})

describe('listCampaigns', () => {
  it('returns exactly the fields of the list schema', async () => {
    const place = await seedCrowd(0)
    const { segment } = await seedReady(place, { scheduled_at: null })
    await seedCampaigns(place, segment.id, 1, { scheduled_at: Date.UTC(2030, 5, 1, 8) })
    const { body } = await get(`/v1/campaigns?edition_id=${place.edition}&ordering=scheduled_at`)
    expect(Object.keys(body.results[0]).toSorted()).toEqual(
      'allowed_actions approval channel created edition_id failed_count id is_paused modified name organization_id scheduled_at segment sent_count status total_recipients'.split(
        ' ',
      ),
    )
    expect(body.results.map((item: { scheduled_at: string | null }) => item.scheduled_at)).toEqual([
      '2030-06-01T10:00:00+02:00',
      null,
    ])
  })
})
