import { eq, type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { transactionalEmails } from '../../db/schema/messaging/transactional-emails.ts'
import { locations, products, variants } from '../../db/schema/sales/catalog.ts'
import { purchases } from '../../db/schema/sales/orders.ts'
import type { RefundRow } from '../../db/schema/sales/refunds.ts'
import { select } from '../../db/select.ts'
import { inList } from '../../db/visibility.ts'
import { insertAll } from '../../db/write.ts'
import { refundConfirmationEmailTypes } from '../../domain/editions/editions.ts'
import { type Compiled, compile } from '../../domain/email/compile.ts'
import { dateText } from '../../domain/email/messages/dates.ts'
import { type KeptRefund, refundMessage, refundReasonText } from '../../domain/email/messages/refund-messages.ts'
import type { TemplateContext } from '../../domain/email/liquid/variables.ts'
import { type Language, parseLanguage } from '../../domain/languages.ts'
import { formatLocalMoney } from '../../domain/money.ts'
import type { RefundReason, RefundStatus } from '../../domain/refunds/refunds.ts'
import { type RefundEmailKind, transactionalEmailLifecycle } from '../../domain/messaging/transactional-emails.ts'
import type { EmailClaim } from './claim.ts'
import type { OrderAndItems } from './order-context.ts'

/** A refund after the transaction that also writes the message. */
export type MailedRefund = Pick<
  RefundRow,
  | 'id'
  | 'organization_id'
  | 'edition_id'
  | 'user_id'
  | 'order_id'
  | 'purchase_id'
  | 'attempts'
  | 'batch_id'
  | 'currency'
  | 'notify_customer'
> & {
  reason: RefundReason
  status: RefundStatus
  amount_minor: number
  /** The text of a rejection. */
  rejection_reason: string | null
}

interface Recipient {
  email: string | null
  locale: string
  default_language: Language
  message_id: string | null
  /** Of the batch that the refund belongs to; null for none. */
  batch_message: string | null
}

/** The customer, and the message that confirms refunds: that of the edition, otherwise the platform's. */
const recipientOf = ({ db }: Pick<JobCtx, 'db'>, refund: MailedRefund): Promise<Recipient | undefined> =>
  db.first(sql<Recipient>`select users.email, users.locale, editions.default_language,
      (select id from email_messages where id = editions.refund_confirmation_email_id
        or (scope = 'platform' and organization_id is null and ${inList(sql`type`, refundConfirmationEmailTypes)})
        order by id = editions.refund_confirmation_email_id desc, type, id limit 1) as message_id,
      (select nullif(message, '') from refund_batches where id = ${refund.batch_id}) as batch_message
    from users join editions on editions.id = ${refund.edition_id} where users.id = ${refund.user_id}`)

/**
 * The statement that sends a message about a refund, for the transaction that changes the refund. There is none for a
 * customer without an address, or with `notify_customer` off. Afterwards: `enqueueEmails`.
 */
export async function refundEmailStatements(
  ctx: Pick<JobCtx, 'db' | 'now' | 'newId'>,
  kind: RefundEmailKind,
  refund: MailedRefund,
): Promise<SQL[]> {
  if (!refund.notify_customer) return []
  const recipient = await recipientOf(ctx, refund)
  if (!recipient?.email) return []
  const now = ctx.now()
  const { order_id, purchase_id, amount_minor, currency, reason, rejection_reason, status } = refund
  const kept: KeptRefund = {
    order_id,
    purchase_id,
    amount_minor,
    currency,
    reason,
    rejection_reason: kind === 'refund_rejection' ? rejection_reason : null,
    message: kind === 'refund_confirmation' ? recipient.batch_message : null,
    status,
    at: now,
  }
  return insertAll(transactionalEmails, [
    {
      id: ctx.newId('transactional_email'),
      organization_id: refund.organization_id,
      edition_id: refund.edition_id,
      user_id: refund.user_id,
      kind,
      email_message_id: kind === 'refund_confirmation' ? recipient.message_id : null,
      refund_request_id: refund.id,
      refund_attempt: refund.attempts,
      refund: kept,
      language: parseLanguage(recipient.locale) ?? recipient.default_language,
      recipient: recipient.email,
      status: transactionalEmailLifecycle.initial,
      due_at: now,
      created_at: now,
      modified_at: now,
    },
  ])
}

export type RefundClaim = EmailClaim & { kind: RefundEmailKind; refund: KeptRefund }

export const isRefundClaim = (claim: EmailClaim): claim is RefundClaim => claim.refund !== null

/** Variables about the refund for an organisation's own confirmation. */
export const refundContext = (kept: KeptRefund, timezone: string, language: Language): TemplateContext => ({
  refund: {
    amount: formatLocalMoney(kept.amount_minor, kept.currency, language),
    reason: refundReasonText(kept.reason, language),
    status: kept.status,
    message: kept.message ?? '',
    date: dateText(kept.at, language, timezone, 'minute'),
  },
})

/** Variables about the purchase, where the refund is for a single one. */
export async function purchaseContext(
  { db }: Pick<JobCtx, 'db'>,
  kept: KeptRefund,
  language: Language,
): Promise<TemplateContext> {
  if (kept.purchase_id === null) return {}
  const { vendor_code, price_minor, status } = purchases
  const row = await db.first(
    select({
      vendor_code,
      price_minor,
      status,
      product_name: products.name,
      variant_name: variants.name,
      location_name: locations.name,
    })
      .from(purchases)
      .innerJoin(products, eq(products.id, purchases.product_id))
      .leftJoin(variants, eq(variants.id, purchases.variant_id))
      .leftJoin(locations, eq(locations.id, purchases.location_id))
      .where(eq(purchases.id, kept.purchase_id)),
  )
  if (!row) return {}
  return {
    purchase: {
      product: row.product_name,
      variant: row.variant_name ?? '',
      location: row.location_name ?? '',
      code: row.vendor_code ?? '',
      price: formatLocalMoney(row.price_minor, kept.currency, language),
      status: row.status,
    },
  }
}

/** The platform's own message, where the edition and the platform have none of the kind. */
export function refundTemplate(claim: RefundClaim, kept: KeptRefund, { head }: OrderAndItems): Compiled {
  const { language } = claim
  const message = refundMessage({
    kind: claim.kind,
    language,
    order: head.order_number ?? head.id,
    amount: formatLocalMoney(kept.amount_minor, kept.currency, language),
    reason: kept.rejection_reason,
    note: kept.message ?? null,
  })
  return compile(message, language, {
    defaultLanguage: language,
    title: head.edition_name,
    sender: head.organization_name,
  })
}
