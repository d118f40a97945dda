import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { app } from '../../src/app.ts'
import type { CampaignEventsMessage } from '../../src/context.ts'
import { toBase64, utf8 } from '../../src/domain/text/encoding.ts'
import { post } from './api.ts'
import { type Captured, listCaptured, runUntil } from './campaigns.ts'
import { type Crowd, marketingTo, seedCrowd, seedReady } from './seeding/messaging/campaigns.ts'

const phone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15'
export const secret = `whsec_${toBase64(utf8('a secret of thirty-two characters'))}`

/** Requests a page without a token, and stores the messages for the campaigns' objects. */
export async function visit(path: string, init: RequestInit = {}, agent: string | null = phone) {
  const enqueued: CampaignEventsMessage[] = []
  const queue = {
    sendBatch: async (batch: { body: CampaignEventsMessage }[]) => void enqueued.push(...batch.map(({ body }) => body)),
  }
  const context = createExecutionContext()
  const headers = { ...(agent ? { 'user-agent': agent } : {}), ...(init.headers as Record<string, string>) }
  const request = new Request(`https://events.example.test${path}`, { redirect: 'manual', ...init, headers })
  const bindings = { ...env, CAMPAIGN_EVENTS: queue, EMAIL_WEBHOOK_SECRET: secret }
  const response = await app.fetch(request, bindings, context)
  await waitOnExecutionContext(context)
  return { status: response.status, headers: response.headers, text: await response.text(), enqueued }
}

/** A time ten seconds after everything was sent. */
export const delayEvents = (messages: CampaignEventsMessage[]) =>
  messages.map((message) => ({
    ...message,
    events: message.events.map((event) => ({ ...event, at: event.at + 10_000 })),
  }))

export interface SentCampaign {
  id: string
  crowd: Crowd
  /** The consent to marketing that all people gave. */
  consent: string
  captured: Captured[]
}

export async function sendCampaign(count: number): Promise<SentCampaign> {
  const crowd = await seedCrowd(count)
  const { campaign } = await seedReady(crowd)
  const consent = await marketingTo(crowd, campaign.segment_id)
  await post(`/v1/campaigns/${campaign.id}/send-now`, {})
  await runUntil(campaign.id, ['sent', 'failed'])
  return { id: campaign.id, crowd, consent, captured: await listCaptured(campaign.id) }
}

export const listPaths = (mail: Captured | undefined, kind: string): string[] =>
  [...(mail?.html ?? '').matchAll(new RegExp(`https://events\\.example\\.test(/t/${kind}/[\\w-]+)`, 'g'))].map(
    ([, path]) => path ?? '',
  )
