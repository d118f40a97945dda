import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import type { TranslatedDict } from '../../src/domain/languages.ts'
import { get, patch, post } from '../support/api.ts'
import { listCaptured, runUntil } from '../support/campaigns.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedPeople } from '../support/seeding/customers.ts'
import { type Crowd, marketingTo, seedCrowd, seedReady } from '../support/seeding/messaging/campaigns.ts'
import { write } from '../support/seeding/rows.ts'

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
        expect(describeRefusal(reply)).toBe('409 campaign_not_ready: missing_text #/sms_body')
      }
      expect((await get(`/v1/campaigns/${campaign.id}`)).body).toMatchObject({
        status: 'draft',
        scheduled_at: before.scheduled_at,
      })
    },
  )

  const sizesOf = async (id: string, sms_body: object) =>
    (await patch(`/v1/campaigns/${id}`, { sms_body })).body.sms_sizes

  it('is one SMS of 160 letters where no link is sent', async () => {
    const { campaign } = await seedReady(await seedCrowd(0), texts({ en: 'x' }))
    const sizes = await sizesOf(campaign.id, {
      en: 'a'.repeat(160),
      da: 'a'.repeat(161),
      nl: 'x{{ links.unsubscribe }}',
    })
    expect(sizes).toMatchObject({
      en: { encoding: 'gsm7', characters: 160, parts: 1 },
      da: { encoding: 'gsm7', characters: 161, parts: 2 },
      nl: { characters: 1 },
    })
  })

  it.each(['marketing', 'transactional'] as const)(
    'is as long as it was counted, with the links of a %s campaign and the names of its edition',
    async (type) => {
      const crowd = await seedCrowd(2, { enabled_languages: ['en'], full_name: 'Nordlys – the long nights' })
      const { campaign } = await seedReady(crowd, texts({ en: 'x' }))
      if (type === 'marketing') await marketingTo(crowd, campaign.segment_id)
      await write(sql`update users set first_name = 'Astrid' where organization_id = ${crowd.organization}`)
      await write(sql`update segments set user_count = 2 where id = ${campaign.segment_id}`)
      const body =
        '{{ customer.first_name }} at {{ edition.name }}: https://example.com/a?b=1 and https://example.com/c. {{ links.preferences }}'
      const { en } = await sizesOf(campaign.id, { en: body })
      expect(en).toMatchObject({ encoding: 'ucs2', ucs2_characters: ['–'] })
      await post(`/v1/campaigns/${campaign.id}/send-now`, {})
      await runUntil(campaign.id, ['sent'])
      const sent = await listCaptured(campaign.id)
      expect(sent).toHaveLength(2)
      expect(sent.map(({ body: text }) => text.includes('Stop: '))).toEqual([
        type === 'marketing',
        type === 'marketing',
      ])
      expect(sent.map(({ body: text }) => [...text].length)).toEqual([en.characters, en.characters])
      expect((await get(`/v1/campaigns/${campaign.id}`)).body.sms_sizes.en).toEqual(en)
    },
  )

  it('has other links as soon as the segment becomes one for marketing', async () => {
    const crowd = await seedCrowd(1)
    const { campaign } = await seedReady(crowd, texts({ en: 'x' }))
    const { en: before } = await sizesOf(campaign.id, { en: 'Doors open' })
    await marketingTo(crowd, campaign.segment_id)
    const { en: after } = (await get(`/v1/campaigns/${campaign.id}`)).body.sms_sizes
    expect([before.characters, after.characters > 50]).toEqual([10, true])
  })

  it('lists the characters that make it dearer, each once', async () => {
    const { campaign } = await seedReady(await seedCrowd(0), texts({ en: 'x' }))
    const sizes = await sizesOf(campaign.id, { en: 'a – b – “c” 👩‍👩‍👧 ø é', da: 'æøå€ é', pl: 'łłżź' })
    expect(sizes).toMatchObject({
      en: { encoding: 'ucs2', ucs2_characters: ['–', '“', '”', '👩‍👩‍👧'] },
      da: { encoding: 'gsm7', ucs2_characters: [] },
      pl: { encoding: 'ucs2', ucs2_characters: ['ł', 'ż', 'ź'] },
    })
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
