import type { JobCtx } from '../../context.ts'
import { formatFullName } from '../../domain/accounts/users.ts'
import { mintPreferencesToken, buildPreferencesUrl } from '../../domain/consents/consent-tokens.ts'
import type { Template } from '../../domain/email/compile.ts'
import { describeRenderError } from '../../domain/email/liquid/liquid.ts'
import type { TemplateContext } from '../../domain/email/liquid/variables.ts'
import { personalise } from '../../domain/email/personalise.ts'
import { toDisplayName } from '../../domain/messaging/mailbox.ts'
import { createFailedVerdict, type SendVerdict } from '../../domain/messaging/transactional-emails.ts'
import { isRecord, readJson } from '../../domain/text/json.ts'
import type { OutboundEmail } from '../../gateways/email/email.ts'
import { loadTemplate } from '../email-messages/index.ts'
import {
  type CustomerClaim,
  type EmailClaim,
  isCustomerClaim,
  isOrganizationClaim,
  type OrganizationClaim,
} from './claim.ts'
import { compileConfirmation } from './confirmations.ts'
import { chooseFrameSender, type Frame, loadFrame, transactionalHeaders } from './frame.ts'
import { loadOrder, buildOrderContext } from './order-context.ts'
import {
  buildRefundContext,
  compileRefundEmail,
  isRefundClaim,
  loadPurchaseContext,
  type RefundClaim,
} from './refunds.ts'
import { compileSignInEmail } from './sign-in-codes.ts'
import { compileSignupEmail } from './signups.ts'

type ComposedEmail = { email: OutboundEmail } | { verdict: SendVerdict }

interface EmailDraft {
  frame: Frame
  template: Template
  context: TemplateContext
}

async function buildLinks({ config }: JobCtx, claim: CustomerClaim): Promise<TemplateContext['links']> {
  const { user_id, organization_id, recipient: address, created_at: made_at } = claim
  const link = { user_id, organization_id, channel: 'email' as const, address, made_at }
  const token = mintPreferencesToken(config.linkSigningKey, link)
  return { preferences: buildPreferencesUrl(config.publicUrl, token), portal: '' }
}

async function draftReceipt(job: JobCtx, claim: CustomerClaim): Promise<EmailDraft | null> {
  if (claim.order_id === null || claim.email_message_id === null) return null
  const order = await loadOrder(job.db, claim.order_id)
  const template = await loadTemplate(job, claim.email_message_id, claim.language, claim.edition_id)
  if (!order || !template) return null
  const context = { ...buildOrderContext(order, template.language), links: await buildLinks(job, claim) }
  return { frame: order.head, template, context }
}

async function draftConfirmation(job: JobCtx, claim: CustomerClaim): Promise<EmailDraft | null> {
  const { confirmation } = claim
  const frame = await loadFrame(job, claim)
  if (!frame || confirmation === null) return null
  const template = await compileConfirmation(job, { ...claim, confirmation }, frame)
  return { frame, template, context: {} }
}

async function draftRefund(job: JobCtx, claim: RefundClaim): Promise<EmailDraft | null> {
  const { refund } = claim
  const order = await loadOrder(job.db, refund.order_id)
  if (!order) return null
  const { language, email_message_id: message } = claim
  const template = message === null ? null : await loadTemplate(job, message, language, claim.edition_id)
  if (!template) return { frame: order.head, template: compileRefundEmail(claim, order), context: {} }
  const context = {
    ...buildOrderContext(order, template.language),
    ...buildRefundContext(refund, order.head.timezone, template.language),
    ...(await loadPurchaseContext(job, refund, template.language)),
    links: await buildLinks(job, claim),
  }
  return { frame: order.head, template, context }
}

/** Null: the request was deleted with its form, or has expired. */
async function draftSignup(job: JobCtx, claim: OrganizationClaim): Promise<EmailDraft | null> {
  const frame = await loadFrame(job, claim)
  const template = frame && (await compileSignupEmail(job, claim, frame))
  return frame && template ? { frame, template, context: {} } : null
}

function draftEmail(job: JobCtx, claim: OrganizationClaim): Promise<EmailDraft | null> {
  if (!isCustomerClaim(claim)) return draftSignup(job, claim)
  if (isRefundClaim(claim)) return draftRefund(job, claim)
  return claim.kind === 'receipt' ? draftReceipt(job, claim) : draftConfirmation(job, claim)
}

/** Parts of a message that do not depend on its kind. */
const buildEnvelope = (claim: EmailClaim, recipientName: string | null) => ({
  to: { name: recipientName, address: claim.recipient },
  headers: transactionalHeaders,
  reference: claim.id,
})

function buildOutboundEmail(job: JobCtx, claim: EmailClaim, { frame, template, context }: EmailDraft): OutboundEmail {
  return {
    ...chooseFrameSender(job, frame),
    ...buildEnvelope(claim, toDisplayName(formatFullName(frame))),
    ...personalise(template, context),
  }
}

async function composeSignInEmail(job: JobCtx, claim: EmailClaim): Promise<ComposedEmail> {
  const template = await compileSignInEmail(job, claim)
  if (!template) return { verdict: createFailedVerdict('code_ended', 'The code was used or has expired.') }
  const sender = { from: job.config.emailFrom, replyTo: null }
  return { email: { ...sender, ...buildEnvelope(claim, null), ...personalise(template, {}) } }
}

const isOutbound = (value: unknown): value is OutboundEmail =>
  isRecord(value) && isRecord(value['to']) && typeof value['html'] === 'string'

/** A repeated call sends exactly the stored content, because the provider recognises repetitions by it. */
export async function composeEmail(job: JobCtx, claim: EmailClaim): Promise<ComposedEmail> {
  if (!isOrganizationClaim(claim)) return composeSignInEmail(job, claim)
  if (claim.content !== null) return { email: readJson(claim.content, isOutbound) }
  if (claim.recipient === '')
    return { verdict: createFailedVerdict('email_missing', 'The customer has no e-mail address.') }
  const draft = await draftEmail(job, claim)
  if (!draft)
    return {
      verdict: createFailedVerdict('message_missing', 'The e-mail message, the order or the sign-up form was deleted.'),
    }
  try {
    return { email: buildOutboundEmail(job, claim, draft) }
  } catch (error) {
    // Another attempt would fail in the same way.
    const detail = describeRenderError(error) ?? (error instanceof Error ? error.message : '')
    return { verdict: createFailedVerdict('render_failed', detail.slice(0, 500)) }
  }
}
