import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { campaignLifecycle } from '../../src/domain/campaigns/lifecycle.ts'
import { weekdays } from '../../src/domain/campaigns/send-window.ts'
import { planCampaign } from '../../src/modules/campaigns/plan/plan.ts'
import { findCampaign } from '../../src/modules/campaigns/queries.ts'
import { call, get, patch, post, rootToken } from '../support/api.ts'
import { pickPlanNumbers, readPlan, seedEveryone, sendAndCount } from '../support/campaign-plans.ts'
import { loadCampaign } from '../support/campaigns.ts'
import { createContextAt } from '../support/context.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedPeople, seedSuppression } from '../support/seeding/customers.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import {
  inRecipientStore,
  marketingTo,
  seedCampaignInStatus,
  seedCrowd,
} from '../support/seeding/messaging/campaigns.ts'
import { seedMessage } from '../support/seeding/messaging/email-messages.ts'
import { db, write } from '../support/seeding/rows.ts'

const sms = (bodies: Record<string, string>) => ({ channel: 'sms' as const, sms_body: bodies })

const setPrice = (organization: string, sms_price: unknown) => patch(`/v1/organizations/${organization}`, { sms_price })

describe('planCampaign', () => {
  it('counts whom an e-mail campaign reaches and skips, as the campaign then does', async () => {
    const crowd = await seedCrowd(4)
    const { campaign } = await seedEveryone(crowd)
    await marketingTo(crowd, campaign.segment_id)
    const [withdrawn, bounced, inactive] = crowd.people.slice(1)
    await seedPeople(crowd, [
      { first_name: 'No', last_name: 'Consent', locale: 'pl' },
      { email: null, locale: '', first_name: 'No', last_name: 'Address' },
    ])
    if (withdrawn) await seedSuppression(withdrawn, 'email', 'unsubscribed')
    if (bounced) await seedSuppression(bounced, 'email', 'hard_bounce')
    await write(sql`update users set is_active = 0 where id = ${inactive?.id}`)
    const plan = await readPlan(campaign.id)
    expect(plan).toMatchObject({
      faults: [],
      warnings: [],
      audience: {
        is_estimate: false,
        people: 6,
        recipients: 1,
        skipped: 5,
        languages: [
          { language: 'en', text_language: 'en', recipients: 0, sms_parts: 0 },
          { language: 'da', text_language: 'da', recipients: 1, sms_parts: 0 },
        ],
        other_languages: [],
        sms_parts: 0,
      },
      cost: null,
      sending: { messages_per_call: 100, calls: 1, calls_per_second: 32, seconds: 1, window_opens_at: null },
    })
    expect(await sendAndCount(campaign.id, 'email')).toEqual(pickPlanNumbers(plan))
  })

  it('counts shared numbers once, and parts with the names of the recipients, at the price of the organisation', async () => {
    const crowd = await seedCrowd(3)
    const { campaign } = await seedEveryone(
      crowd,
      sms({ en: `{{ customer.first_name }}${'.'.repeat(100)}`, da: 'Hej' }),
    )
    const [first] = crowd.people
    await seedPeople(crowd, [
      { phone_number: first?.phone_number ?? '', locale: 'en', email: null },
      { phone_number: first?.phone_number ?? '', locale: 'nl' },
      // A letter that GSM-7 does not have makes two parts.
      { first_name: 'Żaneta', locale: 'nl' },
      { first_name: 'Ole', locale: '' },
      { phone_number: null },
    ])
    expect((await readPlan(campaign.id)).cost).toBeNull()
    expect((await setPrice(crowd.organization, { amount: 0.0375, currency: 'eur' })).status).toBe(200)
    const plan = await readPlan(campaign.id)
    expect(plan).toMatchObject({
      audience: {
        people: 8,
        recipients: 5,
        skipped: 3,
        skipped_by_reason: [
          { reason: 'no_address', people: 1 },
          { reason: 'duplicate_address', people: 2 },
        ],
        languages: [
          { language: 'en', text_language: 'en', recipients: 4, sms_parts: 5 },
          { language: 'da', text_language: 'da', recipients: 1, sms_parts: 1 },
        ],
        sms_parts: 6,
      },
      // Six parts cost 22.5 cents.
      cost: { amount: 0.23, currency: 'eur' },
    })
    expect(plan.audience.other_languages).toHaveLength(2)
    expect(plan.audience.other_languages).toEqual(
      expect.arrayContaining([
        { language: 'nl', recipients: 1 },
        { language: null, recipients: 1 },
      ]),
    )
    expect(await sendAndCount(campaign.id, 'sms')).toEqual(pickPlanNumbers(plan))
  })

  it('finds a suppression of a number that is stored without its country', async () => {
    const crowd = await seedCrowd(1, { default_country_code: '+45' })
    const { campaign } = await seedEveryone(crowd, sms({ en: 'Doors open' }))
    const [local] = await seedPeople(crowd, [{ phone_number: '31 99 88 77' }])
    if (local) await seedSuppression({ ...local, phone_number: '+4531998877' }, 'sms', 'invalid')
    const plan = await readPlan(campaign.id)
    expect(plan.audience).toMatchObject({ recipients: 1, skipped_by_reason: [{ reason: 'bounced', people: 1 }] })
    expect(await sendAndCount(campaign.id, 'sms')).toEqual(pickPlanNumbers(plan))
  })

  it('lists the faults and warnings with which a start would answer, and who has no text', async () => {
    const crowd = await seedCrowd(2, { enabled_languages: ['en', 'da', 'pl'] })
    const place = { organization: crowd.organization, edition: crowd.edition }
    const message = await seedMessage(place, {
      type: 'campaign',
      subject: { en: 'Hello {{ customer.naem }}' },
    })
    const { campaign } = await seedEveryone(crowd, { email_message_id: message })
    const plan = await readPlan(campaign.id)
    const refusal = await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    expect(describeRefusal(refusal)).toMatch(/^409 campaign_not_ready/)
    expect(plan.faults).toEqual(refusal.body.errors)
    expect(plan.faults.map(({ code }) => code)).toContain('unknown_variable')
    expect(plan.faults.map(({ code }) => code)).toContain('missing_translation')
    expect(plan.warnings.map(({ code }) => code)).toEqual(['untranslated_language'])
    expect(plan.audience).toMatchObject({
      recipients: 2,
      languages: [{}, { language: 'da', text_language: 'en' }, { language: 'pl', text_language: 'en' }],
    })
  })

  it('does not count translations that a scheduled campaign has accepted as faults', async () => {
    const crowd = await seedCrowd(1)
    const place = { organization: crowd.organization, edition: crowd.edition }
    const message = await seedMessage(place, { type: 'campaign', subject: { en: 'Hello' } })
    const { campaign } = await seedEveryone(crowd, { email_message_id: message })
    expect((await readPlan(campaign.id)).faults.length).toBeGreaterThan(0)
    const scheduled_at = new Date(Date.now() + 86_400_000).toISOString()
    await post(`/v1/campaigns/${campaign.id}/schedule`, { scheduled_at, accept: ['missing_translations'] })
    const plan = await readPlan(campaign.id)
    expect(plan.faults).toEqual([])
    expect(plan.warnings.map(({ code }) => code)).toContain('missing_translation')
  })

  it('says that nobody can be reached', async () => {
    const crowd = await seedCrowd(0)
    const { campaign } = await seedEveryone(crowd)
    expect(await readPlan(campaign.id)).toMatchObject({
      faults: [{ code: 'no_recipients', attr: 'segment_id' }],
      audience: { people: 0, recipients: 0 },
      sending: { calls: 0, seconds: 0 },
    })
  })

  it('says when the send window opens', async () => {
    const crowd = await seedCrowd(1, { timezone: 'UTC' })
    const tomorrow = new Date(Date.now() + 86_400_000)
    const send_window = { days: [weekdays[(tomorrow.getUTCDay() + 6) % 7] ?? 'monday'], from: '10:00', to: '12:00' }
    const { campaign } = await seedEveryone(crowd, { send_window })
    expect((await readPlan(campaign.id)).sending?.window_opens_at).toBe(
      `${tomorrow.toISOString().slice(0, 10)}T10:00:00.000Z`,
    )
    await patch(`/v1/campaigns/${campaign.id}`, { send_window: { days: [...weekdays], from: '00:00', to: '24:00' } })
    expect((await readPlan(campaign.id)).sending?.window_opens_at).toBeNull()
  })

  it('plans an incomplete draft, whose segment may be for another channel', async () => {
    const crowd = await seedCrowd(2)
    const { campaign } = await seedEveryone(crowd, { email_message_id: null })
    const plan = await readPlan(campaign.id)
    expect(plan.faults.map(({ code }) => code)).toEqual(['required'])
    expect(plan.audience.languages).toMatchObject([
      { language: 'en', text_language: null, recipients: 1 },
      { language: 'da', text_language: null, recipients: 1 },
    ])
    await write(sql`update segments set communication_channel = 'sms' where id = ${campaign.segment_id}`)
    expect(await readPlan(campaign.id)).toMatchObject({
      faults: [{}, { code: 'channel_mismatch' }],
      audience: null,
      cost: null,
      sending: null,
    })
  })

  it('says when the expression of the segment cannot be evaluated', async () => {
    const { campaign } = await seedEveryone(await seedCrowd(1))
    await write(sql`update segments set expression = 'user.gone == 1' where id = ${campaign.segment_id}`)
    expect(await readPlan(campaign.id)).toMatchObject({
      faults: [{ code: 'not_calculable', attr: 'segment_id' }],
      audience: null,
    })
  })

  it('takes the people for whom the expression holds now, and changes nothing', async () => {
    const crowd = await seedCrowd(2)
    const { campaign, segment } = await seedEveryone(crowd)
    const load = async () => [
      await db.all(sql`select * from segments where id = ${segment.id}`),
      await db.all(sql`select * from segment_members where segment_seq = ${segment.seq}`),
      await db.all(sql`select * from email_renditions where message_id = ${campaign.email_message_id}`),
      await db.all(sql`select * from campaign_contents where campaign_id = ${campaign.id}`),
      await db.all(sql`select * from audit_log where organization_id = ${crowd.organization}`),
      await loadCampaign(campaign.id),
    ]
    const before = await load()
    expect((await readPlan(campaign.id)).audience.people).toBe(2)
    expect(await load()).toEqual(before)
    await seedPeople(crowd, [{}])
    expect((await readPlan(campaign.id)).audience.people).toBe(3)
    await write(sql`update segments set expression = 'user.last_name == "Holm 0"' where id = ${segment.id}`)
    const reply = await get(`/v1/campaigns/${campaign.id}/plan`)
    expect(reply.body.audience.people).toBe(1)
    const etag = reply.headers.get('etag') ?? ''
    const again = await call(`/v1/campaigns/${campaign.id}/plan`, {
      token: rootToken,
      headers: { 'if-none-match': etag },
    })
    expect(again.status).toBe(304)
  })

  it.each(campaignLifecycle.states.filter((state) => !['draft', 'scheduled', 'failed'].includes(state)))(
    'refuses a campaign with the status %s, which cannot be started',
    async (status) => {
      const id = await seedCampaignInStatus(await seedCrowd(1), status)
      const reply = await get(`/v1/campaigns/${id}/plan`)
      expect(describeRefusal(reply)).toMatch(/^409 invalid_transition/)
      expect(reply.body).toMatchObject({ current_status: status })
    },
  )

  it.each(['email', 'sms'] as const)(
    'leaves out whom an earlier start of a failed %s campaign reached',
    async (channel) => {
      const crowd = await seedCrowd(5)
      const content = channel === 'sms' ? sms({ en: 'Doors open' }) : {}
      const { campaign } = await seedEveryone(crowd, { ...content, status: 'failed', run: 1 })
      const [sent, refused, unreachable, pending] = crowd.people
      await inRecipientStore(campaign.id, (store) => {
        const address = (person: (typeof crowd.people)[number]) =>
          (channel === 'sms' ? person.phone_number : person.email) ?? ''
        store.addRecipients(
          [sent, refused, unreachable, pending].flatMap((person) =>
            person
              ? [
                  {
                    n: person.seq,
                    user_id: person.id,
                    address: address(person),
                    language: 'en' as const,
                    person: JSON.stringify(person),
                    conditions: 0,
                    reason: null,
                  },
                ]
              : [],
          ),
          channel,
        )
        store.recordOutcomes(
          new Map([
            [sent?.seq ?? 0, { to: 'sent', provider_id: null, at: 1 }],
            [refused?.seq ?? 0, { to: 'failed', reason: 'rejected', code: '', detail: '' }],
            [unreachable?.seq ?? 0, { to: 'failed', reason: 'unreachable', code: '', detail: '' }],
          ]),
          false,
        )
        store.changeRecord({ run: 1, status: 'failed', channel })
      })
      // Whoever has the message keeps it, whatever has become of them since.
      await write(sql`update users set is_active = 0 where id = ${sent?.id}`)
      const [friend] = await seedPeople(crowd, [{ phone_number: sent?.phone_number ?? '' }])
      const plan = await readPlan(campaign.id)
      expect(plan.audience).toMatchObject({
        people: 6,
        sent_before: 1,
        failed_before: 1,
        recipients: channel === 'sms' ? 3 : 4,
        skipped_by_reason:
          channel === 'sms'
            ? [{ reason: 'duplicate_address', people: 1, examples: [{ user: { api_id: friend?.id } }] }]
            : [],
      })
      expect(await sendAndCount(campaign.id, channel)).toEqual(pickPlanNumbers(plan))
    },
  )

  it('shows examples as the caller may see them, with names as they are', async () => {
    const crowd = await seedCrowd(0)
    const { campaign } = await seedEveryone(crowd)
    const name = '<img src=x onerror=alert(1)> {{ customer.email }} =1+1'
    const hostile = Array.from({ length: 5 }, () => ({ is_active: false, first_name: name, last_name: '' }))
    const people = await seedPeople(crowd, hostile)
    await write(
      sql`update edition_customers set email = null, first_name = 'Known', last_name = 'Here'
        where user_seq = ${people[0]?.seq}`,
    )
    const examplesFor = async (token?: string) =>
      (await readPlan(campaign.id, token)).audience.skipped_by_reason.map(({ reason, people: count, examples }) => [
        reason,
        count,
        examples.map(({ user, address }) => [user.api_id, user.full_name, user.email, address]),
      ])
    const show = (person: (typeof people)[number] | undefined) => [person?.id, name, person?.email, person?.email]
    expect(await examplesFor()).toEqual([['inactive', 5, people.slice(0, 3).map(show)]])
    const { token } = await givenMember({ id: crowd.organization }, 'manager', crowd.edition)
    expect(await examplesFor(token)).toEqual([
      ['inactive', 5, [[people[0]?.id, 'Known Here', null, ''], ...people.slice(1, 3).map(show)]],
    ])
  })

  it('is for managers of the tenant of the segment', async () => {
    const crowd = await seedCrowd(1)
    const other = await seedEdition({ id: crowd.organization })
    const { campaign } = await seedEveryone(crowd)
    const readStatus = async (role: 'viewer' | 'manager', organization: string, edition?: string) => {
      const { token } = await givenMember({ id: organization }, role, edition)
      return (await get(`/v1/campaigns/${campaign.id}/plan`, token)).status
    }
    expect(await readStatus('manager', crowd.organization, crowd.edition)).toBe(200)
    expect(await readStatus('viewer', crowd.organization)).toBe(403)
    expect(await readStatus('manager', crowd.organization, other.id)).toBe(404)
    expect(await readStatus('manager', (await seedCrowd(0)).organization)).toBe(404)
    await write(sql`update segments set edition_id = null where id = ${campaign.segment_id}`)
    expect(await readStatus('manager', crowd.organization, crowd.edition)).toBe(403)
    expect(await readStatus('manager', crowd.organization)).toBe(200)
  })

  it('needs a role for the segment that a failed campaign would be started with', async () => {
    const crowd = await seedCrowd(1)
    const { campaign } = await seedEveryone(crowd, {
      status: 'failed',
      segment_snapshot: {
        edition_id: crowd.edition,
        name: '',
        communication_type: 'transactional',
        communication_channel: 'email',
        status: 'ready',
        user_count: 1,
      },
    })
    const { token } = await givenMember({ id: crowd.organization }, 'manager', crowd.edition)
    expect((await get(`/v1/campaigns/${campaign.id}/plan`, token)).status).toBe(200)
    await write(sql`update segments set edition_id = null where id = ${campaign.segment_id}`)
    expect((await get(`/v1/campaigns/${campaign.id}/plan`, token)).status).toBe(403)
  })

  it('extrapolates when testing everybody would take too long, with sums that agree', async () => {
    const crowd = await seedCrowd(100)
    const { campaign } = await seedEveryone(crowd)
    await write(sql`update users set is_active = 0 where organization_id = ${crowd.organization} and seq % 3 = 0`)
    const ctx = createContextAt(Date.now())
    let now = Date.now()
    const slow = { ...ctx, now: () => (now += 600) }
    const { audience } = await planCampaign(slow, await findCampaign(ctx, campaign.id))
    expect(audience?.isEstimate).toBe(true)
    const { languages, skipped } = audience?.counts ?? { languages: new Map(), skipped: new Map() }
    const recipients = [...languages.values()].reduce((sum, one) => sum + one.recipients, 0)
    expect(recipients + (skipped.get('inactive')?.people ?? 0)).toBe(100)
  })
})

