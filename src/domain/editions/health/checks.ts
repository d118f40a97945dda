import { currencies } from '../../money.ts'
import { slugify } from '../../text/text.ts'
import { dayMs } from '../../time/instants.ts'
import { getEditionStatus, endsBeforeStart } from '../editions.ts'
import { type Check, defineChecks, lacksText } from './check.ts'
import { communication } from './communication-checks.ts'
import type { EditionFacts } from './facts.ts'

const longestMs = 60 * dayMs

const basics = defineChecks('basics', [
  {
    id: 'name_present',
    fix: 'updateEdition',
    severity: 'critical',
    rule: 'The edition has a name.',
    message: 'The name is blank.',
    suggestion: 'Enter a name.',
    fails: ({ edition }) => edition.name.trim() === '',
  },
  {
    id: 'not_archived',
    fix: 'updateEdition',
    severity: 'critical',
    rule: 'The edition is not archived.',
    message: 'The edition is archived.',
    suggestion: 'Unarchive the edition before you publish it.',
    fails: ({ edition }) => edition.is_archived,
  },
  {
    id: 'event_linked',
    fix: 'duplicateEdition',
    severity: 'critical',
    rule: 'The edition belongs to an event of its organisation.',
    message: 'The event does not exist, or belongs to another organisation.',
    suggestion: 'Choose an event.',
    fails: ({ has_event }) => !has_event,
  },
])

const schedule = defineChecks('schedule', [
  {
    id: 'dates_ordered',
    fix: 'updateEdition',
    severity: 'critical',
    rule: 'The end is not before the start.',
    message: 'The end is before the start.',
    suggestion: 'Correct the dates.',
    fails: ({ edition }) => endsBeforeStart(edition),
  },
  {
    id: 'dates_set',
    fix: 'updateEdition',
    severity: 'warning',
    rule: 'Start and end are set.',
    message: 'The start or the end is missing.',
    suggestion: 'Set both dates.',
    fails: ({ edition }) => edition.start_at === null || edition.end_at === null,
  },
  {
    id: 'not_in_past',
    fix: 'updateEdition',
    severity: 'warning',
    rule: 'The dates of a draft are in the future.',
    message: 'The edition is a draft, but its dates are in the past.',
    suggestion: 'Update the dates. A duplicate has the dates of its source.',
    fails: ({ edition, now }) => edition.is_draft && getEditionStatus(edition, now) === 'past',
  },
  {
    id: 'duration_plausible',
    fix: 'updateEdition',
    severity: 'info',
    rule: 'The edition lasts at most 60 days.',
    message: 'The edition lasts more than 60 days.',
    suggestion: 'Check the end date.',
    fails: ({ edition: { start_at, end_at } }) => start_at !== null && end_at !== null && end_at - start_at > longestMs,
  },
  {
    id: 'timezone_set',
    fix: 'updateEdition',
    severity: 'info',
    rule: 'The time zone is local.',
    message: 'The time zone is UTC, which is not a time zone of this country.',
    suggestion: 'Choose the local time zone.',
    fails: ({ edition }) => edition.timezone === 'UTC' && edition.default_country_code !== '+44',
  },
])

const localization = defineChecks('localization', [
  {
    id: 'default_enabled',
    fix: 'updateEdition',
    severity: 'critical',
    rule: 'The default language is enabled.',
    message: 'The default language is not enabled.',
    suggestion: 'Enable the language, or choose another default language.',
    fails: ({ edition }) => !edition.enabled_languages.includes(edition.default_language),
  },
  {
    id: 'meta_translated',
    fix: 'updateEdition',
    severity: 'warning',
    rule: 'The meta title and description are translated into every enabled language.',
    message: 'The meta title or description is missing in an enabled language.',
    suggestion: 'Add the translations.',
    fails: ({ edition }) =>
      [edition.meta_title, edition.meta_description].some((texts) => lacksText(texts, edition.enabled_languages)),
  },
  {
    id: 'products_translated',
    fix: 'updateProduct',
    severity: 'info',
    rule: 'Product names are translated into every enabled language.',
    message: 'Product names are missing in an enabled language.',
    suggestion: 'Add the translations.',
    fails: ({ edition, products }) => {
      // `name` is in the default language.
      const others = edition.enabled_languages.filter((language) => language !== edition.default_language)
      return products.filter((product) => lacksText(product.name_translations, others))
    },
  },
])

