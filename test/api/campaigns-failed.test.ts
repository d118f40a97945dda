import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { get, post, remove } from '../support/api.ts'
import { runAlarm, loadCampaign, getCampaignObject } from '../support/campaigns.ts'
import { describeRefusal } from '../support/refusals.ts'
import {
  seedCampaignInStatus,
  type Crowd,
  seedCrowd,
  seedReady,
  inRecipientStore,
  seedRecipients,
} from '../support/seeding/messaging/campaigns.ts'
import { db, write } from '../support/seeding/rows.ts'

let crowd: Crowd
beforeAll(async () => {
  crowd = await seedCrowd(3)
})

const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString()

/** Makes a campaign that was stopped after the first of three people had got it. */
async function stopped(): Promise<{ id: string; reached: number }> {
  const id = await seedCampaignInStatus(crowd, 'failed')
  const [first] = await seedRecipients(id, 3, { status: 'failed', error_message: 'wrong key', projected_revision: 99 })
  return { id, reached: first?.n ?? 0 }
}

const openedLate = async (id: string, n: number) => {
  await inRecipientStore(id, (store) => store.changeRecord({ revision: 100 }, { isVisible: false }))
  await getCampaignObject(id).applyEvents([{ n, type: 'opened', at: Date.now() }])
  await runAlarm(id)
}

describe('a failed campaign that is scheduled again', () => {
  it('stays scheduled when a recipient opens the first message before the start', async () => {
    const { id, reached } = await stopped()
    const scheduled = await post(`/v1/campaigns/${id}/schedule`, { scheduled_at: tomorrow() })
    expect([scheduled.status, scheduled.body.status]).toEqual([200, 'scheduled'])
    await openedLate(id, reached)
    expect(await loadCampaign(id)).toMatchObject({
      status: 'scheduled',
      error_message: '',
      opened_count: 1,
      sent_count: 1,
    })
  })

  it('stays cancelled when a recipient opens the first message before the start', async () => {
    const { id, reached } = await stopped()
    await post(`/v1/campaigns/${id}/schedule`, { scheduled_at: tomorrow() })
    expect((await post(`/v1/campaigns/${id}/cancel`, {})).body.status).toBe('cancelled')
    await openedLate(id, reached)
    expect(await loadCampaign(id)).toMatchObject({ status: 'cancelled', error_message: '', opened_count: 1 })
  })
})

describe('a failed campaign whose segment was deleted', () => {
  it.each(['send-now', 'schedule'])('is refused by %s, and the segment stays deleted', async (verb) => {
    const { campaign, segment } = await seedReady(crowd, { status: 'failed', run: 1 })
    expect((await remove(`/v1/segments/${segment.id}`)).status).toBe(204)
    const before = await loadCampaign(campaign.id)
    const body = verb === 'schedule' ? { scheduled_at: tomorrow() } : {}
    const reply = await post(`/v1/campaigns/${campaign.id}/${verb}`, body)
    expect(describeRefusal(reply)).toBe('409 campaign_not_ready: does_not_exist #/segment_id')
    expect(await loadCampaign(campaign.id)).toEqual(before)
  })

  it('fails when a run starts, and its segment is not calculated', async () => {
    const { campaign, segment } = await seedReady(crowd, { status: 'calculating', run: 1, heartbeat_at: Date.now() })
    await write(sql`update segments set deleted_at = 1 where id = ${segment.id}`)
    await getCampaignObject(campaign.id).wake(campaign.id)
    for (let turn = 0; turn < 5; turn++) await runAlarm(campaign.id)
    expect(await loadCampaign(campaign.id)).toMatchObject({
      status: 'failed',
      error_message: 'does_not_exist: The segment was deleted.',
    })
    expect(await db.first(sql`select status, epoch from segments where id = ${segment.id}`)).toEqual({
      status: 'draft',
      epoch: 0,
    })
  })
})

describe('deleting a campaign', () => {
  it('is refused while the outcome of a recipient is unknown', async () => {
    const id = await seedCampaignInStatus(crowd, 'failed')
    const [first] = await seedRecipients(id, 1, { status: 'failed', projected_revision: 99 })
    await inRecipientStore(id, (store) =>
      store.storage.sql.exec("update recipients set state = 'failed', reason = 'unknown', sent_at = null"),
    )
    await inRecipientStore(id, (store) => store.changeRecord({ sent: 0, failed: 1 }))
    const reply = await remove(`/v1/campaigns/${id}`)
    expect(describeRefusal(reply)).toBe('409 invalid_transition')
    const { body } = await get(`/v1/campaigns/${id}/recipients?reason=unknown`)
    expect(body.results).toMatchObject([{ id: first?.user_id, state: 'failed' }])
  })
})
