import type { JobCtx } from '../../context.ts'
import { eventsOf, type EventProvider } from '../../gateways/provider-events/provider-events.ts'
import { takeReceiptEvents } from './receipts.ts'
import { passOn } from './visits.ts'

export { isEventProvider } from '../../gateways/provider-events/provider-events.ts'

/** Takes in what a provider posts; false without a good signature. */
export async function receiveEvents(
  job: JobCtx,
  provider: EventProvider,
  request: { headers: Headers; body: string },
): Promise<boolean> {
  const events = await eventsOf(job.config, provider, request, job.now())
  if (events === null) return false
  await takeReceiptEvents(job, events)
  await passOn(job, events)
  return true
}
