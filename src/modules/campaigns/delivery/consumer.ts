import type { JobCtx } from '../../../context.ts'
import type { CampaignSenderRpc } from '../../../domain/campaigns/sender.ts'
import { sendChunk } from './chunk-calls.ts'
import { enqueueConsumers } from './enqueue.ts'

/** A consumer sends for this long before another one takes over. */
const consumerTimeMs = 20_000
/** A consumer sends this many chunks of a campaign at once. The platform allows it six connections. */
const chunksAtOnce = 4

/** Sends chunk after chunk: each report claims the next one. Returns whether another consumer would get a chunk. */
async function sendChunksInTurn(job: JobCtx, sender: CampaignSenderRpc, endsAt: number): Promise<boolean> {
  let result = await sender.exchangeChunk(null, job.newId('claim'))
  while (result.next) {
    const { chunk, claim_id } = result.next
    const calls = await sendChunk(job, sender, result.next)
    result = await sender.exchangeChunk({ chunk, claim_id, calls }, job.now() < endsAt ? job.newId('claim') : null)
  }
  return result.has_more
}

/** Sends chunks of these campaigns. A crash loses nothing: claims expire, and the Durable Object enqueues again. */
export async function sendChunks(job: JobCtx, campaignIds: readonly string[]): Promise<void> {
  const endsAt = job.now() + consumerTimeMs
  const results = await Promise.allSettled(
    campaignIds.map(async (id) => {
      const sender = job.senders.get(id)
      const sequences = await Promise.allSettled(
        Array.from({ length: chunksAtOnce }, () => sendChunksInTurn(job, sender, endsAt)),
      )
      const failure = sequences.find((result) => result.status === 'rejected')
      if (sequences.some((result) => result.status === 'fulfilled' && result.value)) await enqueueConsumers(job, id, 1)
      if (failure) throw failure.reason
    }),
  )
  const failure = results.find((result) => result.status === 'rejected')
  if (failure) throw new Error('a campaign could not be sent', { cause: failure.reason })
}
