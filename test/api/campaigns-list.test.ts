import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { projectSnapshot } from '../../src/modules/campaigns/delivery/projection.ts'
import { get, post, remove } from '../support/api.ts'
import { createJob, loadCampaign, runUntil } from '../support/campaigns.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import {
  seedCampaignInStatus,
  type Crowd,
  seedCampaigns,
  seedCrowd,
  seedReady,
  ignoreStarts,
  inRecipientStore,
  seedRecipients,
} from '../support/seeding/messaging/campaigns.ts'
import { seedSegment } from '../support/seeding/messaging/segments.ts'
import { db, write } from '../support/seeding/rows.ts'

let crowd: Crowd
beforeAll(async () => {
  crowd = await seedCrowd(3)
})

describe('deleteCampaign', () => {
  it('is refused when recipients exist', async () => {
    const id = await seedCampaignInStatus(crowd, 'cancelled')
    await seedRecipients(id, 3, { status: 'cancelled', projected_revision: 99 })
    expect((await remove(`/v1/campaigns/${id}`)).status).toBe(409)
  })

  it('deletes the links of the campaign too', async () => {
    const { campaign } = await seedReady(await seedCrowd(0))
    await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    await runUntil(campaign.id, ['failed'])
    const links = () =>
      db.first(sql<{ n: number }>`select count(*) as n from campaign_links where campaign_id = ${campaign.id}`)
    expect((await links())?.n).toBe(2)
    expect((await remove(`/v1/campaigns/${campaign.id}`)).status).toBe(204)
    expect((await links())?.n).toBe(0)
  })
})

describe('listCampaigns', () => {
  it('filters by each parameter', async () => {
    const place = await seedCrowd(0)
    const segment = await seedSegment(place)
    await seedCampaigns(place, segment.id, 2, { name: 'Ægir', search: 'aegir', status: 'draft' })
    await seedCampaigns(place, segment.id, 3, { channel: 'sms', status: 'failed' })
    const count = async (query: string) =>
      (await get(`/v1/campaigns?organization_id=${place.organization}${query}`)).body.count
    expect(await count('')).toBe(5)
    expect(await count('&channel=sms')).toBe(3)
    expect(await count('&status=draft')).toBe(2)
    expect(await count('&search=%C3%86GIR')).toBe(2)
    expect(await count(`&edition_id=${place.edition}&channel=email`)).toBe(2)
    expect((await get('/v1/campaigns?status=paused')).body.errors).toMatchObject([
      { code: 'invalid_choice', attr: 'status' },
    ])
  })
})

describe('listCampaignRecipients', () => {
  it('filters by state and reason', async () => {
    const id = await seedCampaignInStatus(crowd, 'sent')
    const list = (query = '') => get(`/v1/campaigns/${id}/recipients${query}`)
    expect((await list()).body.count).toBe(3)
    expect((await list('?state=sent')).body.results).toMatchObject([{ state: 'sent', reason: null, attempts: 1 }])
    expect((await list('?state=failed&reason=unreachable')).body.results).toMatchObject([
      { state: 'failed', reason: 'unreachable', error_code: 'http_503' },
    ])
    expect((await list('?reason=unknown')).body.count).toBe(0)
    expect((await list('?state=cancelled')).body.count).toBe(0)
  })

  it('shows the pending recipients of a cancelled campaign as cancelled', async () => {
    const id = await seedCampaignInStatus(crowd, 'cancelled')
    await seedRecipients(id, 3, { status: 'cancelled', projected_revision: 99 })
    const { body } = await get(`/v1/campaigns/${id}/recipients?state=cancelled`)
    expect(body.results).toMatchObject([{ state: 'cancelled' }])
    expect((await get(`/v1/campaigns/${id}/recipients?state=pending`)).body.count).toBe(0)
  })

  it('gives the reason of every skipped recipient', async () => {
    const place = await seedCrowd(3)
    const [first, second] = place.people
    await write(
      sql`insert into suppressions (organization_id, channel, address, reason, created_at)
        values (${place.organization}, 'email', ${first?.email ?? ''}, 'hard_bounce', 1)`,
      sql`update users set is_active = 0 where id = ${second?.id ?? ''}`,
    )
    const { campaign } = await seedReady(place)
    await write(sql`update segments set expression = 'user.has_email' where id = ${campaign.segment_id}`)
    await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    expect(await runUntil(campaign.id, ['sent', 'failed'])).toMatchObject({
      status: 'sent',
      total_recipients: 1,
      skipped_count: 2,
    })
    const { body } = await get(`/v1/campaigns/${campaign.id}/recipients?state=skipped&ordering=address`)
    expect(body.results.map(({ id, reason }: { id: string; reason: string }) => [id, reason])).toEqual([
      [first?.id, 'bounced'],
      [second?.id, 'inactive'],
    ])
  })
})

