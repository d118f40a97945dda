import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { insertEditionCustomers } from '../../src/db/customers.ts'
import { createFailure, type SendResult } from '../../src/domain/messaging/messaging.ts'
import { applyEvents } from '../../src/modules/message-events/jobs.ts'
import { get, post } from '../support/api.ts'
import { createJob, runAlarm, runUntil } from '../support/campaigns.ts'
import { buildBareMembership } from '../support/seeding/customers.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { type Crowd, marketingTo, seedCrowd, seedReady } from '../support/seeding/messaging/campaigns.ts'
import { seedSegment } from '../support/seeding/messaging/segments.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { db, write } from '../support/seeding/rows.ts'
import { calculate, listMembers } from '../support/segments.ts'

type Body = Record<string, unknown>

const create = (id: string, body: Body, token?: string) =>
  post(`/v1/campaigns/${id}/segments`, { name: 'Those people', ...body }, token)

async function createAndCalculate(id: string, body: Body): Promise<string[]> {
  const reply = await create(id, body)
  expect(reply.status, reply.text).toBe(201)
  await calculate(reply.body.id)
  return listMembers(reply.body.id)
}

const listRecipientIds = async (id: string, query: string): Promise<string[]> => {
  const { status, body, text } = await get(`/v1/campaigns/${id}/recipients?${query}`)
  expect([status, text]).toEqual([200, expect.anything()])
  return body.results.map((one: { id: string }) => one.id)
}

interface Event {
  whom: number
  type: 'delivered' | 'opened' | 'clicked' | 'bounced' | 'complained' | 'unsubscribed'
  link?: number
  isMachine?: boolean
}

async function report({ id, crowd }: { id: string; crowd: Crowd }, events: readonly Event[]): Promise<void> {
  const at = Date.now() + 60_000
  const recipientEvents = events.map(({ whom, type, link, isMachine }, index) => ({
    n: crowd.people[whom]?.seq ?? 0,
    type,
    at: at + index,
    ...(link === undefined ? {} : { link }),
    ...(isMachine ? { machine: true } : {}),
  }))
  await applyEvents(createJob(), [{ type: 'campaign.events', campaign_id: id, events: recipientEvents }])
  await runAlarm(id)
}

async function givenSent(count: number): Promise<{ id: string; crowd: Crowd; segment: string }> {
  const crowd = await seedCrowd(count)
  const { campaign, segment } = await seedReady(crowd)
  await post(`/v1/campaigns/${campaign.id}/send-now`, {})
  await runUntil(campaign.id, ['sent', 'failed'])
  return { id: campaign.id, crowd, segment: segment.id }
}

