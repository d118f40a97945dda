import { and, desc, eq, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { Ctx, JobCtx } from '../../context.ts'
import { isClaimable } from '../../db/claims.ts'
import { abortUnless } from '../../db/commit.ts'
import { inList } from '../../db/conditions.ts'
import type { Statement } from '../../db/database.ts'
import { users } from '../../db/schema/customers.ts'
import { editions } from '../../db/schema/editions.ts'
import { emailMessages } from '../../db/schema/email-messages.ts'
import { orders } from '../../db/schema/orders.ts'
import { transactionalEmails } from '../../db/schema/transactional-emails.ts'
import { select } from '../../db/select.ts'
import { insert, insertAll, update } from '../../db/write.ts'
import { receiptEmailTypes } from '../../domain/editions/editions.ts'
import { LostRace } from '../../domain/errors.ts'
import { type Language, parseLanguage } from '../../domain/languages.ts'
import type { SuppressionReason } from '../../domain/messaging/suppressions.ts'
import {
  type ReceiptState,
  receiptStatuses,
  type SendableReceipt,
  type WithholdingCode,
  withholdingReasons,
} from '../../domain/messaging/transactional-emails.ts'
import type { OrderStatus } from '../../domain/orders/orders.ts'
import { selectSuppression } from '../suppressions/index.ts'
import { isPending } from './claim.ts'
import { buildNewEmail, type EmailStateRow } from './email-state.ts'

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
  receiptOrders: readonly ReceiptOrder[],
): SQL[] {
  const rows = receiptOrders.flatMap(({ order_id, user_id, status, email, language }) =>
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
  return insertAll(transactionalEmails, rows).map(
    (statement) => sql`${statement} on conflict (order_id, kind, resend_number) do nothing`,
  )
}

interface ReceiptRow extends ReceiptState {
  edition: ReceiptEdition
  user_id: string
  language: Language
  latest_number: number | null
}

/** Loads what decides whether the receipt of an order is sent again. The order is read already. */
export async function loadReceiptState(
  ctx: Pick<Ctx, 'db'>,
  { id, status }: { id: string; status: OrderStatus },
): Promise<ReceiptRow> {
  const { order_id, kind, created_at, resend_number } = transactionalEmails
  const isReceipt = sql`${order_id} = ${id} and ${kind} = 'receipt'`
  const row = await ctx.db.first(
    select({
      id: editions.id,
      organization_id: editions.organization_id,
      transaction_receipt_email_id: editions.transaction_receipt_email_id,
      default_language: editions.default_language,
      user_id: users.id,
      email: users.email,
      locale: users.locale,
      suppression: sql<SuppressionReason | null>`${selectSuppression('reason', {
        organization_id: sql`${editions.organization_id}`,
        channel: sql`'email'`,
        address: sql`${users.email}`,
      })}`,
      latest_at: sql<number | null>`(select max(${created_at}) from ${transactionalEmails} where ${isReceipt})`,
      latest_number: sql<number | null>`(select max(${resend_number}) from ${transactionalEmails} where ${isReceipt})`,
    })
      .from(orders)
      .innerJoin(editions, eq(editions.id, orders.edition_id))
      .innerJoin(users, eq(users.id, orders.user_id))
      .where(eq(orders.id, id)),
  )
  if (!row) throw new LostRace('the order is gone')
  const { user_id, email, locale, default_language, suppression, latest_at, latest_number, ...edition } = row
  return {
    order_status: status,
    edition,
    user_id,
    email,
    language: parseLanguage(locale) ?? default_language,
    suppression,
    latest_at,
    latest_number,
    message_id: await pickReceiptMessage(ctx, edition),
  }
}

/** Ends the receipts of an order that wait, unless a consumer is about to send them. */
export const withholdReceipts = (orderId: string, code: WithholdingCode, now: number): Statement =>
  update(
    transactionalEmails,
    {
      status: 'failed',
      error_code: code,
      error_detail: withholdingReasons[code],
      due_at: null,
      content: null,
      waiting_reason: null,
      waiting_since: null,
      modified_at: now,
    },
    sql`order_id = ${orderId} and kind = 'receipt' and ${isPending} and ${isClaimable(now)}`,
  )

/** Unique columns that fail when two requests send the same receipt again at once. */
export const receiptRaces = {
  'transactional_emails.order_id, transactional_emails.kind, transactional_emails.resend_number': () =>
    new LostRace('another request sent the receipt'),
}

/** Builds the statements that send a receipt again, to the address that the customer has when they run. */
export function planReceipt(
  ctx: Pick<Ctx, 'config' | 'newId' | 'now' | 'caller'>,
  orderId: string,
  state: ReceiptRow & SendableReceipt,
): { receipt: EmailStateRow; statements: Statement[] } {
  const { edition, user_id, email, language, message_id, latest_number } = state
  const receipt = {
    ...buildNewEmail(ctx),
    organization_id: edition.organization_id,
    edition_id: edition.id,
    order_id: orderId,
    user_id,
    kind: 'receipt' as const,
    resend_number: (latest_number ?? -1) + 1,
    requested_by: ctx.caller.id,
    email_message_id: message_id,
    language,
    recipient: email,
  }
  return {
    receipt,
    statements: [
      abortUnless(sql`exists (select 1 from orders join users on users.id = orders.user_id
        where orders.id = ${orderId} and orders.status = ${state.order_status} and users.email = ${email})`),
      withholdReceipts(orderId, 'superseded', ctx.now()),
      insert(transactionalEmails, receipt),
    ],
  }
}
