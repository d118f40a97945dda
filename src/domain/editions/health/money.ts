import { currencies } from '../../money.ts'
import { type Check, defineChecks } from './check.ts'
import type { EditionFacts } from './facts.ts'

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
