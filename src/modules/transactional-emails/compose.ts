import type { JobCtx } from '../../context.ts'
import { renderFault } from '../../domain/email/liquid.ts'
import { type Personalised, personalise } from '../../domain/email/personalise.ts'
import type { Language } from '../../domain/languages.ts'
import { displayName, senderOf } from '../../domain/mailbox.ts'
import { failedFor, type SendVerdict } from '../../domain/transactional-emails.ts'
import { fullName } from '../../domain/users.ts'
import type { OutboundEmail } from '../../gateways/email/email.ts'
import { templateOf } from '../email-messages/index.ts'
import type { Claim } from './claim.ts'
import { loadOrder, orderContext, type OrderAndItems } from './order-context.ts'

type Composed = { email: OutboundEmail } | { verdict: SendVerdict }

function outbound(job: JobCtx, claim: Claim, { head }: OrderAndItems, words: Personalised): OutboundEmail {
  const sender = {
    names: [head.email_sender_name, head.edition_name],
    address: head.email_sender_address,
    reply_to: head.email_reply_to,
    is_verified: head.is_sender_verified === 1,
  }
  return {
    ...senderOf(sender, job.config.emailFrom),
    to: { name: displayName(fullName(head)), address: claim.recipient },
    ...words,
    headers: { 'Auto-Submitted': 'auto-generated' },
    reference: claim.id,
  }
}

/** The message as it goes out, or why there is none. What was handed out before is handed out again, to the letter. */
export async function compose(job: JobCtx, claim: Claim): Promise<Composed> {
  if (claim.content !== null) return { email: JSON.parse(claim.content) as OutboundEmail }
  const language = claim.language as Language
  const order = await loadOrder(job.db, claim.order_id)
  const template = await templateOf(job, claim.email_message_id, language, claim.edition_id)
  if (!order || !template) return { verdict: failedFor('message_missing', 'The message is gone.') }
  try {
    return { email: outbound(job, claim, order, personalise(template, orderContext(order, language))) }
  } catch (error) {
    // The template fails for these values each time.
    const detail = renderFault(error) ?? (error instanceof Error ? error.message : '')
    return { verdict: failedFor('render_failed', detail.slice(0, 500)) }
  }
}
