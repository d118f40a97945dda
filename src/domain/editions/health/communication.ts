import { receiptEmailTypes, refundConfirmationEmailTypes } from '../editions.ts'
import { findSenderNameFault } from '../../messaging/mailbox.ts'
import { type Check, checksOf, lacksText } from './check.ts'
import type { EditionFacts } from './facts.ts'

const sends = ({ messages }: EditionFacts, id: string | null, types: readonly string[]): boolean =>
  messages.some((message) => message.id === id && types.includes(message.type))

export const communication: readonly Check[] = checksOf('communication', [
  {
    id: 'receipt_email',
    severity: 'warning',
    rule: 'Buyers get a receipt.',
    message: 'There is no receipt e-mail, or it is not of that type.',
    suggestion: 'Choose one, or adopt a template.',
    fails: (facts) => !sends(facts, facts.edition.transaction_receipt_email_id, receiptEmailTypes),
  },
  {
    id: 'refund_email',
    severity: 'warning',
    rule: 'Refunds are confirmed.',
    message: 'There is no refund confirmation e-mail, or it is not of that type.',
    suggestion: 'Choose one, or adopt a template.',
    fails: (facts) => !sends(facts, facts.edition.refund_confirmation_email_id, refundConfirmationEmailTypes),
  },
  {
    id: 'templates_not_empty',
    severity: 'warning',
    rule: 'E-mails that are sent have a subject and content.',
    message: 'An e-mail has no content, or no subject in the default language.',
    suggestion: 'Edit it.',
    fails: ({ edition, messages }) =>
      messages.filter(({ has_blocks, subject }) => !has_blocks || lacksText(subject, [edition.default_language])),
  },
  {
    id: 'sender',
    severity: 'warning',
    rule: 'E-mails name their sender.',
    message: 'The name or the address of the sender is empty.',
    suggestion: 'Set the sender.',
    fails: ({ edition }) => !edition.email_sender_name?.trim() || !edition.email_sender_address?.trim(),
  },
  {
    id: 'sender_domain',
    severity: 'warning',
    rule: "The domain of the sender's address is a verified sender domain of the organisation.",
    message: "The domain of the sender's address is not verified: e-mails come from the platform's address.",
    suggestion: 'Add the domain to the sender domains of the organisation, and verify it.',
    fails: ({ edition, is_sender_verified }) => !!edition.email_sender_address?.trim() && !is_sender_verified,
  },
  {
    id: 'sender_name',
    severity: 'warning',
    rule: 'The name of the sender is a name only.',
    message: 'The name of the sender holds an address or hidden characters: e-mails do not show it as it is.',
    suggestion: 'Choose another name.',
    fails: ({ edition }) => findSenderNameFault(edition.email_sender_name ?? '') !== null,
  },
  {
    id: 'reply_to',
    severity: 'info',
    rule: 'Replies have an address.',
    message: 'There is no address for replies.',
    suggestion: 'Add one.',
    fails: ({ edition }) => !edition.email_reply_to?.trim(),
  },
  {
    id: 'sms_sender',
    severity: 'warning',
    rule: 'Text messages name their sender.',
    message: 'There is a campaign by text message, and its sender is not set.',
    suggestion: 'Choose Platform or Store.',
    fails: ({ edition, has_sms_campaign }) => has_sms_campaign && edition.sms_sender_name === 'Unset',
  },
])