const consents = defineChecks('consents', [
  {
    id: 'terms',
    fix: 'createConsent',
    severity: 'warning',
    rule: 'Customers are asked to accept terms or a privacy policy.',
    message: 'No active consent has the type terms or privacy.',
    suggestion: 'Add a consent.',
    fails: (facts) => !facts.consents.some(({ type }) => type === 'terms' || type === 'privacy'),
  },
  {
    id: 'marketing',
    fix: 'createConsent',
    severity: 'info',
    rule: 'Marketing segments have a marketing consent.',
    message: 'The edition has a marketing segment, but no consent of type marketing.',
    suggestion: 'Add a consent of type marketing.',
    fails: (facts) => facts.has_marketing_segment && !facts.consents.some(({ type }) => type === 'marketing'),
  },
  {
    id: 'translated',
    fix: 'updateConsent',
    severity: 'warning',
    rule: 'Consents are translated into every enabled language.',
    message: 'The text of a consent is missing in an enabled language.',
    suggestion: 'Add the translation.',
    fails: ({ edition, consents: activeConsents }) =>
      activeConsents.filter(({ text }) => lacksText(text, edition.enabled_languages)),
  },
])

const isNumbered = (slug: string, base: string): boolean =>
  slug.startsWith(`${base}-`) && /^\d+$/.test(slug.slice(base.length + 1))

const branding = defineChecks('branding', [
  {
    id: 'meta_image',
    fix: 'updateEdition',
    severity: 'info',
    rule: 'The edition has a meta image.',
    message: 'The edition has no meta image.',
    suggestion: 'Upload an image.',
    fails: ({ edition }) => edition.meta_image_id === null,
  },
  {
    id: 'slug',
    fix: 'duplicateEdition',
    severity: 'info',
    rule: 'The slug does not end in a number that was added to make it unique.',
    message: 'The slug ends in a number that was added to make it unique.',
    suggestion: 'Duplicate the edition with a slug of your choice.',
    fails: ({ edition }) => isNumbered(edition.slug, slugify(edition.full_name, 'edition')),
  },
])

const sellsForMoney = ({ products }: EditionFacts): boolean =>
  products.some((product) => !product.is_draft && (product.price_minor ?? 0) + (product.deposit_minor ?? 0) > 0)

const isKnownCurrency = (currency: string): boolean => (currencies as readonly string[]).includes(currency)

const payments = defineChecks('payments', [
  {
    id: 'merchant_for_paid',
    fix: 'updateEdition',
    severity: 'critical',
    rule: 'Products with a price can be paid for.',
    message: 'A published product has a price, but the edition has no merchant account.',
    suggestion: 'Connect a merchant account.',
    fails: (facts) => sellsForMoney(facts) && facts.merchant_account === null,
  },
  {
    id: 'currency_supported',
    fix: 'updateEdition',
    severity: 'critical',
    rule: 'The merchant account supports the currency.',
    message: 'The merchant account does not support the currency.',
    suggestion: 'Change the currency or the merchant account.',
    fails: ({ edition, merchant_account }) =>
      merchant_account !== null && !merchant_account.supported_currencies.includes(edition.currency),
  },
  {
    id: 'merchant_ready',
    fix: 'updateMerchantAccount',
    severity: 'warning',
    rule: 'Payments can be refunded through the merchant account.',
    message: 'The merchant account has no API key or is inactive, so refunds wait.',
    suggestion: 'Enter the API key of the merchant account and activate it.',
    fails: ({ merchant_account }) => (merchant_account && !merchant_account.is_ready ? [merchant_account] : false),
  },
  {
    id: 'currency_set',
    fix: 'updateEdition',
    severity: 'critical',
    rule: 'Products with a price have a currency.',
    message: 'A published product has a price, but the currency is empty or unknown.',
    suggestion: 'Choose a currency.',
    fails: (facts) => sellsForMoney(facts) && !isKnownCurrency(facts.edition.currency),
  },
  {
    id: 'fee_rule_valid',
    fix: 'updateEdition',
    severity: 'warning',
    rule: 'The fee rule is active and has the currency of the edition.',
    message: 'The fee rule is inactive or has another currency.',
    suggestion: 'Choose another fee rule.',
    fails: ({ edition, fee_rule }) =>
      edition.fee_rule_id !== null && (!fee_rule?.is_active || fee_rule.currency !== edition.currency),
  },
  {
    id: 'currency_locked',
    fix: 'updateEdition',
    severity: 'info',
    rule: 'Orders are in the currency of the edition.',
    message: 'The edition has orders in another currency.',
    suggestion: 'Keep the currency in which customers have paid.',
    fails: ({ edition, order_currencies }) => order_currencies.some((currency) => currency !== edition.currency),
  },
  {
    id: 'refunds_settled',
    fix: 'listRefundRequests',
    severity: 'warning',
    rule: 'Refunds complete and match their provider.',
    message: 'A refund has been open for a month, or differs from what the provider paid.',
    suggestion: 'Compare the refund requests of the edition with the refunds at the provider.',
    fails: ({ has_stuck_refund }) => has_stuck_refund,
  },
  {
    id: 'refunds_proceed',
    fix: 'listRefundRequests',
    severity: 'warning',
    rule: 'No refund waits for the payment provider.',
    message: 'Refunds wait for the payment provider.',
    explain: ({ refund_waiting_reason }) => `Refunds wait for the payment provider. ${refund_waiting_reason}`,
    suggestion: 'Wait, or look up the state of the provider. The refunds are attempted again by themselves.',
    fails: ({ refund_waiting_reason }) => refund_waiting_reason !== null,
  },
  {
    id: 'refund_batches_proceed',
    fix: 'listRefundBatches',
    severity: 'warning',
    rule: 'Refund batches make progress.',
    message: 'A refund batch has made no progress for an hour.',
    suggestion: 'Cancel the batch and create a new one, or ask the operator of the service.',
    fails: ({ has_stalled_refund_batch }) => has_stalled_refund_batch,
  },
])

