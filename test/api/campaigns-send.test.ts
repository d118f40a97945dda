import { describe, expect, it } from 'vitest'
import { get, post } from '../support/api.ts'
import { capturedOf, statsOf, until } from '../support/campaigns.ts'
import { seedCrowd, seedReady } from '../support/seed-campaigns.ts'

describe('a campaign', () => {
  it('goes out by e-mail, in the language of each person, and counts what happened', async () => {
    const crowd = await seedCrowd(7)
    const { campaign } = await seedReady(crowd)
    const started = await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    expect([started.status, started.body.status]).toEqual([200, 'calculating'])
    const row = await until(campaign.id, ['sent', 'failed'])
    expect(row).toMatchObject({ status: 'sent', total_recipients: 7, sent_count: 7, failed_count: 0, user_count: 7 })
    const captured = await capturedOf(campaign.id)
    expect(captured.map(({ recipient }) => recipient).toSorted()).toEqual(
      crowd.people
        .map(({ email }) => `Astrid Holm ${crowd.people.findIndex((p) => p.email === email)} <${email}>`)
        .toSorted(),
    )
    expect(await statsOf(campaign.id)).toMatchObject({ total_recipients: 7, sent: 7, delivered: 7, delivery_rate: 1 })
    const { body } = await get(`/v1/campaigns/${campaign.id}`)
    expect(body.status).toBe('sent')
  })
})