describe('the price of an SMS', () => {
  it('has up to four decimals, and is null until it is set', async () => {
    const { organization } = await seedCrowd(0)
    expect((await get(`/v1/organizations/${organization}`)).body.sms_price).toBeNull()
    const reply = await setPrice(organization, { amount: 0.2901, currency: 'DKK' })
    expect(reply.body.sms_price).toEqual({ amount: 0.2901, currency: 'dkk' })
    expect((await get(`/v1/organizations/${organization}`)).body.sms_price).toEqual(reply.body.sms_price)
    for (const [price, refusal] of [
      [{ amount: 0.00001, currency: 'dkk' }, 'max_decimal_places #/sms_price/amount'],
      [{ amount: -1, currency: 'dkk' }, 'min_value #/sms_price/amount'],
      [{ amount: 1001, currency: 'dkk' }, 'max_value #/sms_price/amount'],
      [{ amount: 1, currency: 'xyz' }, 'invalid_choice #/sms_price/currency'],
    ] as const)
      expect(describeRefusal(await setPrice(organization, price))).toBe(`400 validation_error: ${refusal}`)
    expect((await setPrice(organization, null)).body.sms_price).toBeNull()
  })
})

describe('a plan of a campaign to a segment about days of the edition', () => {
  it('counts whom the campaign then reaches', async () => {
    const at = Date.parse('2026-06-05T22:30:00Z')
    const crowd = await seedCrowd(3, { timezone: 'Europe/Copenhagen', start_at: at })
    const { campaign } = await seedEveryone(crowd)
    const [first] = crowd.people
    await write(
      sql`update segments set expression = 'user.date_joined.getDayOfEdition() == -1' where id = ${campaign.segment_id}`,
      sql`update edition_customers set created_at = ${at - 3_600_000} where user_seq = ${first?.seq ?? 0}`,
    )
    const plan = await readPlan(campaign.id)
    expect(plan.audience).toMatchObject({ people: 1, recipients: 1 })
    expect(await sendAndCount(campaign.id, 'email')).toEqual(pickPlanNumbers(plan))
  })
})
