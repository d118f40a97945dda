import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { projectSnapshot } from '../../src/modules/campaigns/delivery/projection.ts'
import { toSnapshot } from '../../src/objects/campaign/schema.ts'
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
  let place: Crowd
  beforeAll(async () => {
    place = await seedCrowd(0)
    const segment = await seedSegment(place)
    await seedCampaigns(place, segment.id, 2, { name: 'Ægir', search: 'aegir', status: 'draft' })
    await seedCampaigns(place, segment.id, 3, { channel: 'sms', status: 'failed' })
  })

  it.each([
    ['', 5],
    ['&channel=sms', 3],
    ['&status=draft', 2],
    ['&search=%C3%86GIR', 2],
  ])('filters by each parameter: %s', async (query, count) => {
    const { body } = await get(`/v1/campaigns?organization_id=${place.organization}${query}`)
    expect(body.count).toBe(count)
  })

  it('filters by edition and channel together', async () => {
    const { body } = await get(`/v1/campaigns?edition_id=${place.edition}&channel=email`)
    expect(body.count).toBe(2)
  })

  it('finds the campaigns of a segment and of a message, as far as the caller sees them', async () => {
    const { campaign, segment, message } = await seedReady(place)
    const organization = { id: place.organization }
    const reader = await givenMember(organization, 'viewer', place.edition)
    const stranger = await givenMember(organization, 'viewer', (await seedEdition(organization)).id)
    for (const filter of [`segment_id=${segment.id}`, `email_message_id=${message}`]) {
      expect((await get(`/v1/campaigns?${filter}`)).body.results).toMatchObject([{ id: campaign.id }])
      expect((await get(`/v1/campaigns?${filter}`, reader.token)).body.count).toBe(1)
      expect((await get(`/v1/campaigns?${filter}`, stranger.token)).body.count).toBe(0)
    }
    expect((await get('/v1/campaigns?segment_id=seg_none')).body.count).toBe(0)
  })

  it('refuses a status that does not exist', async () => {
    const { status, body } = await get('/v1/campaigns?status=paused')
    expect([status, body.errors]).toMatchObject([400, [{ code: 'invalid_choice', attr: 'status' }]])
  })
})