describe('createSegmentFromCampaign', () => {
  let sent: Awaited<ReturnType<typeof givenSent>>
  const people = (...indices: number[]) => indices.map((index) => sent.crowd.people[index]?.id)

  beforeAll(async () => {
    sent = await givenSent(6)
    await report(sent, [
      { whom: 0, type: 'opened' },
      { whom: 1, type: 'clicked', link: 0 },
      { whom: 2, type: 'clicked', link: 1 },
      { whom: 2, type: 'clicked', link: 1 },
      { whom: 3, type: 'unsubscribed' },
    ])
    // The second link of a person is clicked after the row of the first was written.
    await report(sent, [{ whom: 1, type: 'clicked', link: 1 }])
  })

  it('makes a draft in the expression language that can be read, changed and calculated', async () => {
    const reply = await create(sent.id, { description: 'Once more', engagement: 'not_opened' })
    expect(reply.status, reply.text).toBe(201)
    expect(reply.headers.get('location')).toMatch(new RegExp(`/v1/segments/${reply.body.id}$`))
    expect(reply.body).toMatchObject({
      name: 'Those people',
      description: 'Once more',
      organization_id: sent.crowd.organization,
      edition_id: sent.crowd.edition,
      communication_type: 'transactional',
      communication_channel: 'email',
      status: 'draft',
      user_count: 0,
      is_time_dependent: false,
      expression: `campaigns.messages.exists(m, m.campaign_id == "${sent.id}" && m.state == "sent" && m.bounced_at == null && m.opened_at == null)`,
    })
    expect((await get(`/v1/segments/${reply.body.id}`)).body).toEqual(reply.body)
    expect((await calculate(reply.body.id)).user_count).toBe(3)
    const { body } = await get(`/v1/segments/${reply.body.id}/explain?user_id=${people(0)[0]}`)
    expect(body).toMatchObject({ is_member: false, excluded_for: 'expression' })
    const [entry] = await db.all(sql`select action, resource_type, resource_id, edition_id from audit_log
      where organization_id = ${sent.crowd.organization} and action = 'createSegmentFromCampaign'`)
    expect(entry).toMatchObject({ edition_id: sent.crowd.edition })
  })

  it.each<[Body, string, number[]]>([
    [{ engagement: 'delivered' }, 'engagement=delivered', [0, 1, 2, 3, 4, 5]],
    [{ engagement: 'opened' }, 'engagement=opened', [0, 1, 2]],
    [{ engagement: 'not_opened' }, 'engagement=not_opened', [3, 4, 5]],
    [{ engagement: 'clicked' }, 'engagement=clicked', [1, 2]],
    [{ engagement: 'not_clicked' }, 'engagement=not_clicked', [0, 3, 4, 5]],
    [{ engagement: 'unsubscribed' }, 'engagement=unsubscribed', [3]],
    [{ link: 0 }, 'link=0', [1]],
    [{ link: 1, engagement: 'clicked' }, 'link=1&engagement=clicked', [1, 2]],
    [{ link: 0, engagement: 'not_clicked' }, 'link=0&engagement=not_clicked', [0, 2, 3, 4, 5]],
    [{ state: 'sent' }, 'state=sent', [0, 1, 2, 3, 4, 5]],
    [{ state: 'failed' }, 'state=failed', []],
    [{}, '', [0, 1, 2, 3, 4, 5]],
  ])('of %j has the people whom the list of recipients has', async (body, query, indices) => {
    expect((await listRecipientIds(sent.id, query)).toSorted()).toEqual(people(...indices).toSorted())
    expect(await createAndCalculate(sent.id, body)).toEqual(people(...indices))
  })

  it('has those who open later after the next calculation', async () => {
    const campaign = await givenSent(2)
    const { body } = await create(campaign.id, { engagement: 'opened' })
    expect((await calculate(body.id)).user_count).toBe(0)
    await report(campaign, [{ whom: 1, type: 'opened' }])
    await calculate(body.id)
    expect(await listMembers(body.id)).toEqual([campaign.crowd.people[1]?.id])
  })

  it('reaches those whose mail bounced by SMS, and counts them as excluded by e-mail', async () => {
    const campaign = await givenSent(2)
    await applyEvents(createJob(), [
      {
        type: 'campaign.events',
        campaign_id: campaign.id,
        events: [{ n: campaign.crowd.people[0]?.seq ?? 0, type: 'bounced', at: Date.now() + 60_000, bounce: 'hard' }],
      },
    ])
    await runAlarm(campaign.id)
    const bounced = [campaign.crowd.people[0]?.id]
    expect(await createAndCalculate(campaign.id, { engagement: 'bounced', communication_channel: 'sms' })).toEqual(
      bounced,
    )
    const { body } = await create(campaign.id, { engagement: 'bounced' })
    expect(await calculate(body.id)).toMatchObject({ user_count: 0, excluded: { bounced: 1 } })
    expect(await createAndCalculate(campaign.id, { engagement: 'not_opened' })).toEqual([campaign.crowd.people[1]?.id])
  })

  it('finds those who failed and who were skipped, with the reason', async () => {
    const crowd = await seedCrowd(3)
    await write(sql`update users set email = null where id = ${crowd.people[2]?.id ?? ''}`)
    const { campaign } = await seedReady(crowd)
    const { email } = createJob()
    const refusal: SendResult = createFailure('permanent', 'blocked', '')
    const job = createJob({
      email: {
        ...email,
        send: async (messages) =>
          messages.map(({ to }) => (to.address === crowd.people[0]?.email ? refusal : { ok: true, providerId: 'p' })),
      },
    })
    await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    await runUntil(campaign.id, ['sent', 'failed'], job)
    await runAlarm(campaign.id)
    const sms = { communication_channel: 'sms' }
    expect(await createAndCalculate(campaign.id, { state: 'failed', ...sms })).toEqual([crowd.people[0]?.id])
    expect(await createAndCalculate(campaign.id, { reason: 'rejected', ...sms })).toEqual([crowd.people[0]?.id])
    expect(await createAndCalculate(campaign.id, { state: 'skipped', reason: 'no_address', ...sms })).toEqual([
      crowd.people[2]?.id,
    ])
    expect(await createAndCalculate(campaign.id, { state: 'sent', reason: 'rejected' })).toEqual([])
  })

  it('takes the type of the segment that the campaign was started with', async () => {
    const crowd = await seedCrowd(1)
    const { campaign } = await seedReady(crowd)
    await marketingTo(crowd, campaign.segment_id)
    await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    await runUntil(campaign.id, ['sent'])
    await write(sql`update segments set communication_type = 'transactional' where id = ${campaign.segment_id}`)
    expect((await create(campaign.id, {})).body).toMatchObject({ communication_type: 'marketing' })
    const body = { communication_type: 'transactional', communication_channel: 'sms' }
    expect((await create(campaign.id, body)).body).toMatchObject(body)
  })

  it('quotes the address of a link, whatever it contains', async () => {
    const url = `https://example.com/?q=") || true || ("' or 1=1; -- \\" é 😀`
    await write(sql`insert into campaign_links (campaign_id, position, url) values (${sent.id}, 7, ${url})`)
    expect(await createAndCalculate(sent.id, { link: 7 })).toEqual([])
    await report(sent, [{ whom: 5, type: 'clicked', link: 7 }])
    expect(await createAndCalculate(sent.id, { link: 7 })).toEqual(people(5))
    expect(await createAndCalculate(sent.id, { link: 0 })).toEqual(people(1))
  })

  it('refuses a link that the campaign does not have, or whose address is too long', async () => {
    const unknown = await create(sent.id, { link: 99 })
    expect([unknown.status, unknown.body.errors]).toMatchObject([400, [{ code: 'does_not_exist', attr: 'link' }]])
    await write(sql`insert into campaign_links (campaign_id, position, url)
      values (${sent.id}, 8, ${`https://example.com/${'a'.repeat(4000)}`})`)
    const long = await create(sent.id, { link: 8 })
    expect([long.status, long.body.errors]).toMatchObject([400, [{ code: 'max_length', attr: 'link' }]])
    expect(await listRecipientIds(sent.id, 'link=8')).toEqual([])
  })

  it('refuses a campaign that never started', async () => {
    const { campaign } = await seedReady(await seedCrowd(1))
    const reply = await create(campaign.id, { engagement: 'opened' })
    expect([reply.status, reply.body]).toMatchObject([409, { code: 'campaign_not_started', current_status: 'draft' }])
  })

  it('is for managers of the edition, and hides the campaign from others', async () => {
    const { organization, edition } = sent.crowd
    const { token } = await givenMember({ id: organization }, 'manager', edition)
    expect((await create(sent.id, { engagement: 'opened' }, token)).status).toBe(201)
    const viewer = await givenMember({ id: organization }, 'viewer', edition)
    expect((await create(sent.id, {}, viewer.token)).status).toBe(403)
    const other = await seedEdition({ id: organization })
    const stranger = await givenMember({ id: organization }, 'manager', other.id)
    expect((await create(sent.id, {}, stranger.token)).status).toBe(404)
    const foreigner = await givenMember(await givenOrganization(), 'admin')
    expect((await create(sent.id, {}, foreigner.token)).status).toBe(404)
  })

  it('makes a segment of the organisation when the recipients may belong to several editions', async () => {
    const crowd = await seedCrowd(2)
    const other = await seedEdition({ id: crowd.organization })
    const { campaign } = await seedReady(crowd)
    const segment = await seedSegment({ organization: crowd.organization, edition: null })
    await write(sql`update campaigns set segment_id = ${segment.id} where id = ${campaign.id}`)
    // This person is a customer of the other edition alone.
    await write(
      sql`update edition_customers set edition_id = ${other.id} where user_seq = ${crowd.people[1]?.seq ?? 0}`,
    )
    await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    await runUntil(campaign.id, ['sent'])
    const reply = await create(campaign.id, { state: 'sent' })
    expect(reply.body).toMatchObject({ edition_id: null })
    await calculate(reply.body.id)
    expect(await listMembers(reply.body.id)).toEqual(crowd.people.map(({ id }) => id))
    const { token } = await givenMember({ id: crowd.organization }, 'manager', crowd.edition)
    expect((await create(campaign.id, {}, token)).status).toBe(403)
    // The segment was moved to the edition since, but the recipients stay those of the organisation.
    await write(sql`update segments set edition_id = ${crowd.edition} where id = ${segment.id}`)
    expect((await create(campaign.id, {}, token)).status).toBe(403)
    expect((await create(campaign.id, {})).body).toMatchObject({ edition_id: null })
  })

  it('shows nothing about messages of another edition to a segment that names the campaign', async () => {
    const other = await seedEdition({ id: sent.crowd.organization })
    const [person] = sent.crowd.people
    await write(...insertEditionCustomers([buildBareMembership(other.id, person?.id ?? '')]))
    const { token } = await givenMember({ id: sent.crowd.organization }, 'manager', other.id)
    const place = { organization_id: sent.crowd.organization, edition_id: other.id }
    for (const condition of ['size(campaigns.messages) > 0', 'campaigns.messages.exists(m, m.opened_at != null)']) {
      const { body } = await post('/v1/segments/validate-cel', { ...place, expression: condition }, token)
      expect(body).toMatchObject({ errors: [], estimated_user_count: 0 })
    }
    const { body } = await post(
      '/v1/segments/validate-cel',
      { ...place, expression: '!(size(campaigns.messages) > 0)' },
      token,
    )
    expect(body.estimated_user_count).toBe(1)
  })

  it('archived editions are refused', async () => {
    const campaign = await givenSent(1)
    await write(sql`update editions set is_archived = 1 where id = ${campaign.crowd.edition}`)
    expect((await create(campaign.id, {})).body).toMatchObject({ code: 'edition_archived' })
  })

  it('suggests links, states and reasons that exist', async () => {
    const place = { organization_id: sent.crowd.organization, edition_id: sent.crowd.edition }
    const expression = `campaigns.messages.exists(m, "https://example.com/mpa" in m.clicked_links || m.state == "send")`
    const { body } = await post('/v1/segments/validate-cel', { ...place, expression })
    expect(body.warnings).toMatchObject([
      { code: 'unknown_value', suggestion: 'https://example.com/map' },
      { code: 'unknown_value', suggestion: 'sent' },
    ])
  })
})
