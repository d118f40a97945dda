import type { Language, TranslatedDict } from '../../languages.ts'
import type { EditionFacts, FactSubject } from './facts.ts'
import { getEditionStatus, endsBeforeStart, receiptEmailTypes, refundConfirmationEmailTypes } from '../editions.ts'
import { dayMs } from '../../time/instants.ts'
import { slugify } from '../../text/text.ts'
import { currencies } from '../../money.ts'
import { senderNameFault } from '../../messaging/mailbox.ts'

export const severities = ['critical', 'warning', 'info'] as const
export type Severity = (typeof severities)[number]

interface Rule {
  id: string
  /** Failed critical checks keep an edition from being published. */
  severity: Severity
  /** The text for a passed check. */
  rule: string
  /** The text for a failed check. */
  message: string
  suggestion: string
  /** True, or the faulty things, when the check fails. */
  fails: (facts: EditionFacts) => boolean | readonly FactSubject[]
}

export interface Check extends Rule {
  category: string
}

export const defineChecks = (category: string, rules: readonly Rule[]): Check[] =>
  rules.map((rule) => ({ ...rule, category, id: `${category}.${rule.id}` }))

/** True when one of the languages has no text. */
export const lacksText = (texts: TranslatedDict, languages: readonly Language[]): boolean =>
  languages.some((language) => !texts[language]?.trim())

const longestMs = 60 * dayMs

export const basics: readonly Check[] = defineChecks('basics', [
  {
    id: 'name_present',
    severity: 'critical',
    rule: 'The edition has a name.',
    message: 'The name is blank.',
    suggestion: 'Enter a name.',
    fails: ({ edition }) => edition.name.trim() === '',
  },
  {
    id: 'not_archived',
    severity: 'critical',
    rule: 'The edition is not archived.',
    message: 'The edition is archived.',
    suggestion: 'Take it out of the archive before publishing.',
    fails: ({ edition }) => edition.is_archived,
  },
  {
    id: 'event_linked',
    severity: 'critical',
    rule: 'The edition belongs to an event of its organisation.',
    message: 'The event is missing, or another organisation has it.',
    suggestion: 'Choose an event.',
    fails: ({ has_event }) => !has_event,
  },
])

export const schedule: readonly Check[] = defineChecks('schedule', [
  {
    id: 'dates_ordered',
    severity: 'critical',
    rule: 'The end is not before the start.',
    message: 'The end is before the start.',
    suggestion: 'Correct the dates.',
    fails: ({ edition }) => endsBeforeStart(edition),
  },
  {
    id: 'dates_set',
    severity: 'warning',
    rule: 'Start and end are set.',
    message: 'The start or the end is missing.',
    suggestion: 'Set both dates.',
    fails: ({ edition }) => edition.start_at === null || edition.end_at === null,
  },
  {
    id: 'not_in_past',
    severity: 'warning',
    rule: 'A draft lies ahead.',
    message: 'The edition is a draft, and its dates are past.',
    suggestion: 'Update the dates: a duplicate keeps those of its source.',
    fails: ({ edition, now }) => edition.is_draft && getEditionStatus(edition, now) === 'past',
  },
  {
    id: 'duration_plausible',
    severity: 'info',
    rule: 'The edition takes 60 days at most.',
    message: 'The edition takes more than 60 days.',
    suggestion: 'Check the end date.',
    fails: ({ edition: { start_at, end_at } }) => start_at !== null && end_at !== null && end_at - start_at > longestMs,
  },
  {
    id: 'timezone_set',
    severity: 'info',
    rule: 'The time zone is that of the place.',
    message: 'The time zone is UTC, which no place of this country has.',
    suggestion: 'Choose the local time zone.',
    fails: ({ edition }) => edition.timezone === 'UTC' && edition.default_country_code !== '+44',
  },
])

