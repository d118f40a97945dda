import type { JobCtx } from '../../context.ts'
import { mintPreferencesToken, buildPreferencesUrl } from '../../domain/consents/consent-tokens.ts'
import type { Template } from '../../domain/email/compile.ts'
import { describeRenderError } from '../../domain/email/liquid/liquid.ts'
import { personalise } from '../../domain/email/personalise.ts'
import type { TemplateContext } from '../../domain/email/liquid/variables.ts'
import { isRecord, readJson } from '../../domain/text/json.ts'
import { toDisplayName, chooseSender } from '../../domain/messaging/mailbox.ts'
import { failedFor, type SendVerdict } from '../../domain/messaging/transactional-emails.ts'
import { formatFullName } from '../../domain/accounts/users.ts'
import type { OutboundEmail } from '../../gateways/email/email.ts'
import { templateOf } from '../email-messages/index.ts'
import type { EmailClaim } from './claim.ts'
import { confirmationTemplate, type Frame, loadFrame } from './confirmations.ts'
import { loadOrder, orderContext } from './order-context.ts'
import { isRefundClaim, purchaseContext, type RefundClaim, refundContext, refundTemplate } from './refunds.ts'

type Composed = { email: OutboundEmail } | { verdict: SendVerdict }

interface EmailDraft {
  frame: Frame
  template: Template
  context: TemplateContext
}

async function linksOf({ config }: JobCtx, claim: EmailClaim): Promise<TemplateContext['links']> {
  const { user_id, organization_id, recipient: address, created_at: made_at } = claim
  const link = { user_id, organization_id, channel: 'email' as const, address, made_at }
  const token = mintPreferencesToken(config.linkSigningKey, link)
  return { preferences: buildPreferencesUrl(config.publicUrl, token), portal: '' }
}

async function draftReceipt(job: JobCtx, claim: EmailClaim): Promise<EmailDraft | null> {
  if (claim.order_id === null || claim.email_message_id === null) return null
  const order = await loadOrder(job.db, claim.order_id)
  const template = await templateOf(job, claim.email_message_id, claim.language, claim.edition_id)
  if (!order || !template) return null
  const context = { ...orderContext(order, template.language), links: await linksOf(job, claim) }
  return { frame: order.head, template, context }
}

async function draftConfirmation(job: JobCtx, claim: EmailClaim): Promise<EmailDraft | null> {
  const { confirmation } = claim
  const frame = await loadFrame(job, claim)
  if (!frame || confirmation === null) return null
  const template = await confirmationTemplate(job, { ...claim, confirmation }, frame)
  return { frame, template, context: {} }
}

async function draftRefund(job: JobCtx, claim: RefundClaim): Promise<EmailDraft | null> {
  const kept = claim.refund
  const order = await loadOrder(job.db, kept.order_id)
  if (!order) return null
  const { language, email_message_id: message } = claim
  const own = message === null ? null : await templateOf(job, message, language, claim.edition_id)
  if (!own) return { frame: order.head, template: refundTemplate(claim, kept, order), context: {} }
  const context = {
    ...orderContext(order, own.language),
    ...refundContext(kept, order.head.timezone, own.language),
    ...(await purchaseContext(job, kept, own.language)),
    links: await linksOf(job, claim),
  }
  return { frame: order.head, template: own, context }
}

function draftOf(job: JobCtx, claim: EmailClaim): Promise<EmailDraft | null> {
  if (isRefundClaim(claim)) return draftRefund(job, claim)
  return claim.kind === 'receipt' ? draftReceipt(job, claim) : draftConfirmation(job, claim)
}

function outbound(job: JobCtx, claim: EmailClaim, { frame, template, context }: EmailDraft): OutboundEmail {
  const sender = {
    names: [frame.email_sender_name, frame.edition_name ?? frame.organization_name],
    address: frame.email_sender_address,
    reply_to: frame.email_reply_to,
    is_verified: frame.is_sender_verified,
  }
  return {
    ...chooseSender(sender, job.config.emailFrom),
    to: { name: toDisplayName(formatFullName(frame)), address: claim.recipient },
    ...personalise(template, context),
    headers: { 'Auto-Submitted': 'auto-generated' },
    reference: claim.id,
  }
}

const isOutbound = (value: unknown): value is OutboundEmail =>
  isRecord(value) && isRecord(value['to']) && typeof value['html'] === 'string'

/** The message as it is sent, or the verdict when there is none. A repeated call gets exactly the same message. */
export async function compose(job: JobCtx, claim: EmailClaim): Promise<Composed> {
  if (claim.content !== null) return { email: readJson(claim.content, isOutbound) }
  const draft = await draftOf(job, claim)
  if (!draft) return { verdict: failedFor('message_missing', 'The message or its order does not exist any more.') }
  try {
    return { email: outbound(job, claim, draft) }
  } catch (error) {
    // The template fails for these values each time.
    const detail = describeRenderError(error) ?? (error instanceof Error ? error.message : '')
    return { verdict: failedFor('render_failed', detail.slice(0, 500)) }
  }
}
