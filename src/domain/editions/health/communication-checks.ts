import { findSenderNameFault } from '../../messaging/mailbox.ts'
import { receiptEmailTypes, refundConfirmationEmailTypes } from '../editions.ts'
import { defineChecks, lacksText } from './check.ts'
import type { EditionFacts } from './facts.ts'

const usesMessage = ({ messages }: EditionFacts, id: string | null, types: readonly string[]): boolean =>
  messages.some((message) => message.id === id && types.includes(message.type))

export const communication = defineChecks('communication', [
  {
    id: 'receipt_email',
    fix: 'updateEdition',
    severity: 'warning',
    rule: 'Buyers get a receipt.',
    message: 'The edition has no receipt e-mail, or the chosen message is not of that type.',
    suggestion: 'Choose a message, or copy a template.',
    fails: (facts) => !usesMessage(facts, facts.edition.transaction_receipt_email_id, receiptEmailTypes),
  },
  {
    id: 'refund_email',
    fix: 'updateEdition',
    severity: 'warning',
    rule: 'Refunds are confirmed.',
    message: 'The edition has no refund confirmation e-mail, or the chosen message is not of that type.',
    suggestion: 'Choose a message, or copy a template.',
    fails: (facts) => !usesMessage(facts, facts.edition.refund_confirmation_email_id, refundConfirmationEmailTypes),
  },
  {
    id: 'templates_not_empty',
    fix: 'updateEmailMessage',
    severity: 'warning',
    rule: 'E-mails that are sent have a subject and content.',
    message: 'An e-mail has no content, or no subject in the default language.',
    suggestion: 'Edit it.',
    fails: ({ edition, messages }) =>
      messages.filter(({ has_blocks, subject }) => !has_blocks || lacksText(subject, [edition.default_language])),
  },
  {
    id: 'sender',
    fix: 'updateEdition',
    severity: 'warning',
    rule: 'E-mails have a sender.',
    message: 'The name or the address of the sender is empty.',
    suggestion: 'Set the name and the address of the sender.',
    fails: ({ edition }) => !edition.email_sender_name?.trim() || !edition.email_sender_address?.trim(),
  },
  {
    id: 'sender_domain',
    fix: 'createSenderDomain',
    severity: 'warning',
    rule: "The domain of the sender's address is a verified sender domain of the organisation.",
    message: "The domain of the sender's address is not verified: e-mails come from the platform's address.",
    suggestion: 'Add the domain to the sender domains of the organisation, and verify it.',
    fails: ({ edition, is_sender_verified }) => !!edition.email_sender_address?.trim() && !is_sender_verified,
  },
  {
    id: 'sender_name',
    fix: 'updateEdition',
    severity: 'warning',
    rule: 'The name of the sender contains only a name.',
    message: 'The name of the sender contains an address or invisible characters, which e-mails do not show.',
    suggestion: 'Choose another name.',
    fails: ({ edition }) => findSenderNameFault(edition.email_sender_name ?? '') !== null,
  },
  {
    id: 'reply_to',
    fix: 'updateEdition',
    severity: 'info',
    rule: 'Replies go to an address.',
    message: 'The edition has no reply address.',
    suggestion: 'Set a reply address.',
    fails: ({ edition }) => !edition.email_reply_to?.trim(),
  },
  {
    id: 'email_provider',
    fix: null,
    severity: 'warning',
    isCritical: ({ edition, has_scheduled_campaign }) =>
      edition.transaction_receipt_email_id !== null ||
      edition.refund_confirmation_email_id !== null ||
      has_scheduled_campaign.email,
    rule: 'The service has an e-mail provider.',
    message: 'The service has no e-mail provider, so receipts, refund mails, confirmations and campaigns are not sent.',
    suggestion: 'Ask the operator of the service to set `EMAIL_PROVIDER`.',
    fails: ({ has_provider }) => !has_provider.email,
  },
  {
    id: 'sms_provider',
    fix: null,
    severity: 'warning',
    isCritical: ({ has_scheduled_campaign }) => has_scheduled_campaign.sms,
    rule: 'The service has an SMS provider.',
    message: 'The service has no SMS provider, so SMS campaigns are not sent.',
    suggestion: 'Ask the operator of the service to set `SMS_PROVIDER`.',
    fails: ({ has_provider }) => !has_provider.sms,
  },
  {
    id: 'email_accepted',
    fix: null,
    severity: 'warning',
    rule: 'The e-mail provider accepts e-mails.',
    message: 'E-mails wait, because the provider does not accept them.',
    explain: ({ outages }) => `E-mails wait. ${outages.email ?? ''}`,
    suggestion: 'Wait for the next attempt, or ask the operator of the service.',
    fails: ({ outages }) => outages.email !== null,
  },
  {
    id: 'sms_accepted',
    fix: null,
    severity: 'warning',
    rule: 'The SMS provider accepts SMS.',
    message: 'SMS wait, because the provider does not accept them.',
    explain: ({ outages }) => `SMS wait. ${outages.sms ?? ''}`,
    suggestion: 'Wait for the next attempt, or ask the operator of the service.',
    fails: ({ outages }) => outages.sms !== null,
  },
  {
    id: 'sms_sender',
    fix: 'updateEdition',
    severity: 'warning',
    rule: 'Text messages have a sender.',
    message: 'The edition has a text message campaign, but no sender is set.',
    suggestion: 'Choose Platform or Store.',
    fails: ({ edition, has_sms_campaign }) => has_sms_campaign && edition.sms_sender_name === 'Unset',
  },
])
