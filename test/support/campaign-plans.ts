import { sql } from 'drizzle-orm'
import { expect } from 'vitest'
import { measureSms } from '../../src/domain/messaging/sms-parts.ts'
import { get, post } from './api.ts'
import { listCaptured, readStats, runUntil } from './campaigns.ts'
import { type CampaignRow, type ReadyCampaign, seedReady } from './seeding/messaging/campaigns.ts'
import { type Place, write } from './seeding/rows.ts'

/** Seeds a campaign to everybody in the edition, also to people who are not active. */
export async function seedEveryone(place: Place, columns: Partial<CampaignRow> = {}): Promise<ReadyCampaign> {
  const ready = await seedReady(place, columns)
  await write(sql`update segments set expression = 'user.is_active || !user.is_active' where id = ${ready.segment.id}`)
  return ready
}

/** Counts by reason or language, in any order. */
type Counts = Record<string, number>

export interface Plan {
  faults: { code: string; attr: string | null; detail: string }[]
  warnings: { code: string }[]
  audience: {
    is_estimate: boolean
    people: number
    recipients: number
    skipped: number
    sent_before: number
    failed_before: number
    skipped_by_reason: {
      reason: string
      people: number
      examples: { user: { api_id: string; full_name: string; email: string | null }; address: string }[]
    }[]
    languages: { language: string; text_language: string | null; recipients: number; sms_parts: number }[]
    conditions: { condition: string; recipients: number }[] | null
    other_languages: { language: string | null; recipients: number }[]
    sms_parts: number
  }
  cost: { amount: number; currency: string } | null
  sending: {
    messages_per_call: number
    calls: number
    calls_per_second: number
    seconds: number
    window_opens_at: string | null
  } | null
}

export async function readPlan(id: string, token?: string): Promise<Plan> {
  const { status, body, text } = await get(`/v1/campaigns/${id}/plan`, token)
  expect([status, text]).toEqual([200, expect.anything()])
  return body
}

interface Recipient {
  id: string
  language: string
  state: string
  reason: string | null
}

async function listAllRecipients(id: string): Promise<Recipient[]> {
  const { body } = await get(`/v1/campaigns/${id}/recipients?page_size=500`)
  expect(body.next).toBeNull()
  return body.results
}

const countBy = <Item>(items: readonly Item[], name: (item: Item) => string | null): Counts => {
  const counts: Counts = {}
  for (const item of items) {
    const key = name(item) ?? ''
    counts[key] = (counts[key] ?? 0) + 1
  }
  return counts
}

/** The numbers of a plan that can be compared with what a campaign did. */
export const pickPlanNumbers = ({ audience }: Plan) => ({
  recipients: audience.recipients,
  skipped: audience.skipped,
  by_reason: Object.fromEntries(audience.skipped_by_reason.map(({ reason, people }) => [reason, people])),
  by_language: Object.fromEntries(
    audience.languages.filter((one) => one.recipients > 0).map((one) => [one.language, one.recipients]),
  ),
  sms_parts: audience.sms_parts,
})

/** Sends a campaign and counts what it did. Recipients of earlier starts are left out. */
export async function sendAndCount(id: string, channel: 'email' | 'sms'): Promise<ReturnType<typeof pickPlanNumbers>> {
  const earlierIds = new Set(
    (await listAllRecipients(id)).filter(({ state }) => state === 'sent').map((recipient) => recipient.id),
  )
  const earlierMessages = (await listCaptured(id)).length
  const reply = await post(`/v1/campaigns/${id}/send-now`, { accept: ['missing_translations'] })
  expect([reply.status, reply.text]).toEqual([200, expect.anything()])
  await runUntil(id, ['sent', 'failed'])
  const recipients = await listAllRecipients(id)
  const sentRecipients = recipients.filter((recipient) => recipient.state === 'sent' && !earlierIds.has(recipient.id))
  const skippedRecipients = recipients.filter(({ state }) => state === 'skipped')
  const stats = await readStats(id)
  expect(stats).toMatchObject({
    sent: sentRecipients.length + earlierIds.size,
    skipped: skippedRecipients.length,
    pending: 0,
  })
  const messages = (await listCaptured(id)).slice(earlierMessages)
  return {
    recipients: sentRecipients.length,
    skipped: skippedRecipients.length,
    by_reason: countBy(skippedRecipients, ({ reason }) => reason),
    by_language: countBy(sentRecipients, ({ language }) => language),
    sms_parts: channel === 'sms' ? messages.reduce((sum, { body }) => sum + measureSms(body).parts, 0) : 0,
  }
}
