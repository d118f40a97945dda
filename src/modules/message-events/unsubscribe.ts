import type { JobCtx } from '../../context.ts'
import { unsubscribe } from '../consents/index.ts'
import type { Subscriber } from './subscription.ts'

export { resubscribe } from '../consents/index.ts'

/** Unsubscribes, and counts it for the campaign. A second call changes nothing. */
export async function unsubscribeAndCount(job: JobCtx, subscriber: Subscriber): Promise<void> {
  await unsubscribe(job, subscriber)
  const { campaign_id, n } = subscriber
  await job.jobQueue.enqueue('campaign-events', [
    { type: 'campaign.events', campaign_id, events: [{ n, type: 'unsubscribed', at: job.now() }] },
  ])
}
