import { and, eq, not, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { inList } from '../../../db/conditions.ts'
import type { Statement } from '../../../db/database.ts'
import { campaigns } from '../../../db/schema/campaigns.ts'
import { update } from '../../../db/write.ts'
import { AppError, type FieldError } from '../../../domain/errors.ts'
import { campaignStatusesInNeed } from '../../../domain/segments.ts'
import type { MessageDetailRow } from '../queries.ts'

export interface MessageReference {
  type: 'edition' | 'trigger' | 'campaign'
  id: string
  name: string
}

const maxReferences = 20

const editionsUsing = (message: MessageDetailRow): SQL =>
  sql`editions.organization_id = ${message.organization_id}
    and (transaction_receipt_email_id = ${message.id} or refund_confirmation_email_id = ${message.id})`

const needsMessage = inList(sql`campaigns.status`, campaignStatusesInNeed)

const campaignsUsing = (message: MessageDetailRow): SQL => sql`email_message_id = ${message.id} and ${needsMessage}`

/** Ended campaigns keep only the id of a deleted message. */
export const detachEndedCampaigns = (message: MessageDetailRow): Statement =>
  update(
    campaigns,
    { deleted_message_id: sql`${campaigns.email_message_id}`, email_message_id: null },
    and(eq(campaigns.email_message_id, message.id), not(needsMessage)),
  )

export const isUnused = (message: MessageDetailRow): SQL =>
  sql`not exists (select 1 from editions where ${editionsUsing(message)})
    and not exists (select 1 from triggers where email_message_id = ${message.id})
    and not exists (select 1 from campaigns where ${campaignsUsing(message)})`

/** Campaigns, editions and other senders of the message. */
export const listUses = (ctx: Ctx, message: MessageDetailRow): Promise<MessageReference[]> =>
  ctx.db.all(sql<MessageReference>`select * from (
      select 'edition' as type, id, full_name as name from editions where ${editionsUsing(message)}
      union all select 'trigger', triggers.id, triggers.kind from triggers where email_message_id = ${message.id}
      union all select 'campaign', id, name from campaigns where ${campaignsUsing(message)}
    ) order by type, id limit ${maxReferences}`)

export const messageInUse = (
  references: readonly MessageReference[],
  detail: string,
  errors: readonly FieldError[] = [],
): AppError => new AppError('email_message_in_use', detail, { errors, extra: { related_objects: references } })
