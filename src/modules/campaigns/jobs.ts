import type { JobCtx, SendChunksMessage } from '../../context.ts'
import { findUnattended } from './delivery/due.ts'
import { sendChunks } from './delivery/consumer.ts'

/** An object at work updates its campaign's row more often than this. */
const quietMs = 90_000
const campaignsASweep = 500

export const isSendChunksMessage = (body: unknown): body is SendChunksMessage =>
  typeof body === 'object' &&
  body !== null &&
  (body as Partial<SendChunksMessage>).type === 'campaign.send-chunks' &&
  typeof (body as Partial<SendChunksMessage>).campaign_id === 'string'

export const sendCampaigns = (job: JobCtx, messages: readonly SendChunksMessage[]): Promise<void> =>
  sendChunks(job, [...new Set(messages.map(({ campaign_id }) => campaign_id))])

/** Wakes the objects of campaigns that are due, and of running ones that have not updated their row for a while. */
export async function sweepCampaigns(job: JobCtx): Promise<number> {
  const found = await findUnattended(job, quietMs, campaignsASweep)
  await Promise.allSettled(found.map(({ id }) => job.senders.of(id).wake(id)))
  return found.length
}
