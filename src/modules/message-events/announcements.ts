import { and, isNotNull, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { inList } from '../../db/conditions.ts'
import type { campaigns } from '../../db/schema/campaigns.ts'
import { transactionalEmails } from '../../db/schema/transactional-emails.ts'
import { select } from '../../db/select.ts'
import { formatReference } from '../../domain/campaigns/recipient-events.ts'
import type { AffectedRecipient } from '../../domain/campaigns/sender.ts'
import type { ProviderEvent } from '../../domain/messaging/messaging.ts'
import type { CustomerEmailKind } from '../../domain/messaging/transactional-emails.ts'
import { toIso } from '../../domain/time/instants.ts'
import type { Announcement } from '../webhooks/index.ts'

type MessageAnnouncement = Extract<Announcement, { kind: `message.${string}` }>

interface Report {
  /** Our reference of the message. */
  reference: string
  isComplaint: boolean
  bounce: ProviderEvent['bounce'] | undefined
  at: number
}

type ReportedMessage = Pick<MessageAnnouncement, 'organization_id' | 'edition_id'> &
  Pick<MessageAnnouncement['data'], 'message' | 'campaign' | 'order'> & { user_id: string }

/**
 * Providers repeat their reports, so each kind is announced once for a message. A message that bounced softly, or for a
 * reason that the provider does not say, may bounce hard later. That is announced too, because it ends the address.
 */
function buildMessageEvent(
  { organization_id, edition_id, user_id, ...message }: ReportedMessage,
  { reference, isComplaint, bounce, at }: Report,
): Announcement {
  const kind = isComplaint ? 'message.complained' : 'message.bounced'
  const reason = isComplaint ? 'complaint' : (bounce ?? 'undelivered')
  const data = { ...message, user: { api_id: user_id }, reason, occurred_at: toIso(at) } as const
  const dedup_key = bounce === 'hard' ? `${kind}:${reference}:hard` : `${kind}:${reference}`
  return { kind, organization_id, edition_id, data, dedup_key }
}

export type ReportedCampaign = Pick<
  typeof campaigns.$inferSelect,
  'id' | 'organization_id' | 'edition_id' | 'channel' | 'segment_snapshot'
>

/**
 * Builds the events of recipients of a campaign. Roles of an edition do not see recipients of a campaign that was started
 * with a segment of the whole organisation, so these events have no edition.
 */
export function buildRecipientAnnouncements(
  campaign: ReportedCampaign,
  recipients: readonly AffectedRecipient[],
): Announcement[] {
  const { id, organization_id, channel, segment_snapshot } = campaign
  const edition_id = segment_snapshot?.edition_id === campaign.edition_id ? campaign.edition_id : null
  const message = { channel, kind: 'campaign' as const }
  return recipients.map(({ event, user_id }) =>
    buildMessageEvent(
      { organization_id, edition_id, user_id, message, campaign: { id }, order: null },
      {
        reference: formatReference(id, event.n),
        isComplaint: event.type === 'complained',
        bounce: event.bounce,
        at: event.at,
      },
    ),
  )
}

const undeliveredTypes: readonly ProviderEvent['type'][] = ['bounced', 'failed', 'complained']

/** Builds the events of transactional e-mails, whose ids are the references of the provider's events. */
export async function buildEmailAnnouncements(
  { db }: Pick<JobCtx, 'db'>,
  events: readonly ProviderEvent[],
): Promise<Announcement[]> {
  const reports = events.filter(({ type }) => undeliveredTypes.includes(type))
  if (reports.length === 0) return []
  const references = reports.flatMap(({ reference }) => reference ?? [])
  const { id, organization_id, edition_id, user_id, order_id } = transactionalEmails
  const kind = sql<CustomerEmailKind>`${transactionalEmails.kind}`
  const emails = await db.all(
    select({
      id,
      edition_id,
      order_id,
      kind,
      organization_id: sql<string>`${organization_id}`,
      user_id: sql<string>`${user_id}`,
    })
      .from(transactionalEmails)
      .where(and(inList(sql`${id}`, references), isNotNull(user_id))),
  )
  const emailsById = new Map(emails.map((email) => [email.id, email]))
  return reports.flatMap(({ reference, type, bounce, at }) => {
    const email = emailsById.get(reference ?? '')
    if (!email) return []
    const message = { channel: 'email' as const, kind: email.kind }
    const order = email.order_id === null ? null : { id: email.order_id }
    return [
      buildMessageEvent(
        { ...email, message, campaign: null, order },
        { reference: email.id, isComplaint: type === 'complained', bounce, at },
      ),
    ]
  })
}