const listRates = ({ edition }: EditionFacts): number[] => [
  edition.default_price_tax_rate,
  edition.default_deposit_tax_rate,
  edition.default_packaging_deposit_tax_rate,
]

const tax = defineChecks('tax', [
  {
    id: 'rate_set',
    fix: 'updateEdition',
    severity: 'warning',
    rule: 'Taxed prices have a tax rate.',
    message: 'Prices are taxed at a rate of 0.',
    suggestion: 'Set the rate.',
    fails: ({ edition }) => edition.tax_type !== 'none' && edition.default_price_tax_rate === 0,
  },
  {
    id: 'rate_without_type',
    fix: 'updateEdition',
    severity: 'warning',
    rule: 'Tax rates have a tax type.',
    message: 'The edition has tax rates, but its tax type is none.',
    suggestion: 'Set the tax type.',
    fails: (facts) => facts.edition.tax_type === 'none' && listRates(facts).some((rate) => rate > 0),
  },
  {
    id: 'rate_range',
    fix: 'updateEdition',
    severity: 'critical',
    rule: 'Tax rates are from 0 to 100.',
    message: 'A tax rate is not from 0 to 100.',
    suggestion: 'Correct the rate.',
    fails: (facts) => listRates(facts).some((rate) => !(rate >= 0 && rate <= 100)),
  },
  {
    id: 'deposit_rate_set',
    fix: 'updateEdition',
    severity: 'info',
    rule: 'Taxed deposits have a tax rate.',
    message: 'Products have deposits, which are taxed at a rate of 0.',
    suggestion: 'Set the rate, unless deposits are tax-free.',
    fails: ({ edition, products }) =>
      edition.tax_type !== 'none' &&
      edition.default_deposit_tax_rate === 0 &&
      products.some(({ deposit_minor }) => (deposit_minor ?? 0) > 0),
  },
])

const products = defineChecks('products', [
  {
    id: 'any',
    fix: 'createProduct',
    severity: 'warning',
    rule: 'The edition has products.',
    message: 'The edition has no products.',
    suggestion: 'Add a product, unless the edition only announces something.',
    fails: (facts) => facts.products.length === 0,
  },
  {
    id: 'any_published',
    fix: 'updateProduct',
    severity: 'warning',
    rule: 'At least one product is published.',
    message: 'All products are drafts.',
    suggestion: 'Publish a product.',
    fails: (facts) => (facts.products.some(({ is_draft }) => !is_draft) ? false : facts.products),
  },
  {
    id: 'price_present',
    fix: 'updateProduct',
    severity: 'warning',
    rule: 'Published products have a price.',
    message: 'A published product has no price.',
    suggestion: 'Set a price, or 0 if the product is free. Imported products have no price.',
    fails: (facts) => facts.products.filter(({ is_draft, price_minor }) => !is_draft && price_minor === null),
  },
  {
    id: 'category_assigned',
    fix: 'updateProduct',
    severity: 'info',
    rule: 'Products have a category.',
    message: 'A product has no category.',
    suggestion: 'Assign a category.',
    fails: (facts) => facts.products.filter(({ category_id }) => category_id === null),
  },
  {
    id: 'variant_complete',
    fix: 'updateProduct',
    severity: 'warning',
    rule: 'Products that require a variant have an active one.',
    message: 'A product requires a variant, but has no active one.',
    suggestion: 'Add variants.',
    fails: (facts) =>
      facts.products.filter(
        ({ is_variant_required, has_active_variant }) => is_variant_required && !has_active_variant,
      ),
  },
])

