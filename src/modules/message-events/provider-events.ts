import type { JobCtx } from '../../context.ts'
import { AppError, notFound } from '../../domain/errors.ts'
import {
  readProviderEvents,
  type EventProvider,
  isEventProvider,
} from '../../gateways/provider-events/provider-events.ts'
import { applyTransactionalEmailEvents } from './transactional-emails.ts'
import { enqueueCampaignEvents } from './visits.ts'

/** The provider of this name; 404 for an unknown one, before its body is read. */
export function providerOf(name: string): EventProvider {
  if (isEventProvider(name)) return name
  throw notFound()
}

/** Applies the events that a provider posts; refuses a request without a valid signature. */
export async function receiveEvents(
  job: JobCtx,
  provider: EventProvider,
  request: { headers: Headers; body: string },
): Promise<void> {
  const events = await readProviderEvents(job.config, provider, request, job.now())
  if (events === null)
    throw new AppError('not_authenticated', 'The signature is missing, too old or does not fit the body.')
  await applyTransactionalEmailEvents(job, events)
  await enqueueCampaignEvents(job, events)
}
