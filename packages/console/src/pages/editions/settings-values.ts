import type { Schema } from '../../api'
import { toInstant, toLocal } from '../../parts/days'
import { loadWords } from '../../words'

const t = await loadWords('editionSettings')

type Edition = Schema['EditionDetail']
type Rate = number | string

const writeJson = (value: object): string => (Object.keys(value).length === 0 ? '' : JSON.stringify(value, null, 2))

/** The settings of an edition as values of fields: local times, texts instead of null, JSON as text. */
export const readSettings = (edition: Edition) => ({
  name: edition.name,
  start_date: edition.start_date === null ? '' : toLocal(edition.start_date, edition.timezone),
  end_date: edition.end_date === null ? '' : toLocal(edition.end_date, edition.timezone),
  timezone: edition.timezone,
  default_country_code: edition.default_country_code,
  default_language: edition.default_language,
  enabled_languages: edition.enabled_languages,
  currency: edition.currency,
  merchant_account_id: edition.merchant_account_id,
  fee_rule_id: edition.fee_rule_id,
  tax_type: edition.tax_type,
  default_price_tax_rate: edition.default_price_tax_rate as Rate,
  default_deposit_tax_rate: edition.default_deposit_tax_rate as Rate,
  default_packaging_deposit_tax_rate: edition.default_packaging_deposit_tax_rate as Rate,
  merchant_account_extra_parameters: writeJson(edition.merchant_account_extra_parameters),
  email_sender_name: edition.email_sender_name ?? '',
  email_sender_address: edition.email_sender_address ?? '',
  email_reply_to: edition.email_reply_to ?? '',
  sms_sender_name: edition.sms_sender_name,
  transaction_receipt_email_id: edition.transaction_receipt_email_id,
  refund_confirmation_email_id: edition.refund_confirmation_email_id,
  meta_title: edition.meta_title,
  meta_description: edition.meta_description,
  meta_image_id: edition.meta_image_id,
  metadata: writeJson(edition.metadata),
  merchant_id: writeJson(edition.merchant_id),
})

export type Settings = ReturnType<typeof readSettings>
type Key = keyof Settings

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function readJson(text: string): Record<string, unknown> | null {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

function parseJson(text: string): Record<string, unknown> {
  const value = readJson(text)
  if (value === null) throw new Error(t.invalidJson)
  return value
}

const jsonKeys: readonly Key[] = ['merchant_account_extra_parameters', 'metadata', 'merchant_id']
const nullableKeys: readonly Key[] = ['email_sender_name', 'email_sender_address', 'email_reply_to']
const rateKeys: readonly Key[] = [
  'default_price_tax_rate',
  'default_deposit_tax_rate',
  'default_packaging_deposit_tax_rate',
]
const timeKeys: readonly Key[] = ['start_date', 'end_date', 'timezone']

/** The changed settings as the API takes them. Another zone keeps the local times, so both instants go with it. */
export function toSettingsBody(changes: Partial<Settings>, values: Settings): object {
  const convert = (key: Key, value: Settings[Key]): unknown => {
    if (jsonKeys.includes(key)) return parseJson(value as string)
    if (nullableKeys.includes(key)) return value === '' ? null : value
    if (rateKeys.includes(key)) return Number(value)
    return value
  }
  const body = Object.fromEntries(Object.entries(changes).map(([key, value]) => [key, convert(key as Key, value)]))
  if (!timeKeys.some((key) => key in changes)) return body
  const toTime = (local: string) => (local === '' ? null : toInstant(local, values.timezone))
  return { ...body, start_date: toTime(values.start_date), end_date: toTime(values.end_date) }
}

export const settingLabels: Record<Key, string> = {
  name: t.name,
  start_date: t.start,
  end_date: t.end,
  timezone: t.zone,
  default_country_code: t.country,
  default_language: t.defaultLanguage,
  enabled_languages: t.languages,
  currency: t.currency,
  merchant_account_id: t.merchantAccount,
  fee_rule_id: t.feeRule,
  tax_type: t.taxType,
  default_price_tax_rate: t.priceTax,
  default_deposit_tax_rate: t.depositTax,
  default_packaging_deposit_tax_rate: t.packagingTax,
  merchant_account_extra_parameters: t.extraParameters,
  email_sender_name: t.senderName,
  email_sender_address: t.senderAddress,
  email_reply_to: t.replyTo,
  sms_sender_name: t.smsSender,
  transaction_receipt_email_id: t.receipt,
  refund_confirmation_email_id: t.refundEmail,
  meta_title: t.metaTitle,
  meta_description: t.metaDescription,
  meta_image_id: t.metaImage,
  metadata: t.metadata,
  merchant_id: t.merchantId,
}
