import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Ctx } from '../../src/context.ts'
import { LostRace } from '../../src/domain/errors.ts'
import { findAuthorizedCampaign } from '../../src/modules/campaigns/checks.ts'
import { scheduleCampaign, sendCampaignNow } from '../../src/modules/campaigns/transitions.ts'
import { updateCampaign } from '../../src/modules/campaigns/update.ts'
import { get, patch, post } from '../support/api.ts'
import { loadCampaign } from '../support/campaigns.ts'
import { interruptBefore } from '../support/context.ts'
import { givenMember } from '../support/seeding/members.ts'
import { seedCampaignInStatus, type Crowd, seedCrowd } from '../support/seeding/messaging/campaigns.ts'
import { seedMessage } from '../support/seeding/messaging/email-messages.ts'
import { write, formatHourFromNow } from '../support/seeding/rows.ts'

let crowd: Crowd
let manager: string
beforeAll(async () => {
  crowd = await seedCrowd(3)
  manager = (await givenMember({ id: crowd.organization }, 'manager', crowd.edition)).token
})

const buildPath = (id: string, more = '') => `/v1/campaigns/${id}${more}`
const verbs = {
  schedule: async (ctx: Ctx, id: string) =>
    scheduleCampaign(ctx, await findAuthorizedCampaign(ctx, id), { scheduled_at: formatHourFromNow() }),
  send: async (ctx: Ctx, id: string) => sendCampaignNow(ctx, await findAuthorizedCampaign(ctx, id)),
}

describe('changing a message that a campaign is about to send', () => {
  const unsendable: [string, Record<string, unknown>, string, string][] = [
    ['another type', { type: 'other' }, '#/type', 'wrong_type'],
    ['no block', { blocks: [] }, '#/blocks', 'no_blocks'],
    ['no subject in the language of the edition', { subject: { da: 'Hej' } }, '#/subject/en', 'missing_subject'],
  ]

  it.each(unsendable)('is refused when it would leave the message unsendable: %s', async (_, change, pointer, code) => {
    for (const status of ['scheduled', 'calculating'] as const) {
      const id = await seedCampaignInStatus(crowd, status)
      const { email_message_id, name } = await loadCampaign(id)
      const path = `/v1/email-messages/${email_message_id}`
      const before = (await get(path)).text
      const reply = await patch(path, { title: 'Changed', ...change }, manager)
      expect(reply).toMatchObject({ status: 409, body: { code: 'email_message_in_use', errors: [{ pointer, code }] } })
      expect(reply.body.related_objects).toEqual([{ type: 'campaign', id, name }])
      expect((await get(path)).text).toBe(before)
    }
    for (const status of ['draft', 'sending', 'sent', 'failed', 'cancelled'] as const) {
      const { email_message_id } = await loadCampaign(await seedCampaignInStatus(crowd, status))
      expect((await patch(`/v1/email-messages/${email_message_id}`, change)).status).toBe(200)
    }
  })

  it('is checked for each edition that sends the message, and only new faults count', async () => {
    const other = await seedCrowd(0)
    const danish = await seedCrowd(0, { default_language: 'da' })
    const shared = await seedMessage({ organization: crowd.organization, edition: null }, { type: 'campaign' })
    await write(sql`update editions set organization_id = ${crowd.organization}, slug = id
      where id in (${other.edition}, ${danish.edition})`)
    const ids: string[] = []
    for (const edition of [crowd.edition, danish.edition])
      ids.push(
        await seedCampaignInStatus({ organization: crowd.organization, edition }, 'scheduled', {
          email_message_id: shared,
        }),
      )
    const path = `/v1/email-messages/${shared}`
    const refusal = await patch(path, { subject: { en: 'Only English' } })
    expect([refusal.status, refusal.body.errors]).toMatchObject([
      409,
      [
        { pointer: '#/subject/da', code: 'missing_translation' },
        { pointer: '#/subject/da', code: 'missing_subject' },
      ],
    ])
    expect(refusal.body.related_objects).toMatchObject(ids.toSorted().map((id) => ({ id })))
    // The message can still be corrected after its edition has changed its language.
    await write(sql`update editions set default_language = 'pl' where id = ${danish.edition}`)
    expect((await patch(path, { title: 'Mended' })).status).toBe(200)
    expect((await patch(path, { subject: { en: 'English', da: 'Dansk' } })).status).toBe(200)
    expect((await patch(path, { type: 'other' })).status).toBe(409)
  })

  it.each([
    ['is scheduled', verbs.schedule],
    ['is sent', verbs.send],
  ])('aborts a campaign that %s at the same time, which then decides again', async (_, verb) => {
    const id = await seedCampaignInStatus(crowd, 'draft')
    const { email_message_id } = await loadCampaign(id)
    const ctx = interruptBefore(
      async () => void (await patch(`/v1/email-messages/${email_message_id}`, { blocks: [] })),
    )
    await expect(verb(ctx, id)).rejects.toBeInstanceOf(LostRace)
    await expect(verb(ctx, id)).rejects.toMatchObject({ code: 'campaign_not_ready', errors: [{ code: 'no_blocks' }] })
    expect((await loadCampaign(id)).status).toBe('draft')
  })

  it('is noticed by a campaign that chooses the message at the same time', async () => {
    const id = await seedCampaignInStatus(crowd, 'scheduled')
    const next = await seedMessage(crowd, { type: 'campaign' })
    const ctx = interruptBefore(async () => void (await patch(`/v1/email-messages/${next}`, { type: 'other' })))
    const take = async () => updateCampaign(ctx, await findAuthorizedCampaign(ctx, id), { email_message_id: next })
    await expect(take()).rejects.toBeInstanceOf(LostRace)
    await expect(take()).rejects.toMatchObject({ code: 'campaign_not_ready' })
  })

  it('fails when the campaign is scheduled at the same time, or the scheduling fails', async () => {
    for (let round = 0; round < 8; round++) {
      const id = await seedCampaignInStatus(crowd, 'draft')
      const { email_message_id } = await loadCampaign(id)
      const change = () => patch(`/v1/email-messages/${email_message_id}`, { type: 'other' })
      const plan = () => post(buildPath(id, '/schedule'), { scheduled_at: formatHourFromNow() })
      const [changed, planned] =
        round % 2 ? await Promise.all([change(), plan()]) : (await Promise.all([plan(), change()])).toReversed()
      const { status } = await loadCampaign(id)
      expect([changed?.status, planned?.status, status]).toEqual(
        status === 'scheduled' ? [409, 200, 'scheduled'] : [200, 409, 'draft'],
      )
    }
  })
})