export const localization: readonly Check[] = defineChecks('localization', [
  {
    id: 'default_enabled',
    severity: 'critical',
    rule: 'The default language is enabled.',
    message: 'The default language is not enabled.',
    suggestion: 'Enable it, or choose another default.',
    fails: ({ edition }) => !edition.enabled_languages.includes(edition.default_language),
  },
  {
    id: 'meta_translated',
    severity: 'warning',
    rule: 'Meta title and description are there in every enabled language.',
    message: 'The meta title or description is missing in an enabled language.',
    suggestion: 'Translate them.',
    fails: ({ edition }) =>
      [edition.meta_title, edition.meta_description].some((texts) => lacksText(texts, edition.enabled_languages)),
  },
  {
    id: 'products_translated',
    severity: 'info',
    rule: 'Names of products are there in every enabled language.',
    message: 'Names of products are missing in an enabled language.',
    suggestion: 'Translate them.',
    fails: ({ edition, products }) => {
      // The name itself is that of the default language.
      const others = edition.enabled_languages.filter((language) => language !== edition.default_language)
      return products.filter((product) => lacksText(product.name_translations, others))
    },
  },
])

export const consents: readonly Check[] = defineChecks('consents', [
  {
    id: 'terms',
    severity: 'warning',
    rule: 'Customers are asked to accept terms or a privacy policy.',
    message: 'No active consent is of type terms or privacy.',
    suggestion: 'Add one.',
    fails: (facts) => !facts.consents.some(({ type }) => type === 'terms' || type === 'privacy'),
  },
  {
    id: 'marketing',
    severity: 'info',
    rule: 'Marketing segments have a marketing consent to go by.',
    message: 'There is a marketing segment, but no consent of type marketing.',
    suggestion: 'Add a consent of type marketing.',
    fails: (facts) => facts.has_marketing_segment && !facts.consents.some(({ type }) => type === 'marketing'),
  },
  {
    id: 'translated',
    severity: 'warning',
    rule: 'Consents are worded in every enabled language.',
    message: 'The text of a consent is missing in an enabled language.',
    suggestion: 'Translate it.',
    fails: ({ edition, consents: asked }) => asked.filter(({ text }) => lacksText(text, edition.enabled_languages)),
  },
])

const isNumbered = (slug: string, base: string): boolean =>
  slug.startsWith(`${base}-`) && /^\d+$/.test(slug.slice(base.length + 1))

export const branding: readonly Check[] = defineChecks('branding', [
  {
    id: 'meta_image',
    severity: 'info',
    rule: 'The edition has a meta image.',
    message: 'There is no meta image.',
    suggestion: 'Upload one.',
    fails: ({ edition }) => edition.meta_image_id === null,
  },
  {
    id: 'slug',
    severity: 'info',
    rule: 'The slug has no number that was only added to make it unique.',
    message: 'The slug was made unique by a number.',
    suggestion: 'Duplicate the edition with a slug of your choice.',
    fails: ({ edition }) => isNumbered(edition.slug, slugify(edition.full_name, 'edition')),
  },
])

const sellsForMoney = ({ products }: EditionFacts): boolean =>
  products.some((product) => !product.is_draft && (product.price_minor ?? 0) + (product.deposit_minor ?? 0) > 0)

const isKnown = (currency: string): boolean => (currencies as readonly string[]).includes(currency)

