import { exports } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import type { TranslatedDict } from '../../src/domain/languages.ts'
import { get, patch, post, buildRequest } from '../support/api.ts'
import { listCaptured, loadCampaign, readStats, runUntil } from '../support/campaigns.ts'
import { repeatByLoops } from '../support/hostile-templates.ts'
import { seedPeople } from '../support/seeding/customers.ts'
import { type Crowd, seedCrowd, seedReady } from '../support/seeding/messaging/campaigns.ts'
import { seedMessage } from '../support/seeding/messaging/email-messages.ts'
import { write } from '../support/seeding/rows.ts'

const sms = (bodies: TranslatedDict) => ({ channel: 'sms' as const, sms_body: bodies })

/** Names are longer here than the document allows, so the answer is not compared with its schema. */
async function listFailed(id: string): Promise<Record<string, unknown>[]> {
  const response = await exports.default.fetch(buildRequest(`/v1/campaigns/${id}/recipients?state=failed`))
  const { results } = await response.json<{ results: Record<string, unknown>[] }>()
  return results.map(({ address, reason, error_code, error_detail, attempts }) => ({
    address,
    reason,
    error_code,
    error_detail,
    attempts,
  }))
}

/** Makes a crowd in which the name of one person makes a message too large. */
async function withLongName(length: number): Promise<{ crowd: Crowd; long: Crowd['people'][number] }> {
  const crowd = await seedCrowd(3)
  const [long] = await seedPeople(crowd, [
    {
      email: 'long-name@example.test',
      phone_number: '+4520999999',
      first_name: 'ł'.repeat(length),
      locale: 'da',
    },
  ])
  if (!long) throw new Error('nobody was added')
  return { crowd, long }
}

async function send(id: string): Promise<void> {
  const reply = await post(`/v1/campaigns/${id}/send-now`, {})
  expect([reply.status, reply.body.status]).toEqual([200, 'calculating'])
  await runUntil(id, ['sent', 'failed'])
}

describe('a message that exceeds its budget', () => {
  it('fails only for the recipient whose values make the SMS too large', async () => {
    const { crowd, long } = await withLongName(1500)
    const { campaign } = await seedReady(crowd, sms({ en: repeatByLoops(100, '{{ customer.first_name }}') }))
    await send(campaign.id)
    expect(await readStats(campaign.id)).toMatchObject({ total_recipients: 4, sent: 3, failed: 1 })
    expect(await listFailed(campaign.id)).toEqual([
      {
        address: long.phone_number,
        reason: 'rejected',
        error_code: 'not_renderable',
        error_detail: 'The text becomes too long: at most 100000 characters, captures and what filters use included.',
        attempts: 1,
      },
    ])
    expect((await listCaptured(campaign.id)).length).toBe(3)
  })

  it('fails only for the recipient whose values make the e-mail too large', async () => {
    const { crowd, long } = await withLongName(5000)
    const place = { organization: crowd.organization, edition: crowd.edition }
    const message = await seedMessage(place, {
      type: 'campaign',
      subject: { en: repeatByLoops(1000, '{{ customer.first_name }}'), da: 'Hej' },
    })
    const { campaign } = await seedReady(crowd, { email_message_id: message })
    await write(sql`update users set locale = 'en' where organization_id = ${crowd.organization}`)
    await send(campaign.id)
    expect(await readStats(campaign.id)).toMatchObject({ total_recipients: 4, sent: 3, failed: 1 })
    expect(await listFailed(campaign.id)).toMatchObject([
      {
        address: long.email,
        reason: 'rejected',
        error_code: 'not_renderable',
        error_detail: 'The text becomes too long: at most 2000000 characters, captures and what filters use included.',
      },
    ])
  })
})

describe('the text of an SMS', () => {
  it('is refused when sample values make it longer than 100,000 characters, with a pointer', async () => {
    const crowd = await seedCrowd(0)
    const { campaign } = await seedReady(crowd, sms({ en: 'x' }))
    const before = await loadCampaign(campaign.id)
    const sms_body = { en: `Hello\n${repeatByLoops(250, 'x'.repeat(500))}`, da: 'Hej' }
    const { segment_id, organization_id, edition_id } = before
    for (const reply of [
      await patch(`/v1/campaigns/${campaign.id}`, { sms_body }),
      await post('/v1/campaigns', { organization_id, edition_id, segment_id, name: 'x', channel: 'sms', sms_body }),
    ]) {
      expect([reply.status, reply.body.errors]).toMatchObject([
        400,
        [{ pointer: '#/sms_body/en', code: 'template_too_large', line: 2 }],
      ])
      expect(reply.body.errors[0].column).toBeGreaterThan(1)
      expect(reply.body.errors.length).toBe(1)
    }
    expect(await loadCampaign(campaign.id)).toEqual(before)
  })

  it('is refused with line and column when it is not a valid template', async () => {
    const crowd = await seedCrowd(0)
    const { campaign } = await seedReady(crowd, sms({ en: 'x' }))
    const reply = await patch(`/v1/campaigns/${campaign.id}`, { sms_body: { en: 'one\ntwo {{ "x" | shout }}' } })
    expect(reply.body.errors).toMatchObject([{ code: 'invalid_template', line: 2, column: 5 }])
  })

  it('has a size as soon as it is saved', async () => {
    const crowd = await seedCrowd(0)
    const { campaign } = await seedReady(crowd, sms({ en: 'x' }))
    const path = `/v1/campaigns/${campaign.id}`
    const saved = await patch(path, { sms_body: { en: 'Hello {{ customer.first_name }}', da: 'Hej ł', nl: ' ' } })
    expect(saved.body.sms_sizes).toEqual({
      en: { encoding: 'gsm7', characters: 12, parts: 1, ucs2_characters: [] },
      da: { encoding: 'ucs2', characters: 5, parts: 1, ucs2_characters: ['ł'] },
    })
    expect((await get(path)).body.sms_sizes).toEqual(saved.body.sms_sizes)
  })

  it('is removed with its sizes when the campaign changes to e-mail', async () => {
    const crowd = await seedCrowd(0)
    const { campaign } = await seedReady(crowd, sms({ en: 'Hello' }))
    const path = `/v1/campaigns/${campaign.id}`
    await patch(path, { sms_body: { en: 'Hello' } })
    expect((await patch(path, { channel: 'email' })).body).toMatchObject({ sms_sizes: {}, sms_body: '' })
  })

  it('is measured when a campaign is created with it', async () => {
    const crowd = await seedCrowd(0)
    const { campaign } = await seedReady(crowd, sms({ en: 'x' }))
    const { segment_id, organization_id, edition_id } = campaign
    const input = { organization_id, edition_id, segment_id, name: 'x', channel: 'sms' }
    const reply = await post('/v1/campaigns', { ...input, sms_body: { en: 'Hello' } })
    expect([reply.status, reply.body.sms_sizes]).toMatchObject([201, { en: { encoding: 'gsm7', parts: 1 } }])
    expect((await get(`/v1/campaigns/${reply.body.id}`)).body.sms_sizes).toEqual(reply.body.sms_sizes)
    const bare = await post('/v1/campaigns', input)
    expect(bare.body.sms_sizes).toEqual({})
  })
})
