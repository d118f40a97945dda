import { and, desc, eq, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import type { editions } from '../../db/schema/editions.ts'
import { transactionalEmails } from '../../db/schema/messaging/transactional-emails.ts'
import { emailMessages } from '../../db/schema/messaging/email-messages.ts'
import { select } from '../../db/select.ts'
import { insertAll } from '../../db/write.ts'
import { receiptEmailTypes } from '../../domain/editions/editions.ts'
import type { Language } from '../../domain/languages.ts'
import { receiptStatuses, transactionalEmailLifecycle } from '../../domain/messaging/transactional-emails.ts'
import type { OrderStatus } from '../../domain/orders/orders.ts'
import { inList } from '../../db/visibility.ts'

type ReceiptEdition = Pick<typeof editions.$inferSelect, 'id' | 'organization_id' | 'transaction_receipt_email_id'>

/** A new order and its customer. */
export interface ReceiptOrder {
  order_id: string
  user_id: string
  status: OrderStatus
  email: string | null
  language: Language
}

/** The message that the edition sends as receipt: its own, otherwise the platform's. Null when there is none. */
export async function receiptMessageOf(ctx: Pick<Ctx, 'db'>, edition: ReceiptEdition): Promise<string | null> {
  const { id, scope, organization_id, type } = emailMessages
  const isOwn = eq(id, edition.transaction_receipt_email_id ?? '')
  const isPlatforms = and(eq(scope, 'platform'), isNull(organization_id), inList(sql`${type}`, receiptEmailTypes))
  const row = await ctx.db.first(
    select({ id }).from(emailMessages).where(or(isOwn, isPlatforms)).orderBy(desc(isOwn), type, id).limit(1),
  )
  return row?.id ?? null
}

/** Statements for the transaction that makes the orders, so that an order and its receipt are written together or not at all. */
export function receiptStatements(
  ctx: Pick<Ctx, 'now' | 'newId'>,
  edition: ReceiptEdition,
  messageId: string,
  orders: readonly ReceiptOrder[],
): SQL[] {
  const now = ctx.now()
  const rows = orders.flatMap(({ order_id, user_id, status, email, language }) =>
    email !== null && receiptStatuses.includes(status)
      ? [
          {
            id: ctx.newId('transactional_email'),
            organization_id: edition.organization_id,
            edition_id: edition.id,
            order_id,
            user_id,
            kind: 'receipt' as const,
            email_message_id: messageId,
            language,
            recipient: email,
            status: transactionalEmailLifecycle.initial,
            due_at: now,
            created_at: now,
            modified_at: now,
          },
        ]
      : [],
  )
  return insertAll(transactionalEmails, rows).map((insert) => sql`${insert} on conflict (order_id, kind) do nothing`)
}
