import { and, desc, eq, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { Ctx, JobCtx } from '../../context.ts'
import { inList } from '../../db/conditions.ts'
import type { editions } from '../../db/schema/editions.ts'
import { emailMessages } from '../../db/schema/email-messages.ts'
import { transactionalEmails } from '../../db/schema/transactional-emails.ts'
import { select } from '../../db/select.ts'
import { insertAll } from '../../db/write.ts'
import { receiptEmailTypes } from '../../domain/editions/editions.ts'
import type { Language } from '../../domain/languages.ts'
import { receiptStatuses } from '../../domain/messaging/transactional-emails.ts'
import type { OrderStatus } from '../../domain/orders/orders.ts'
import { buildNewEmail } from './email-state.ts'

type ReceiptEdition = Pick<typeof editions.$inferSelect, 'id' | 'organization_id' | 'transaction_receipt_email_id'>

/** A new order and the customer who gets its receipt. */
export interface ReceiptOrder {
  order_id: string
  user_id: string
  status: OrderStatus
  email: string | null
  language: Language
}

/** The edition's own receipt, otherwise the platform's. Null: the edition sends no receipts. */
export async function pickReceiptMessage(ctx: Pick<Ctx, 'db'>, edition: ReceiptEdition): Promise<string | null> {
  const { id, scope, organization_id, type } = emailMessages
  const isOwn = eq(id, edition.transaction_receipt_email_id ?? '')
  const isFromPlatform = and(eq(scope, 'platform'), isNull(organization_id), inList(sql`${type}`, receiptEmailTypes))
  const row = await ctx.db.first(
    select({ id }).from(emailMessages).where(or(isOwn, isFromPlatform)).orderBy(desc(isOwn), type, id).limit(1),
  )
  return row?.id ?? null
}

/** Add these statements to the transaction that creates the orders, so that no order is written without its receipt. */
export function buildReceiptStatements(
  ctx: Pick<JobCtx, 'config' | 'newId' | 'now'>,
  edition: ReceiptEdition,
  messageId: string,
  orders: readonly ReceiptOrder[],
): SQL[] {
  const rows = orders.flatMap(({ order_id, user_id, status, email, language }) =>
    email !== null && receiptStatuses.includes(status)
      ? [
          {
            ...buildNewEmail(ctx),
            organization_id: edition.organization_id,
            edition_id: edition.id,
            order_id,
            user_id,
            kind: 'receipt' as const,
            email_message_id: messageId,
            language,
            recipient: email,
          },
        ]
      : [],
  )
  return insertAll(transactionalEmails, rows).map((insert) => sql`${insert} on conflict (order_id, kind) do nothing`)
}
