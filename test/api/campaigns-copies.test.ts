import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { LostRace } from '../../src/domain/errors.ts'
import { findAuthorizedCampaign } from '../../src/modules/campaigns/checks.ts'
import { sendCampaignNow } from '../../src/modules/campaigns/transitions.ts'
import { patch, post, remove } from '../support/api.ts'
import { listCaptured, loadCampaign, runAlarm, runUntil, getCampaignObject } from '../support/campaigns.ts'
import { interruptBefore } from '../support/context.ts'
import { seedCrowd, seedReady } from '../support/seeding/messaging/campaigns.ts'
import { aBlock } from '../support/seeding/messaging/email-messages.ts'
import { db, formatHourFromNow, write } from '../support/seeding/rows.ts'

const sendNow = async (id: string) => expect((await post(`/v1/campaigns/${id}/send-now`, {})).status).toBe(200)
const edit = async (message: string, text: string) => {
  const content = { subject: { en: text, da: text }, blocks: [aBlock(text)] }
  expect((await patch(`/v1/email-messages/${message}`, content)).status).toBe(200)
}
const listTexts = async (id: string) => {
  const messages = await listCaptured(id)
  return [...new Set(messages.map(({ subject, body }) => `${subject} ${body}`))].join('\n')
}

describe('what send-now sends', () => {
  it('is the message that stood there when it answered, in every language', async () => {
    const place = await seedCrowd(3)
    const { campaign, message } = await seedReady(place)
    await edit(message, 'As it was decided')
    await sendNow(campaign.id)
    await edit(message, 'Edited afterwards')
    await write(sql`update editions set default_language = 'pl', is_archived = 1 where id = ${place.edition}`)
    await runUntil(campaign.id, ['sent'])
    const texts = await listTexts(campaign.id)
    expect(texts).toContain('As it was decided')
    expect(texts).not.toContain('Edited afterwards')
    expect(await listCaptured(campaign.id)).toHaveLength(3)
  })

  it('has the names of the edition and the languages that stood there when it answered', async () => {
    const place = await seedCrowd(3)
    const { campaign } = await seedReady(place, {
      channel: 'sms',
      sms_body: { en: 'See {{ edition.name }}', da: 'Se {{ edition.name }}' },
    })
    await write(sql`update editions set full_name = 'Nordlys Original' where id = ${place.edition}`)
    await sendNow(campaign.id)
    await write(
      sql`update editions set full_name = 'Renamed', enabled_languages = '["en"]' where id = ${place.edition}`,
    )
    await runUntil(campaign.id, ['sent'])
    const texts = (await listCaptured(campaign.id)).map(({ body }) => body.split('\n')[0])
    expect(new Set(texts)).toEqual(new Set(['See Nordlys Original', 'Se Nordlys Original']))
  })

  it('is the message of the last send-now, to the segment of that time, when a failed campaign is sent again', async () => {
    const { campaign, message } = await seedReady(await seedCrowd(1))
    await edit(message, 'First text')
    await sendNow(campaign.id)
    await write(sql`update users set is_active = 0 where organization_id = ${campaign.organization_id}`)
    expect((await runUntil(campaign.id, ['failed'])).sent_count).toBe(0)
    await write(sql`update users set is_active = 1 where organization_id = ${campaign.organization_id}`)
    await edit(message, 'Second text')
    await sendNow(campaign.id)
    await edit(message, 'Third text')
    await runUntil(campaign.id, ['sent'])
    expect(await listTexts(campaign.id)).toContain('Second text')
    expect(await listCaptured(campaign.id)).toHaveLength(1)
  })

  it('is decided again when the message changes during the request', async () => {
    const { campaign, message } = await seedReady(await seedCrowd(1))
    const ctx = interruptBefore(() => edit(message, 'Edited during the request'))
    const send = async () => sendCampaignNow(ctx, await findAuthorizedCampaign(ctx, campaign.id))
    await expect(send()).rejects.toBeInstanceOf(LostRace)
    expect((await loadCampaign(campaign.id)).status).toBe('draft')
    expect(await db.all(sql`select 1 from campaign_contents where campaign_id = ${campaign.id}`)).toEqual([])
  })
})

describe('what a scheduled campaign sends', () => {
  it('is the message that stands there at its start', async () => {
    const { campaign, message } = await seedReady(await seedCrowd(1))
    const body = { scheduled_at: formatHourFromNow() }
    expect((await post(`/v1/campaigns/${campaign.id}/schedule`, body)).status).toBe(200)
    await edit(message, 'Edited before the start')
    await write(sql`update campaigns set scheduled_at = ${Date.now() - 1000} where id = ${campaign.id}`)
    await getCampaignObject(campaign.id).wake(campaign.id)
    await runAlarm(campaign.id)
    await edit(message, 'Edited after the start')
    await runUntil(campaign.id, ['sent'])
    expect(await listTexts(campaign.id)).toContain('Edited before the start')
    expect((await remove(`/v1/email-messages/${message}`)).status).toBe(204)
  })
})
