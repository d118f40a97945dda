import { eq, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import type { Statement } from '../../db/database.ts'
import { campaigns } from '../../db/schema/messaging/campaigns.ts'
import { select } from '../../db/select.ts'
import { formatReference } from '../../domain/campaigns/recipient-events.ts'
import type { AffectedRecipient } from '../../domain/campaigns/sender.ts'
import type { Channel } from '../../domain/messaging/messaging.ts'
import { selectAddress, countSoftBounce, suppress } from './change.ts'

/** Suppresses the addresses of recipients whose messages bounced or who complained. */
export async function suppressRecipients(
  job: JobCtx,
  campaignId: string,
  recipients: readonly AffectedRecipient[],
): Promise<void> {
  const campaign = await job.db.first(
    select({ organization_id: campaigns.organization_id, channel: sql<Channel>`${campaigns.channel}` })
      .from(campaigns)
      .where(eq(campaigns.id, campaignId)),
  )
  if (!campaign) return
  const statements = recipients.flatMap(({ event, address }): Statement[] => {
    const addresses = selectAddress({ ...campaign, address })
    const cause = { campaign_id: campaignId, at: event.at }
    if (event.type === 'complained') return [suppress(addresses, { ...cause, reason: 'complaint' })]
    if (event.bounce === 'hard') return [suppress(addresses, { ...cause, reason: 'hard_bounce' })]
    if (event.bounce !== 'soft') return []
    return countSoftBounce(addresses, { ...cause, reference: formatReference(campaignId, event.n) })
  })
  if (statements.length) await job.db.batch(statements)
}