export const payments: readonly Check[] = defineChecks('payments', [
  {
    id: 'merchant_for_paid',
    severity: 'critical',
    rule: 'Products that cost something can be paid.',
    message: 'A published product costs something, and there is no merchant account.',
    suggestion: 'Connect a merchant account.',
    fails: (facts) => sellsForMoney(facts) && facts.merchant_account === null,
  },
  {
    id: 'currency_supported',
    severity: 'critical',
    rule: 'The merchant account supports the currency.',
    message: 'The merchant account does not support the currency.',
    suggestion: 'Change one of the two.',
    fails: ({ edition, merchant_account }) =>
      merchant_account !== null && !merchant_account.supported_currencies.includes(edition.currency),
  },
  {
    id: 'merchant_ready',
    severity: 'warning',
    rule: 'Payments can be paid back through the merchant account.',
    message: 'The merchant account has no key, or is switched off: refunds wait until it is ready.',
    suggestion: 'Enter the key of the merchant account, and switch it on.',
    fails: ({ merchant_account }) => merchant_account !== null && !merchant_account.is_ready,
  },
  {
    id: 'currency_set',
    severity: 'critical',
    rule: 'Products that cost something have a currency.',
    message: 'A published product costs something, and the currency is empty or unknown.',
    suggestion: 'Choose a currency.',
    fails: (facts) => sellsForMoney(facts) && !isKnown(facts.edition.currency),
  },
  {
    id: 'fee_rule_valid',
    severity: 'warning',
    rule: 'The fee rule is active and in the currency of the edition.',
    message: 'The fee rule is not active, or in another currency.',
    suggestion: 'Choose another fee rule.',
    fails: ({ edition, fee_rule }) =>
      edition.fee_rule_id !== null && (!fee_rule?.is_active || fee_rule.currency !== edition.currency),
  },
  {
    id: 'currency_locked',
    severity: 'info',
    rule: 'Orders are in the currency of the edition.',
    message: 'There are orders in another currency.',
    suggestion: 'Keep the currency that customers have paid in.',
    fails: ({ edition, order_currencies }) => order_currencies.some((currency) => currency !== edition.currency),
  },
  {
    id: 'refunds_settled',
    severity: 'warning',
    rule: 'Refunds come to an end, and agree with their provider.',
    message: 'A refund has had no end for a month, or the provider paid back something else than stands here.',
    suggestion: 'Compare the refund requests of the edition with what the provider shows.',
    fails: ({ has_stuck_refund }) => has_stuck_refund,
  },
  {
    id: 'refund_batches_proceed',
    severity: 'warning',
    rule: 'Refund batches that were made or started go on.',
    message: 'A refund batch has not gone on for an hour.',
    suggestion: 'Cancel it and make another one, or ask the operator of the service why it does not continue.',
    fails: ({ has_stalled_refund_batch }) => has_stalled_refund_batch,
  },
])

const ratesOf = ({ edition }: EditionFacts): number[] => [
  edition.default_price_tax_rate,
  edition.default_deposit_tax_rate,
  edition.default_packaging_deposit_tax_rate,
]

export const tax: readonly Check[] = defineChecks('tax', [
  {
    id: 'rate_set',
    severity: 'warning',
    rule: 'Prices that carry tax have a rate.',
    message: 'Prices carry tax at a rate of 0.',
    suggestion: 'Set the rate.',
    fails: ({ edition }) => edition.tax_type !== 'none' && edition.default_price_tax_rate === 0,
  },
  {
    id: 'rate_without_type',
    severity: 'warning',
    rule: 'There are no rates without a type of tax.',
    message: 'There are tax rates, but prices carry no tax.',
    suggestion: 'Set the type of tax.',
    fails: (facts) => facts.edition.tax_type === 'none' && ratesOf(facts).some((rate) => rate > 0),
  },
  {
    id: 'rate_range',
    severity: 'critical',
    rule: 'Tax rates are from 0 to 100.',
    message: 'A tax rate is not from 0 to 100.',
    suggestion: 'Correct the rate.',
    fails: (facts) => ratesOf(facts).some((rate) => !(rate >= 0 && rate <= 100)),
  },
  {
    id: 'deposit_rate_set',
    severity: 'info',
    rule: 'Deposits that carry tax have a rate.',
    message: 'There are deposits, which carry tax at a rate of 0.',
    suggestion: 'Set the rate, unless deposits are free of tax.',
    fails: ({ edition, products }) =>
      edition.tax_type !== 'none' &&
      edition.default_deposit_tax_rate === 0 &&
      products.some(({ deposit_minor }) => (deposit_minor ?? 0) > 0),
  },
])

