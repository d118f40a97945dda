import type { JobCtx } from '../../context.ts'
import { eventsOf, isEventProvider } from '../../gateways/provider-events/provider-events.ts'
import { takeReceiptEvents } from './receipts.ts'
import { passOn } from './visits.ts'

/** Takes in what a provider posts: `unknown` for providers that we have none of, `forged` without a good signature. */
export async function receiveEvents(
  job: JobCtx,
  provider: string,
  request: { headers: Headers; body: string },
): Promise<'taken' | 'unknown' | 'forged'> {
  if (!isEventProvider(provider)) return 'unknown'
  const events = await eventsOf(job.config, provider, request, job.now())
  if (events === null) return 'forged'
  await takeReceiptEvents(job, events)
  await passOn(job, events)
  return 'taken'
}
