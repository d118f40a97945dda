import type { JobCtx } from '../../../context.ts'
import type { CampaignSenderRpc } from '../../../domain/campaigns/sender.ts'
import { sendClaim } from './chunk-calls.ts'
import { enqueueCampaign } from './enqueue.ts'

/** A consumer sends for this long. Then another one goes on. */
const shiftMs = 20_000
/** A consumer sends this many chunks of a campaign at once. The platform allows it six connections. */
const lanesAConsumer = 4

/** Sends chunk after chunk; each report hands out the next. Answers whether there is more for another consumer. */
async function sendChunksInTurn(job: JobCtx, sender: CampaignSenderRpc, endsAt: number): Promise<boolean> {
  let answer = await sender.claim(job.newId('claim'))
  while (answer.next) {
    const claim = answer.next
    const calls = await sendClaim(job, sender, claim)
    const goes_on = job.now() < endsAt
    answer = await sender.report({ chunk: claim.chunk, claim_id: claim.claim_id, calls, goes_on }, job.newId('claim'))
  }
  return answer.has_more
}

/** Sends the chunks of these campaigns. A crash loses nothing: claims expire, and the object enqueues again. */
export async function sendChunks(job: JobCtx, campaignIds: readonly string[]): Promise<void> {
  const endsAt = job.now() + shiftMs
  const endings = await Promise.allSettled(
    campaignIds.map(async (id) => {
      const sender = job.senders.of(id)
      const lanes = await Promise.allSettled(
        Array.from({ length: lanesAConsumer }, () => sendChunksInTurn(job, sender, endsAt)),
      )
      const fault = lanes.find((one) => one.status === 'rejected')
      if (lanes.some((one) => one.status === 'fulfilled' && one.value)) await enqueueCampaign(job, id, 1)
      if (fault) throw fault.reason
    }),
  )
  const fault = endings.find((one) => one.status === 'rejected')
  if (fault) throw new Error('a campaign could not be sent', { cause: fault.reason })
}
