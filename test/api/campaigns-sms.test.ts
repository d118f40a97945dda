import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import type { TranslatedDict } from '../../src/domain/languages.ts'
import { get, patch, post } from '../support/api.ts'
import { listCaptured, runUntil } from '../support/campaigns.ts'
import { type Crowd, marketingTo, seedCrowd, seedReady } from '../support/seeding/messaging/campaigns.ts'
import { write } from '../support/seeding/rows.ts'
import { seedPeople } from '../support/seeding/customers.ts'

const texts = (bodies: TranslatedDict) => ({ channel: 'sms' as const, sms_body: bodies })

async function send(crowd: Crowd, bodies: object): Promise<string> {
  const { campaign } = await seedReady(crowd, texts(bodies))
  await marketingTo(crowd, campaign.segment_id)
  const reply = await post(`/v1/campaigns/${campaign.id}/send-now`, {})
  expect([reply.status, reply.body.status]).toEqual([200, 'calculating'])
  await runUntil(campaign.id, ['sent', 'failed'])
  return campaign.id
}

describe('the text of an SMS', () => {
  it('is in the default language when the recipient’s language is blank, with the unsubscribe text', async () => {
    // The first person reads Danish, and the others read English.
    const crowd = await seedCrowd(2)
    const id = await send(crowd, { en: 'Doors open at ten', da: ' \n ' })
    const link = 'https://events\\.example\\.test/t/u/[\\w-]+'
    const bodies = (await listCaptured(id)).map(({ body }) => body)
    expect(bodies.toSorted()).toEqual([
      expect.stringMatching(`^Doors open at ten\nStop: ${link}$`),
      expect.stringMatching(`^Doors open at ten\nStop: ${link}$`),
    ])
  })

  it.each([[{}], [{ en: '' }], [{ en: '  ' }], [{ da: 'Hej' }]])(
    'is refused without a text in the default language: %j',
    async (bodies) => {
      const crowd = await seedCrowd(0)
      const { campaign } = await seedReady(crowd, texts(bodies))
      const before = (await get(`/v1/campaigns/${campaign.id}`)).body
      for (const verb of ['send-now', 'schedule']) {
        const scheduled_at = new Date(Date.now() + 3_600_000).toISOString()
        const reply = await post(`/v1/campaigns/${campaign.id}/${verb}`, verb === 'schedule' ? { scheduled_at } : {})
        expect([reply.status, reply.body.code]).toEqual([409, 'campaign_not_ready'])
        expect(reply.body.errors).toMatchObject([{ code: 'missing_text', pointer: '#/sms_body' }])
      }
      expect((await get(`/v1/campaigns/${campaign.id}`)).body).toMatchObject({
        status: 'draft',
        scheduled_at: before.scheduled_at,
      })
    },
  )

  it('is counted with the unsubscribe text and the links as they are sent', async () => {
    const crowd = await seedCrowd(0)
    const { campaign } = await seedReady(crowd, texts({ en: 'x' }))
    const sizes = async (sms_body: object) => (await patch(`/v1/campaigns/${campaign.id}`, { sms_body })).body.sms_sizes
    const { en: short } = await sizes({ en: 'a' })
    const added = short.characters - 1
    // The unsubscribe text is `Stop: `, a line break and an address as long as real ones.
    expect(added).toBeGreaterThan(60)
    expect(await sizes({ en: 'a'.repeat(160 - added), da: 'a'.repeat(161 - added) })).toMatchObject({
      en: { encoding: 'GSM-7', characters: 160, parts: 1 },
      da: { encoding: 'GSM-7', parts: 2 },
    })
    expect(await sizes({ pl: 'ż'.repeat(10), en: '€' })).toMatchObject({
      pl: { encoding: 'UCS-2', parts: 2 },
      en: { encoding: 'GSM-7', characters: added + 2 },
    })
    expect(await sizes({ en: ' ' })).toEqual({})
  })
})

describe('the sender of an SMS', () => {
  it.each([
    ['Store', 'Købstævne Æblø', 'Kobstaevne'],
    ['Store', 'Łódź Śpiewa', 'Lodz Spiewa'],
    ['Store', '東京', 'Tickets'],
    ['Store', '2026', 'Tickets'],
    ['Platform', 'Nordlys', 'Tickets'],
  ] as const)('is read from %s and an organisation called %s as %s', async (sms_sender_name, name, sender) => {
    const crowd = await seedCrowd(1, { sms_sender_name })
    await write(sql`update organizations set name = ${name} where id = ${crowd.organization}`)
    expect((await listCaptured(await send(crowd, { en: 'Hello' })))[0]?.sender).toBe(sender)
  })
})

describe('the phone number of an SMS', () => {
  it('is in E.164 format, with the country code of the edition if it has none', async () => {
    const crowd = await seedCrowd(0, { default_country_code: '+46' })
    const numbers = ['+4520123456', '070-123 45 67', '12', 'none']
    crowd.people = await seedPeople(
      crowd,
      numbers.map((phone_number) => ({ phone_number, locale: 'en' })),
    )
    const id = await send(crowd, { en: 'Hello' })
    expect((await listCaptured(id)).map(({ recipient }) => recipient).toSorted()).toEqual([
      '+4520123456',
      '+46701234567',
    ])
    const { body } = await get(`/v1/campaigns/${id}/recipients?state=skipped`)
    expect(body.results.map(({ reason }: { reason: string }) => reason)).toEqual(['no_address', 'no_address'])
  })
})
