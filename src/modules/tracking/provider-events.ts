import type { JobCtx } from '../../context.ts'
import { AppError, notFound } from '../../domain/errors.ts'
import { eventsOf, isEventProvider } from '../../gateways/provider-events/provider-events.ts'
import { takeReceiptEvents } from './receipts.ts'
import { passOn } from './visits.ts'

/** Takes in what a provider posts; refuses providers that we have none of, and what has no good signature. */
export async function receiveEvents(
  job: JobCtx,
  provider: string,
  request: { headers: Headers; body: string },
): Promise<void> {
  if (!isEventProvider(provider)) throw notFound()
  const events = await eventsOf(job.config, provider, request, job.now())
  if (events === null)
    throw new AppError('not_authenticated', 'The signature is missing, too old or does not fit the body.')
  await takeReceiptEvents(job, events)
  await passOn(job, events)
}
