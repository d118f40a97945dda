import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { AppError } from '../../domain/errors.ts'
import type { MessageDetailRow } from './queries.ts'

export interface RelatedObject {
  type: 'edition' | 'trigger' | 'campaign'
  id: string
  name: string
}

const shown = 20

const editionsUsing = (message: MessageDetailRow): SQL =>
  sql`editions.organization_id = ${message.organization_id}
    and (transaction_receipt_email_id = ${message.id} or refund_confirmation_email_id = ${message.id})`

/** True as long as nothing refers to the message: for the statement that removes it. */
export const isUnused = (message: MessageDetailRow): SQL =>
  sql`not exists (select 1 from editions where ${editionsUsing(message)})
    and not exists (select 1 from triggers where email_message_id = ${message.id})
    and not exists (select 1 from campaigns where email_message_id = ${message.id})`

/** What sends the message or has sent it. */
export const usesOf = (ctx: Ctx, message: MessageDetailRow): Promise<RelatedObject[]> =>
  ctx.db.all(sql<RelatedObject>`select * from (
      select 'edition' as type, id, full_name as name from editions where ${editionsUsing(message)}
      union all select 'trigger', triggers.id, triggers.kind from triggers where email_message_id = ${message.id}
      union all select 'campaign', id, name from campaigns where email_message_id = ${message.id}
    ) order by type, id limit ${shown}`)

export const inUse = (related: readonly RelatedObject[], detail: string): AppError =>
  new AppError('email_message_in_use', detail, { extra: { related_objects: related } })
