import type { ProductFacts } from '../../src/domain/editions/health/facts.ts'
import { type EditionFacts, runChecks } from '../../src/domain/editions/health/index.ts'
import { dayMs } from '../../src/domain/time/instants.ts'

export const now = Date.parse('2026-06-01T12:00:00.000Z')

const edition: EditionFacts['edition'] = {
  name: '2026',
  full_name: 'Nordlys 2026',
  slug: 'nordlys-2026',
  is_draft: true,
  is_archived: false,
  start_at: now + dayMs,
  end_at: now + 2 * dayMs,
  timezone: 'Europe/Copenhagen',
  default_country_code: '+45',
  default_language: 'en',
  enabled_languages: ['en', 'da'],
  tax_type: 'vat',
  default_price_tax_rate: 25,
  default_deposit_tax_rate: 25,
  default_packaging_deposit_tax_rate: 0,
  currency: 'dkk',
  fee_rule_id: 'fee_1',
  sms_sender_name: 'Store',
  email_sender_name: 'Nordlys',
  email_sender_address: 'hello@example.dk',
  email_reply_to: 'reply@example.dk',
  meta_title: { en: 'Title', da: 'Titel' },
  meta_description: { en: 'Text', da: 'Tekst' },
  meta_image_id: 'fil_1',
  transaction_receipt_email_id: 'eml_1',
  refund_confirmation_email_id: 'eml_2',
}

export const visible = { is_hidden: false }

export const product: ProductFacts = {
  id: 'prd_1',
  name: 'Day ticket',
  ...visible,
  is_draft: false,
  name_translations: { da: 'Dagsbillet' },
  category_id: 'cat_1',
  price_minor: 10_000,
  deposit_minor: 500,
  is_variant_required: true,
  has_active_variant: true,
  is_pickup_required: true,
  is_wallet_enabled: true,
  has_pass_design: true,
}

export const free: ProductFacts = { ...product, id: 'prd_2', price_minor: 0, deposit_minor: 0 }

const message = { ...visible, subject: { en: 'Thank you' }, has_blocks: true }
export const account = {
  id: 'mac_1',
  name: 'Stripe',
  ...visible,
  supported_currencies: ['eur', 'dkk'],
  is_ready: true,
}
export const receipt = { id: 'eml_1', name: 'Receipt', type: 'receipt', ...message }
export const refund = { id: 'eml_2', name: 'Refund', type: 'refund_confirmation', ...message }
const text = { en: 'I agree', da: 'Jeg accepterer' }
export const terms = { id: 'con_1', name: 'Terms', ...visible, type: 'terms', text }
export const marketing = { id: 'con_2', name: 'News', ...visible, type: 'marketing', text }
export const endpoint = {
  id: 'whk_1',
  name: 'Shop',
  ...visible,
  is_active: true,
  disabled_reason: null,
  has_exhausted: false,
  waiting_reason: null,
}

/** Makes an edition without faults that has something for every check. */
export const sound: EditionFacts = {
  now,
  edition,
  has_event: true,
  merchant_account: account,
  fee_rule: { is_active: true, currency: 'dkk' },
  order_currencies: ['dkk'],
  has_pickup_point: true,
  has_stuck_refund: false,
  refund_waiting_reason: null,
  has_stalled_refund_batch: false,
  has_sms_campaign: true,
  has_scheduled_campaign: { email: false, sms: false },
  outages: { email: null, sms: null, passes: null },
  has_provider: { email: true, sms: true },
  is_sender_verified: true,
  has_marketing_segment: true,
  products: [product],
  messages: [receipt, refund],
  consents: [terms, marketing],
  endpoints: [endpoint],
  unfinished_imports: [],
}

export type Change = (facts: EditionFacts) => Partial<EditionFacts>

export const addCondition =
  (columns: Partial<EditionFacts['edition']>): Change =>
  () => ({ edition: { ...edition, ...columns } })
export const addSale =
  (columns: Partial<ProductFacts>): Change =>
  () => ({
    products: [{ ...product, ...columns }],
  })
export const combineChanges =
  (...changes: Change[]): Change =>
  (facts) =>
    Object.assign({}, ...changes.map((change) => change(facts))) as Partial<EditionFacts>

export const ids = (facts: EditionFacts) =>
  runChecks(facts)
    .filter(({ hasPassed }) => !hasPassed)
    .map(({ check }) => check.id)