describe('listCampaignRecipients', () => {
  describe('of a campaign that was sent', () => {
    let id: string
    beforeAll(async () => {
      id = await seedCampaignInStatus(crowd, 'sent')
    })

    it.each([
      ['?state=sent', [{ state: 'sent', reason: null, attempts: 1 }]],
      ['?state=failed&reason=unreachable', [{ state: 'failed', reason: 'unreachable', error_code: 'http_503' }]],
      ['?reason=unknown', []],
      ['?state=cancelled', []],
    ])('filters by state and reason: %s', async (query, expected) => {
      const { body } = await get(`/v1/campaigns/${id}/recipients${query}`)
      expect([body.count, body.results]).toMatchObject([expected.length, expected])
    })

    it('lists everyone without a filter', async () => {
      expect((await get(`/v1/campaigns/${id}/recipients`)).body.count).toBe(3)
    })
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
  describe('of whom one was left out, and renamed later', () => {
    let place: Crowd
    let campaignId: string
    let token: string
    beforeAll(async () => {
      place = await seedCrowd(3)
      const id = place.people[1]?.id ?? ''
      await write(
        sql`update users set is_active = 0, first_name = 'Bodil', last_name = 'Ørsted', email = 'bodil@firma.dk',
          search_text = ${'bodil orsted\nbodil@firma.dk\n'} where id = ${id}`,
      )
      const { campaign } = await seedReady(place)
      campaignId = campaign.id
      await write(sql`update segments set expression = 'user.has_email' where id = ${campaign.segment_id}`)
      await post(`/v1/campaigns/${campaign.id}/send-now`, {})
      await runUntil(campaign.id, ['sent', 'failed'])
      await write(sql`update users set is_active = 1, last_name = 'Holm' where id = ${id}`)
      token = (await givenMember({ id: place.organization }, 'manager', place.edition)).token
    })

    const find = async (search: string, caller?: string) => {
      const query = new URLSearchParams({ search })
      const { body } = await get(`/v1/campaigns/${campaignId}/recipients?${query.toString()}`, caller)
      expect(body.count).toBe(body.results.length)
      return body.results.map(({ id, state, reason }: Record<string, unknown>) => [id, state, reason])
    }
    const person = (index: number) => place.people[index]
    const describeSkipped = () => [[person(1)?.id, 'skipped', 'inactive']]

    it.each(['orsted, bodil', 'Bodil Ørsted', 'BODIL@firma', 'bo or'])(
      'finds who was left out by the name and address of that time, with the reason: %s',
      async (search) => {
        expect(await find(search)).toEqual(describeSkipped())
      },
    )

    it('finds people by their user id', async () => {
      expect(await find(person(1)?.id ?? '')).toEqual(describeSkipped())
    })

    it('finds people by their address', async () => {
      expect(await find(person(2)?.email ?? '')).toEqual([[person(2)?.id, 'sent', null]])
    })

    it('finds all people of a name', async () => {
      expect(await find('holm astrid')).toHaveLength(2)
    })

    it('finds nobody by a name that nobody has', async () => {
      expect(await find('nobody')).toEqual([])
    })

    it('works together with filters and orderings', async () => {
      const query = 'search=holm&state=sent&ordering=-sent_at'
      expect((await get(`/v1/campaigns/${campaignId}/recipients?${query}`)).body.count).toBe(2)
    })

    it('hides from a role of the edition what only the organisation knows', async () => {
      expect(await find('bodil', token)).toEqual([])
    })

    it('finds for a role of the edition what the edition was told', async () => {
      // The edition was told an address of this person that is not the one that was sent to.
      expect(await find(person(1)?.email ?? '', token)).toEqual(describeSkipped())
      expect(await find('astrid', token)).toHaveLength(3)
      expect(await find(person(0)?.email ?? '', token)).toHaveLength(1)
    })

    it('finds people by their user id for a role of the edition', async () => {
      expect(await find(person(1)?.id ?? '', token)).toEqual(describeSkipped())
    })
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
    const base = { ...toSnapshot(snapshot), campaign_id: campaign.id, status: 'sent' as const }
    await projectSnapshot(createJob(), { ...base, run: 1, revision: 99 })
    await projectSnapshot(createJob(), { ...base, run: 2, revision: 10 })
    expect(await loadCampaign(campaign.id)).toEqual(before)
    await projectSnapshot(createJob(), { ...base, run: 2, revision: 11 })
    expect((await loadCampaign(campaign.id)).status).toBe('sent')
  })
})

describe('getCampaign', () => {
  it('shows the segment and the message of a draft', async () => {
    const { campaign, segment, message } = await seedReady(crowd)
    expect((await get(`/v1/campaigns/${campaign.id}`)).body).toMatchObject({
      id: campaign.id,
      status: 'draft',
      segment: { id: segment.id },
      email_message_id: message,
      sent_count: 0,
      started_at: null,
    })
  })

  it('counts the recipients of a campaign that was sent', async () => {
    const { campaign } = await seedReady(await seedCrowd(2))
    await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    await runUntil(campaign.id, ['sent', 'failed'])
    const sent = { status: 'sent', total_recipients: 2, sent_count: 2, failed_count: 0, error_message: '' }
    expect((await get(`/v1/campaigns/${campaign.id}`)).body).toMatchObject(sent)
  })

  it('finds no campaign of another edition', async () => {
    const { campaign } = await seedReady(crowd)
    const sibling = await seedEdition({ id: crowd.organization })
    const { token } = await givenMember({ id: crowd.organization }, 'admin', sibling.id)
    expect((await get(`/v1/campaigns/${campaign.id}`, token)).status).toBe(404)
  })
})