export const products: readonly Check[] = defineChecks('products', [
  {
    id: 'any',
    severity: 'warning',
    rule: 'The edition has products.',
    message: 'The edition has no products.',
    suggestion: 'Add a product, unless this is a page of announcements only.',
    fails: (facts) => facts.products.length === 0,
  },
  {
    id: 'any_published',
    severity: 'warning',
    rule: 'Some product is published.',
    message: 'All products are drafts.',
    suggestion: 'Publish one.',
    fails: (facts) => facts.products.length > 0 && facts.products.every(({ is_draft }) => is_draft),
  },
  {
    id: 'price_present',
    severity: 'warning',
    rule: 'Published products have a price.',
    message: 'A published product has no price.',
    suggestion: 'Set a price, 0 for what is free. Products made by an import have none of their own.',
    fails: (facts) => facts.products.filter(({ is_draft, price_minor }) => !is_draft && price_minor === null),
  },
  {
    id: 'category_assigned',
    severity: 'info',
    rule: 'Products have a category.',
    message: 'A product has no category.',
    suggestion: 'Assign one.',
    fails: (facts) => facts.products.filter(({ category_id }) => category_id === null),
  },
  {
    id: 'variant_complete',
    severity: 'warning',
    rule: 'Products that need a variant have an active one.',
    message: 'A product needs a variant and has no active one.',
    suggestion: 'Add variants.',
    fails: (facts) =>
      facts.products.filter(
        ({ is_variant_required, has_active_variant }) => is_variant_required && !has_active_variant,
      ),
  },
])

export const fulfilment: readonly Check[] = defineChecks('fulfilment', [
  {
    id: 'pickup_points',
    severity: 'warning',
    rule: 'What has to be picked up has a place for it.',
    message: 'A product has to be picked up, and no pickup point is published.',
    suggestion: 'Add a pickup point.',
    fails: ({ products: offered, has_pickup_point }) =>
      has_pickup_point ? false : offered.filter(({ is_pickup_required }) => is_pickup_required),
  },
  {
    id: 'pass_design',
    severity: 'info',
    rule: 'Products for the wallet have a pass design.',
    message: 'A product goes to the wallet and has no pass design.',
    suggestion: 'Create one.',
    fails: ({ products: offered }) =>
      offered.filter(({ is_wallet_enabled, has_pass_design }) => is_wallet_enabled && !has_pass_design),
  },
])

const sends = ({ messages }: EditionFacts, id: string | null, types: readonly string[]): boolean =>
  messages.some((message) => message.id === id && types.includes(message.type))

export const communication: readonly Check[] = defineChecks('communication', [
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
    fails: ({ edition }) => senderNameFault(edition.email_sender_name ?? '') !== null,
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

export const integrations: readonly Check[] = defineChecks('integrations', [
  {
    id: 'webhooks_healthy',
    severity: 'warning',
    rule: 'Webhook endpoints receive the events.',
    message: 'Deliveries to an active webhook endpoint were given up in the last 24 hours.',
    suggestion: 'Look at its deliveries, and recover them once it is mended.',
    fails: ({ endpoints }) => endpoints.filter(({ is_active, has_exhausted }) => is_active && has_exhausted),
  },
  {
    id: 'webhooks_inactive',
    severity: 'info',
    rule: 'No webhook endpoint was switched off by its failures.',
    message: 'A webhook endpoint was switched off because it failed.',
    suggestion: 'Mend it and switch it on again, or delete it.',
    fails: ({ endpoints }) =>
      endpoints.filter(({ is_active, disabled_reason }) => !is_active && disabled_reason !== 'manual'),
  },
])

export const imports: readonly Check[] = defineChecks('imports', [
  {
    id: 'unfinished',
    severity: 'info',
    rule: 'No import waits for its mapping for more than 7 days.',
    message: 'An import has waited for its mapping for more than 7 days.',
    suggestion: 'Finish or cancel it.',
    fails: ({ unfinished_imports }) => unfinished_imports,
  },
])
