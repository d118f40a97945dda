import type { JobCtx, SendChunksMessage } from '../../context.ts'
export { startCampaignsUntil } from './delivery/due.ts'

import { sendChunks } from './delivery/consumer.ts'
import { listUnattended } from './delivery/due.ts'

const campaignsPerSweep = 500

export const isSendChunksMessage = (body: unknown): body is SendChunksMessage =>
  typeof body === 'object' &&
  body !== null &&
  (body as Partial<SendChunksMessage>).type === 'campaign.send-chunks' &&
  typeof (body as Partial<SendChunksMessage>).campaign_id === 'string'

export const sendCampaigns = (job: JobCtx, messages: readonly SendChunksMessage[]): Promise<void> =>
  sendChunks(job, [...new Set(messages.map(({ campaign_id }) => campaign_id))])

/** Wakes the Durable Objects of campaigns that are due, and of running campaigns whose row is out of date. */
export async function sweepCampaigns(job: JobCtx): Promise<number> {
  const campaigns = await listUnattended(job, campaignsPerSweep)
  await Promise.allSettled(campaigns.map(({ id }) => job.senders.get(id).wake(id)))
  return campaigns.length
}
