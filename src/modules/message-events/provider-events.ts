import { getTableColumns, isNotNull, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import type { Statement } from '../../db/database.ts'
import { transactionalEmails } from '../../db/schema/transactional-emails.ts'
import { parseReference, toRecipientEvent } from '../../domain/campaigns/recipient-events.ts'
import { AppError, notFound } from '../../domain/errors.ts'
import type { ProviderEvent } from '../../domain/messaging/messaging.ts'
import { readSharedTime } from '../../domain/time/instants.ts'
import {
  type EventProvider,
  isEventProvider,
  readProviderEvents,
} from '../../gateways/provider-events/provider-events.ts'
import { countSoftBounce, suppress } from '../suppressions/index.ts'
import { recordLateSuccess } from '../transactional-emails/index.ts'
import { commitAnnounced } from '../webhooks/index.ts'
import { buildEmailAnnouncements } from './announcements.ts'
import { type CampaignEvents, enqueueCampaignEvents } from './enqueue.ts'

const isTransactionalEmail = (reference: string | null): reference is string =>
  /^tem_[0-9A-Za-z]{1,40}$/.test(reference ?? '')

const columns = getTableColumns(transactionalEmails)

/** These events prove that the message was sent, even when no answer of the provider came. */
const provingEvents: readonly ProviderEvent['type'][] = ['accepted', 'delivered', 'opened', 'clicked', 'complained']

function buildStatements({ reference, type, bounce, at, providerId }: ProviderEvent): Statement[] {
  if (!isTransactionalEmail(reference)) return []
  const recipient = sql`select ${columns.organization_id}, 'email' as channel, ${columns.recipient} as address
    from ${transactionalEmails} where ${columns.id} = ${reference} and ${isNotNull(columns.organization_id)}`
  const cause = { campaign_id: null, at }
  const confirmations = provingEvents.includes(type) ? [recordLateSuccess(reference, providerId, at)] : []
  if (type === 'complained') return [...confirmations, suppress(recipient, { ...cause, reason: 'complaint' })]
  if (bounce === 'hard') return [suppress(recipient, { ...cause, reason: 'hard_bounce' })]
  if (bounce === 'soft') return countSoftBounce(recipient, { ...cause, reference })
  return confirmations
}

/** Applies events of transactional e-mails. Bounces and complaints suppress the address, as for campaigns. */
async function applyTransactionalEmailEvents(job: JobCtx, events: readonly ProviderEvent[]): Promise<void> {
  const emailEvents = events.filter(({ reference }) => isTransactionalEmail(reference))
  const statements = emailEvents.flatMap(buildStatements)
  await commitAnnounced(job, statements, await buildEmailAnnouncements(job, emailEvents))
}

/** Finds the events about messages of campaigns, which the campaigns' Durable Objects apply. */
const findCampaignEvents = (events: readonly ProviderEvent[]): CampaignEvents =>
  events.flatMap((event) => {
    const reference = parseReference(event.reference)
    const recipientEvent = reference && toRecipientEvent(reference.n, event)
    return reference && recipientEvent ? [{ campaign_id: reference.campaign_id, event: recipientEvent }] : []
  })

/** Throws 404 for an unknown provider, before the body is read. */
export function parseProvider(name: string): EventProvider {
  if (isEventProvider(name)) return name
  throw notFound()
}

/** Applies the events that a provider posts; refuses a request without a valid signature. */
export async function receiveEvents(
  job: JobCtx,
  provider: EventProvider,
  request: { headers: Headers; body: string },
): Promise<void> {
  const events = await readProviderEvents(job.config, provider, request, readSharedTime(job))
  if (events === null)
    throw new AppError('not_authenticated', 'The signature is missing, too old or does not match the body.')
  await applyTransactionalEmailEvents(job, events)
  await enqueueCampaignEvents(job, findCampaignEvents(events))
}