const fulfilment = defineChecks('fulfilment', [
  {
    id: 'pickup_points',
    fix: 'createLocation',
    severity: 'warning',
    rule: 'Products that are picked up have a pickup point.',
    message: 'A product must be picked up, but no pickup point is published.',
    suggestion: 'Add a pickup point.',
    fails: ({ products: allProducts, has_pickup_point }) =>
      has_pickup_point ? false : allProducts.filter(({ is_pickup_required }) => is_pickup_required),
  },
  {
    id: 'passes_updated',
    fix: null,
    severity: 'warning',
    rule: 'Wallet passes are updated.',
    message: 'Changes of wallet passes wait for their platform.',
    explain: ({ outages }) => `Changes of wallet passes wait. ${outages.passes ?? ''}`,
    suggestion: 'Wait for the next attempt, or ask the operator of the service.',
    fails: ({ outages }) => outages.passes !== null,
  },
  {
    id: 'pass_design',
    fix: 'createPassDesign',
    severity: 'info',
    rule: 'Products with wallet passes have a pass design.',
    message: 'A product has wallet passes enabled, but no pass design.',
    suggestion: 'Create a pass design.',
    fails: ({ products: allProducts }) =>
      allProducts.filter(({ is_wallet_enabled, has_pass_design }) => is_wallet_enabled && !has_pass_design),
  },
])

const integrations = defineChecks('integrations', [
  {
    id: 'webhooks_healthy',
    fix: 'recoverWebhookDeliveries',
    severity: 'warning',
    rule: 'Webhook endpoints receive the events.',
    message: 'Deliveries to an active webhook endpoint were given up in the last 24 hours.',
    suggestion: 'Fix the endpoint, then recover its deliveries.',
    fails: ({ endpoints }) => endpoints.filter(({ is_active, has_exhausted }) => is_active && has_exhausted),
  },
  {
    id: 'webhooks_answer',
    fix: 'updateWebhook',
    severity: 'warning',
    rule: 'Webhook endpoints answer.',
    message: 'Deliveries to a webhook endpoint wait, because it fails.',
    explain: ({ endpoints }) => {
      const reasons = endpoints.flatMap(({ waiting_reason }) => waiting_reason ?? [])
      return `Deliveries wait. ${[...new Set(reasons)].join(' ')}`
    },
    suggestion: 'Fix the endpoint. Its deliveries are attempted again by themselves.',
    fails: ({ endpoints }) => endpoints.filter(({ waiting_reason }) => waiting_reason !== null),
  },
  {
    id: 'webhooks_inactive',
    fix: 'updateWebhook',
    severity: 'info',
    rule: 'No webhook endpoint was disabled after failures.',
    message: 'A webhook endpoint was disabled because it kept failing.',
    suggestion: 'Fix the endpoint and enable it again, or delete it.',
    fails: ({ endpoints }) =>
      endpoints.filter(({ is_active, disabled_reason }) => !is_active && disabled_reason !== 'manual'),
  },
])

const imports = defineChecks('imports', [
  {
    id: 'unfinished',
    fix: 'cancelDataImport',
    severity: 'info',
    rule: 'No import has waited for its mapping for more than 7 days.',
    message: 'An import has waited for its mapping for more than 7 days.',
    suggestion: 'Finish or cancel it.',
    fails: ({ unfinished_imports }) => unfinished_imports,
  },
])

/** All checks in the order of the response. */
export const checks: readonly Check[] = [
  ...basics,
  ...schedule,
  ...localization,
  ...payments,
  ...tax,
  ...products,
  ...fulfilment,
  ...communication,
  ...consents,
  ...branding,
  ...integrations,
  ...imports,
]
