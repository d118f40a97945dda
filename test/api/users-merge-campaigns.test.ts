import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import type { RecipientEvent } from '../../src/domain/campaigns/recipient-events.ts'
import { createFailure, type SendResult } from '../../src/domain/messaging/messaging.ts'
import { applyEvents } from '../../src/modules/message-events/jobs.ts'
import { get, post } from '../support/api.ts'
import { createJob, runAlarm, runUntil } from '../support/campaigns.ts'
import { createUser } from '../support/seeding/imported-users.ts'
import { givenMember } from '../support/seeding/members.ts'
import { seedCrowd, seedReady } from '../support/seeding/messaging/campaigns.ts'
import { db, write } from '../support/seeding/rows.ts'
import { calculate } from '../support/segments.ts'

const merge = async (id: string, user_id: string) => {
  const reply = await post(`/v1/user/${id}/merge`, { user_id })
  expect(reply.status, reply.text).toBe(200)
}

/** A campaign that was sent to two people, of whom the second was merged into the first. */
async function givenSent() {
  const crowd = await seedCrowd(2)
  const { campaign } = await seedReady(crowd)
  await post(`/v1/campaigns/${campaign.id}/send-now`, {})
  await runUntil(campaign.id, ['sent'])
  const [own, other] = crowd.people
  if (!own || !other) throw new Error('The crowd has two people.')
  await merge(own.id, other.id)
  return { id: campaign.id, crowd, own, other }
}

const report = async (id: string, n: number, types: readonly RecipientEvent['type'][]) => {
  const events = types.map((type): RecipientEvent => ({
    n,
    type,
    at: Date.now() + 60_000,
    bounce: type === 'bounced' ? 'hard' : null,
  }))
  await applyEvents(createJob(), [{ type: 'campaign.events', campaign_id: id, events }])
  await runAlarm(id)
}

describe('a campaign whose recipients were merged', () => {
  it('lists both messages in a search by the id of the customer who is left', async () => {
    const { id, crowd, own, other } = await givenSent()
    const list = async (search: string, token?: string) => {
      const { body } = await get(`/v1/campaigns/${id}/recipients?search=${search}`, token)
      return body.results.map((one: { id: string }) => one.id)
    }
    const both = [own.id, other.id].toSorted()
    expect((await list(own.id)).toSorted()).toEqual(both)
    const { token } = await givenMember({ id: crowd.organization }, 'manager', crowd.edition)
    expect((await list(own.id, token)).toSorted()).toEqual(both)
    expect((await list(own.email ?? '', token)).toSorted()).toEqual(both)
    expect(await list(other.id, token)).toEqual([other.id])
  })

  it('counts openings and bounces of either for the customer who is left', async () => {
    const { id, crowd, own, other } = await givenSent()
    await report(id, other.seq, ['opened', 'clicked'])
    const read = async () => (await get(`/v1/user/${own.id}/messages`)).body.results
    expect(await read()).toMatchObject([{ id, status: 'sent', opened_at: expect.any(String), bounced_at: null }])
    await report(id, other.seq, ['bounced'])
    expect(await read()).toMatchObject([{ id, clicked_at: expect.any(String), bounced_at: expect.any(String) }])
    const suppressions = await db.all(
      sql`select address, reason from suppressions where organization_id = ${crowd.organization}`,
    )
    expect(suppressions).toEqual([{ address: other.email, reason: 'hard_bounce' }])
    const { body } = await get(`/v1/user/${own.id}/activity`)
    const kinds = body.results.map(({ kind }: { kind: string }) => kind)
    expect(kinds).toEqual(expect.arrayContaining(['campaign', 'campaign_opened', 'campaign_clicked']))
    expect(await db.all(sql`select 1 from campaign_receipts where user_id = ${other.id}`)).toEqual([])
  })

  it('reaches the customer who is left when it had reached neither of them', async () => {
    const crowd = await seedCrowd(1)
    const { campaign } = await seedReady(crowd)
    await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    const { email } = createJob()
    const refusal: SendResult = createFailure('permanent', 'blocked', '')
    const refusing = createJob({ email: { ...email, send: async (messages) => messages.map(() => refusal) } })
    await runUntil(campaign.id, ['failed'], refusing)
    const created = await createUser({ organization_id: crowd.organization, edition_id: crowd.edition ?? '' })
    await merge(created.body.id, crowd.people[0]?.id ?? '')
    expect((await post(`/v1/campaigns/${campaign.id}/send-now`, {})).status).toBe(200)
    await runUntil(campaign.id, ['sent', 'failed'])
    const { body } = await get(`/v1/campaigns/${campaign.id}/recipients?state=sent`)
    expect(body.results).toMatchObject([{ id: created.body.id }])
  })
})

describe('links that two recipients of a campaign clicked before they were merged', () => {
  it('are all links of the customer who is left, and those who come later too', async () => {
    const crowd = await seedCrowd(2)
    const { campaign } = await seedReady(crowd)
    await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    await runUntil(campaign.id, ['sent'])
    const [own, other] = crowd.people
    if (!own || !other) throw new Error('The crowd has two people.')
    await write(sql`insert into campaign_links (campaign_id, position, url)
      values (${campaign.id}, 11, 'https://example.com/11'), (${campaign.id}, 12, 'https://example.com/12')`)
    const click = async (n: number, link: number) => {
      const events = [{ n, type: 'clicked' as const, at: Date.now() + 60_000, link }]
      await applyEvents(createJob(), [{ type: 'campaign.events', campaign_id: campaign.id, events }])
      await runAlarm(campaign.id)
    }
    const readLinks = () =>
      db.all(sql`select user_id, clicked_links from campaign_receipts where campaign_id = ${campaign.id}
        and clicked_links is not null order by user_id`)
    await click(own.seq, 11)
    await click(other.seq, 0)
    await merge(own.id, other.id)
    expect(await readLinks()).toEqual([{ user_id: own.id, clicked_links: '[0,11]' }])
    await click(other.seq, 12)
    expect(await readLinks()).toEqual([{ user_id: own.id, clicked_links: '[0,11,12]' }])
    const { body } = await post(`/v1/campaigns/${campaign.id}/segments`, { name: 'Clicked', link: 12 })
    expect((await calculate(body.id)).user_count).toBe(1)
  })
})
