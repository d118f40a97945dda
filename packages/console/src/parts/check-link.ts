import type { LinkProps } from '@tanstack/react-router'
import type { Schema } from '../api'
import { findRecordLink, linkTo, type Place } from './record-link'

export const settingsTabs = ['general', 'payments', 'messages', 'website', 'data'] as const
export type SettingsTab = (typeof settingsTabs)[number]

/** The tab and the field of the settings that mend a failed check of the edition. */
const fields: Readonly<Record<string, readonly [tab: SettingsTab, field: string]>> = {
  'basics.name_present': ['general', 'name'],
  'basics.not_archived': ['general', 'archive'],
  'basics.event_linked': ['general', 'duplicate'],
  'branding.meta_image': ['website', 'meta_image_id'],
  'branding.slug': ['general', 'duplicate'],
  'communication.receipt_email': ['messages', 'transaction_receipt_email_id'],
  'communication.refund_email': ['messages', 'refund_confirmation_email_id'],
  'communication.reply_to': ['messages', 'email_reply_to'],
  'communication.sender': ['messages', 'email_sender_address'],
  'communication.sender_name': ['messages', 'email_sender_name'],
  'communication.sms_sender': ['messages', 'sms_sender_name'],
  'localization.default_enabled': ['general', 'default_language'],
  'localization.meta_translated': ['website', 'meta_title'],
  'payments.currency_locked': ['payments', 'currency'],
  'payments.currency_set': ['payments', 'currency'],
  'payments.currency_supported': ['payments', 'currency'],
  'payments.fee_rule_valid': ['payments', 'fee_rule_id'],
  'payments.merchant_for_paid': ['payments', 'merchant_account_id'],
  'schedule.dates_ordered': ['general', 'end_date'],
  'schedule.dates_set': ['general', 'start_date'],
  'schedule.duration_plausible': ['general', 'end_date'],
  'schedule.not_in_past': ['general', 'start_date'],
  'schedule.timezone_set': ['general', 'timezone'],
  'tax.deposit_rate_set': ['payments', 'default_deposit_tax_rate'],
  'tax.rate_range': ['payments', 'default_price_tax_rate'],
  'tax.rate_set': ['payments', 'default_price_tax_rate'],
  'tax.rate_without_type': ['payments', 'tax_type'],
}

/** The pages on which something is created or decided that no single object names. */
const pages: Readonly<Record<string, (place: { edition: string; organization: string }) => string>> = {
  createConsent: ({ edition }) => `/editions/${edition}/consents`,
  createLocation: ({ edition }) => `/editions/${edition}/locations`,
  createPassDesign: ({ edition }) => `/editions/${edition}/pass-designs`,
  createProduct: ({ edition }) => `/editions/${edition}/products`,
  createSenderDomain: ({ organization }) => `/organizations/${organization}/sender-domains`,
  listRefundBatches: ({ edition }) => `/editions/${edition}/refund-batches`,
  listRefundRequests: ({ edition }) => `/editions/${edition}/refunds`,
}

type Check = Schema['EditionHealthCheck']

/** Finds the page that mends a failed check of an edition: the field of the settings, or the page of the object. Null if there is none. */
export function findCheckLink(
  { check_id }: Check,
  object: Check['related_objects'][number],
  place: { edition: string; organization: string },
): LinkProps | null {
  const field = fields[check_id]
  if (field) {
    const [tab, hash] = field
    return { ...linkTo(`/editions/${place.edition}/settings`, hash), search: { tab } }
  }
  const page = object.operation === null ? undefined : pages[object.operation]
  return page ? linkTo(page(place)) : findRecordLink(object.id, place satisfies Place)
}
