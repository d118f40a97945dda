import { runDurableObjectAlarm } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { eq, getTableColumns, sql } from 'drizzle-orm'
import { expect } from 'vitest'
import type { JobCtx } from '../../src/context.ts'
import { campaigns } from '../../src/db/schema/campaigns.ts'
import { select } from '../../src/db/select.ts'
import { openJob } from '../../src/entry/job.ts'
import { sendCampaigns } from '../../src/modules/campaigns/jobs.ts'
import { get, type Reply } from './api.ts'
import type { CampaignRow } from './seeding/messaging/campaigns.ts'
import { db } from './seeding/rows.ts'

export const getCampaignObject = (id: string) => env.CAMPAIGN_SENDER.get(env.CAMPAIGN_SENDER.idFromName(id))

export const createJob = (parts: Partial<JobCtx> = {}): JobCtx => ({ ...openJob(env), ...parts })

/** Runs the alarm of a campaign's object now. */
export const runAlarm = (id: string) => runDurableObjectAlarm(getCampaignObject(id))

export const loadCampaign = async (id: string): Promise<CampaignRow> => {
  const row = await db.first(select(getTableColumns(campaigns)).from(campaigns).where(eq(campaigns.id, id)))
  if (!row) throw new Error('there is no such campaign')
  return row
}

/** Runs one consumer of the queue. */
export const consume = (id: string, job = createJob()) =>
  sendCampaigns(job, [{ type: 'campaign.send-chunks', campaign_id: id }])

/** Runs alarms and consumers in turn until the campaign's row has one of these statuses. */
export async function runUntil(
  id: string,
  statuses: readonly string[],
  job = createJob(),
  isConsumed = true,
): Promise<CampaignRow> {
  for (let turn = 0; turn < 200; turn++) {
    const row = await loadCampaign(id)
    if (statuses.includes(row.status)) return row
    await runAlarm(id)
    if (isConsumed) await consume(id, job)
  }
  throw new Error(`campaign ${id} is still ${(await loadCampaign(id)).status}`)
}

export const readStats = async (id: string): Promise<Reply['body']> => {
  const reply = await get(`/v1/campaigns/${id}/stats`)
  expect(reply.status).toBe(200)
  return reply.body
}

export interface Captured {
  reference: string
  recipient: string
  sender: string
  subject: string
  html: string
  body: string
  headers: string
  reply_to: string | null
}

/** Lists the messages that the capture gateways stored for a campaign. */
export const listCaptured = (id: string): Promise<Captured[]> =>
  db.all(
    sql<Captured>`select reference, recipient, sender, subject, html, body, headers, reply_to from captured_messages
      where reference >= ${`${id}-`} and reference < ${`${id}.`} order by seq`,
  )
