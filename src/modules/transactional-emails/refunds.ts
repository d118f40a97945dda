import { eq, type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { inList } from '../../db/conditions.ts'
import type { RefundRow } from '../../db/rows.ts'
import { locations, products, variants } from '../../db/schema/catalog.ts'
import { purchases } from '../../db/schema/purchases.ts'
import { transactionalEmails } from '../../db/schema/transactional-emails.ts'
import { select } from '../../db/select.ts'
import { insertAll } from '../../db/write.ts'
import { refundConfirmationEmailTypes } from '../../domain/editions/editions.ts'
import { type Compiled, compile } from '../../domain/email/compile.ts'
import { toLocalDate } from '../../domain/email/liquid/local-date.ts'
import type { TemplateContext } from '../../domain/email/liquid/variables.ts'
import {
  type RefundSnapshot,
  buildRefundMessage,
  describeRefundReason,
} from '../../domain/email/messages/refund-messages.ts'
import { type Language, parseLanguage } from '../../domain/languages.ts'
import type { RefundEmailKind } from '../../domain/messaging/transactional-emails.ts'
import { formatLocalMoney } from '../../domain/money.ts'
import type { RefundReason, RefundStatus } from '../../domain/refunds/refunds.ts'
import type { CustomerClaim } from './claim.ts'
import { buildNewEmail } from './email-state.ts'
import type { MessageOrder } from './order-context.ts'

/** The refund as the transaction leaves it. */
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
  /** The text to the customer about a rejection. */
  rejection_reason: string | null
}

interface Recipient {
  email: string | null
  locale: string
  default_language: Language
  message_id: string | null
  /** The text of the batch to all its customers; null for a refund outside a batch. */
  batch_message: string | null
}

/** `message_id` is the edition's own refund confirmation, otherwise the platform's. */
const loadRecipient = ({ db }: Pick<JobCtx, 'db'>, refund: MailedRefund): Promise<Recipient | undefined> =>
  db.first(sql<Recipient>`select users.email, users.locale, editions.default_language,
      (select id from email_messages where id = editions.refund_confirmation_email_id
        or (scope = 'platform' and organization_id is null and ${inList(sql`type`, refundConfirmationEmailTypes)})
        order by id = editions.refund_confirmation_email_id desc, type, id limit 1) as message_id,
      (select nullif(message, '') from refund_batches where id = ${refund.batch_id}) as batch_message
    from users join editions on editions.id = ${refund.edition_id} where users.id = ${refund.user_id}`)

/**
 * Add these statements to the transaction that changes the refund. There are none if the customer has no e-mail address
 * or `notify_customer` is off. Call `enqueueEmails` afterwards.
 */
export async function buildRefundEmailStatements(
  ctx: Pick<JobCtx, 'config' | 'db' | 'newId' | 'now'>,
  kind: RefundEmailKind,
  refund: MailedRefund,
): Promise<SQL[]> {
  if (!refund.notify_customer) return []
  const recipient = await loadRecipient(ctx, refund)
  if (!recipient?.email) return []
  const { order_id, purchase_id, amount_minor, currency, reason, rejection_reason, status } = refund
  const snapshot: RefundSnapshot = {
    order_id,
    purchase_id,
    amount_minor,
    currency,
    reason,
    rejection_reason: kind === 'refund_rejection' ? rejection_reason : null,
    message: kind === 'refund_confirmation' ? recipient.batch_message : null,
    status,
    at: ctx.now(),
  }
  return insertAll(transactionalEmails, [
    {
      ...buildNewEmail(ctx),
      organization_id: refund.organization_id,
      edition_id: refund.edition_id,
      user_id: refund.user_id,
      kind,
      email_message_id: kind === 'refund_confirmation' ? recipient.message_id : null,
      refund_request_id: refund.id,
      refund_attempt: refund.attempts,
      refund: snapshot,
      language: parseLanguage(recipient.locale) ?? recipient.default_language,
      recipient: recipient.email,
    },
  ])
}

export type RefundClaim = CustomerClaim & { kind: RefundEmailKind; refund: RefundSnapshot }

export const isRefundClaim = (claim: CustomerClaim): claim is RefundClaim => claim.refund !== null

/** Values of the `refund` variables. */
export const buildRefundContext = (refund: RefundSnapshot, timezone: string, language: Language): TemplateContext => ({
  refund: {
    amount: formatLocalMoney(refund.amount_minor, refund.currency, language),
    reason: describeRefundReason(refund.reason, language),
    status: refund.status,
    message: refund.message ?? '',
    date: toLocalDate(refund.at, language, timezone, 'minute'),
  },
})

/** Values of the `purchase` variables; empty for the refund of a whole order. */
export async function loadPurchaseContext(
  { db }: Pick<JobCtx, 'db'>,
  refund: RefundSnapshot,
  language: Language,
): Promise<TemplateContext> {
  if (refund.purchase_id === null) return {}
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
      .where(eq(purchases.id, refund.purchase_id)),
  )
  if (!row) return {}
  return {
    purchase: {
      product: row.product_name,
      variant: row.variant_name ?? '',
      location: row.location_name ?? '',
      code: row.vendor_code ?? '',
      price: formatLocalMoney(row.price_minor, refund.currency, language),
      status: row.status,
    },
  }
}

/** The built-in text, for refunds that no e-mail message of the edition or the platform covers. */
export function compileRefundEmail(claim: RefundClaim, { head }: MessageOrder): Compiled {
  const { language, refund } = claim
  const message = buildRefundMessage({
    kind: claim.kind,
    language,
    order: head.order_number ?? head.id,
    organisation: head.organization_name,
    amount: formatLocalMoney(refund.amount_minor, refund.currency, language),
    reason: refund.rejection_reason,
    note: refund.message ?? null,
  })
  return compile(message, language, {
    defaultLanguage: language,
    title: head.edition_name,
    sender: head.organization_name,
  })
}