describe('a search of recipients', () => {
  it('finds people by name, address and user id, and those who were left out by the reason of that time', async () => {
    const place = await seedCrowd(3)
    const [first, second, third] = place.people
    await write(
      sql`update users set is_active = 0 where id = ${second?.id ?? ''}`,
      sql`update users set first_name = 'Bodil', last_name = 'Ørsted', email = 'bodil@firma.dk',
        search_text = ${'bodil orsted\nbodil@firma.dk\n'} where id = ${second?.id ?? ''}`,
    )
    const { campaign } = await seedReady(place)
    await write(sql`update segments set expression = 'user.has_email' where id = ${campaign.segment_id}`)
    await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    await runUntil(campaign.id, ['sent', 'failed'])
    await write(sql`update users set is_active = 1, last_name = 'Holm' where id = ${second?.id ?? ''}`)
    const find = async (search: string, token?: string) => {
      const query = new URLSearchParams({ search })
      const { body } = await get(`/v1/campaigns/${campaign.id}/recipients?${query.toString()}`, token)
      expect(body.count).toBe(body.results.length)
      return body.results.map(({ id, state, reason }: Record<string, unknown>) => [id, state, reason])
    }
    const skipped = [[second?.id, 'skipped', 'inactive']]
    for (const search of ['orsted, bodil', 'Bodil Ørsted', 'BODIL@firma', second?.id ?? '', 'bo or'])
      expect([search, await find(search)]).toEqual([search, skipped])
    expect(await find(third?.email ?? '')).toEqual([[third?.id, 'sent', null]])
    expect(await find('holm astrid')).toHaveLength(2)
    expect(await find('nobody')).toEqual([])
    // A role of the edition finds what the edition was told, which is not the address that was sent to.
    const { token } = await givenMember({ id: place.organization }, 'manager', place.edition)
    expect(await find('bodil', token)).toEqual([])
    expect(await find(second?.email ?? '', token)).toEqual(skipped)
    expect(await find(second?.id ?? '', token)).toEqual(skipped)
    expect((await find('astrid', token)).length).toBe(3)
    expect((await find(first?.email ?? '', token)).length).toBe(1)
    const { body } = await get(`/v1/campaigns/${campaign.id}/recipients?search=holm&state=sent&ordering=-sent_at`)
    expect(body.count).toBe(2)
  })

  it('finds nobody after an erasure', async () => {
    const id = await seedCampaignInStatus(crowd, 'sent')
    const { body } = await get(`/v1/campaigns/${id}/recipients?search=astrid`)
    expect(body.count).toBe(3)
    await inRecipientStore(id, (store) => {
      for (const { n } of store.storage.sql.exec<{ n: number }>('select n from recipients').toArray()) store.erase(n)
    })
    expect((await get(`/v1/campaigns/${id}/recipients?search=astrid`)).body.count).toBe(0)
  })
})

describe('the counts that a campaign object reports', () => {
  it('do not replace newer ones', async () => {
    const { campaign } = await seedReady(crowd, { status: 'sending', run: 2, revision: 10 })
    await ignoreStarts(campaign.id)
    const before = await loadCampaign(campaign.id)
    const snapshot = await inRecipientStore(campaign.id, (store) => store.readRecord())
    if (!snapshot) throw new Error('no record')
    const base = { ...snapshot, campaign_id: campaign.id, status: 'sent' as const }
    await projectSnapshot(createJob(), { ...base, run: 1, revision: 99 })
    await projectSnapshot(createJob(), { ...base, run: 2, revision: 10 })
    expect(await loadCampaign(campaign.id)).toEqual(before)
    await projectSnapshot(createJob(), { ...base, run: 2, revision: 11 })
    expect((await loadCampaign(campaign.id)).status).toBe('sent')
  })
})

describe('getCampaign', () => {
  it('returns texts in all languages and the counts of recipients', async () => {
    const smallCrowd = await seedCrowd(2)
    const { campaign, segment, message } = await seedReady(smallCrowd)
    const path = `/v1/campaigns/${campaign.id}`
    const draft = { id: campaign.id, status: 'draft', segment: { id: segment.id }, email_message_id: message }
    expect((await get(path)).body).toMatchObject({ ...draft, sent_count: 0, started_at: null })
    await post(`${path}/send-now`, {})
    await runUntil(campaign.id, ['sent', 'failed'])
    const sent = { status: 'sent', total_recipients: 2, sent_count: 2, failed_count: 0, error_message: '' }
    expect((await get(path)).body).toMatchObject(sent)
    const sibling = await seedEdition({ id: smallCrowd.organization })
    const { token } = await givenMember({ id: smallCrowd.organization }, 'admin', sibling.id)
    expect((await get(path, token)).status).toBe(404)
  })
})
