import { describe, expect, it } from 'vitest'
import { checks, runChecks, getHealthStatus, countFailures } from '../../src/domain/editions/health/index.ts'
import { dayMs } from '../../src/domain/time/instants.ts'
import {
  combineChanges,
  type Change,
  account,
  endpoint,
  free,
  addCondition,
  ids,
  marketing,
  now,
  product,
  receipt,
  refund,
  addSale,
  visible,
  sound,
  terms,
} from '../support/edition-facts.ts'

/**
 * For each check: changes to a complete edition that make it fail alone, the resources that it then names, and changes
 * that it accepts.
 */
const cases: Record<string, { fails: Change[]; names?: string[]; bears?: Change[] }> = {
  'basics.name_present': { fails: [addCondition({ name: '' }), addCondition({ name: ' \t' })] },
  'basics.not_archived': { fails: [addCondition({ is_archived: true })] },
  'basics.event_linked': { fails: [() => ({ has_event: false })] },
  'schedule.dates_ordered': {
    fails: [addCondition({ start_at: now + 2, end_at: now + 1 })],
    bears: [addCondition({ start_at: now + 2, end_at: now + 2 })],
  },
  'schedule.dates_set': {
    fails: [
      addCondition({ start_at: null, end_at: null }),
      addCondition({ start_at: null }),
      addCondition({ end_at: null }),
    ],
  },
  'schedule.not_in_past': {
    fails: [addCondition({ start_at: now - 2, end_at: now - 1 })],
    bears: [
      addCondition({ start_at: now - 2, end_at: now - 1, is_draft: false }),
      addCondition({ start_at: now - 2, end_at: now }),
    ],
  },
  'schedule.duration_plausible': {
    fails: [addCondition({ start_at: now, end_at: now + 60 * dayMs + 1 })],
    bears: [addCondition({ start_at: now, end_at: now + 60 * dayMs })],
  },
  'schedule.timezone_set': {
    fails: [addCondition({ timezone: 'UTC' })],
    bears: [addCondition({ timezone: 'UTC', default_country_code: '+44' })],
  },
  'localization.default_enabled': {
    fails: [addCondition({ default_language: 'nl', enabled_languages: ['da'] })].map((change) =>
      combineChanges(change, () => ({
        products: [{ ...product, name_translations: { da: 'x' } }],
        messages: [receipt, refund].map((message) => ({ ...message, subject: { nl: 'Dank u' } })),
      })),
    ),
  },
  'localization.meta_translated': {
    fails: [addCondition({ meta_title: { en: 'Title' } }), addCondition({ meta_description: { en: 'Text', da: ' ' } })],
    bears: [addCondition({ meta_title: { en: 'Title' }, enabled_languages: ['en'] })],
  },
  'localization.products_translated': {
    fails: [addSale({ name_translations: {} })],
    names: ['prd_1'],
    bears: [addSale({ name_translations: { da: 'x' } })],
  },
  'payments.merchant_for_paid': {
    fails: [
      () => ({ merchant_account: null }),
      combineChanges(() => ({ merchant_account: null }), addSale({ price_minor: 1, deposit_minor: 0 })),
      combineChanges(() => ({ merchant_account: null }), addSale({ price_minor: 0, deposit_minor: 1 })),
    ],
    bears: [
      combineChanges(() => ({ merchant_account: null }), addSale({ price_minor: 0, deposit_minor: 0 })),
      () => ({ merchant_account: null, products: [{ ...product, is_draft: true }, free] }),
    ],
  },
  'payments.currency_supported': {
    fails: [() => ({ merchant_account: { ...account, supported_currencies: ['eur'] } })],
    bears: [combineChanges(() => ({ merchant_account: null }), addSale({ price_minor: 0, deposit_minor: 0 }))],
  },
  'payments.merchant_ready': {
    fails: [() => ({ merchant_account: { ...account, is_ready: false } })],
    names: ['mac_1'],
    bears: [combineChanges(() => ({ merchant_account: null }), addSale({ price_minor: 0, deposit_minor: 0 }))],
  },
  'payments.currency_set': {
    fails: ['', 'xyz'].map((currency) =>
      combineChanges(addCondition({ currency }), () => ({
        merchant_account: { ...account, supported_currencies: [currency] },
        fee_rule: { is_active: true, currency },
        order_currencies: [currency],
      })),
    ),
  },
  'payments.fee_rule_valid': {
    fails: [
      () => ({ fee_rule: null }),
      () => ({ fee_rule: { is_active: false, currency: 'dkk' } }),
      () => ({ fee_rule: { is_active: true, currency: 'eur' } }),
    ],
    bears: [combineChanges(addCondition({ fee_rule_id: null }), () => ({ fee_rule: null }))],
  },
  'payments.currency_locked': {
    fails: [() => ({ order_currencies: ['dkk', 'eur'] })],
    bears: [() => ({ order_currencies: [] })],
  },
  'payments.refunds_proceed': { fails: [() => ({ refund_waiting_reason: 'The payment provider answers 500.' })] },
  'payments.refunds_settled': { fails: [() => ({ has_stuck_refund: true })] },
  'payments.refund_batches_proceed': { fails: [() => ({ has_stalled_refund_batch: true })] },
  'tax.rate_set': {
    fails: [
      addCondition({ default_price_tax_rate: 0 }),
      addCondition({ default_price_tax_rate: 0, tax_type: 'sales' }),
    ],
    bears: [addCondition({ tax_type: 'none', default_price_tax_rate: 0, default_deposit_tax_rate: 0 })],
  },
  'tax.rate_without_type': {
    fails: [
      addCondition({ tax_type: 'none' }),
      addCondition({
        tax_type: 'none',
        default_price_tax_rate: 0,
        default_deposit_tax_rate: 0,
        default_packaging_deposit_tax_rate: 1,
      }),
    ],
  },
  'tax.rate_range': {
    fails: [
      addCondition({ default_price_tax_rate: 100.1 }),
      addCondition({ default_deposit_tax_rate: -1 }),
      addCondition({ default_packaging_deposit_tax_rate: Number.NaN }),
    ],
    bears: [addCondition({ default_price_tax_rate: 100 })],
  },
  'tax.deposit_rate_set': {
    fails: [addCondition({ default_deposit_tax_rate: 0 })],
    bears: [combineChanges(addCondition({ default_deposit_tax_rate: 0 }), addSale({ deposit_minor: 0 }))],
  },
  'products.any': { fails: [() => ({ products: [] })] },
  'products.any_published': {
    fails: [addSale({ is_draft: true })],
    bears: [() => ({ products: [product, { ...product, is_draft: true }] })],
    names: ['prd_1'],
  },
  'products.price_present': {
    fails: [addSale({ price_minor: null })],
    names: ['prd_1'],
    bears: [
      addSale({ price_minor: 0 }),
      () => ({ products: [product, { ...product, is_draft: true, price_minor: null }] }),
    ],
  },
  'products.category_assigned': {
    fails: [() => ({ products: [product, { ...product, id: 'prd_2', category_id: null }] })],
    names: ['prd_2'],
  },
  'products.variant_complete': {
    fails: [addSale({ has_active_variant: false })],
    names: ['prd_1'],
    bears: [addSale({ has_active_variant: false, is_variant_required: false })],
  },
  'fulfilment.pickup_points': {
    fails: [() => ({ has_pickup_point: false })],
    names: ['prd_1'],
    bears: [combineChanges(() => ({ has_pickup_point: false }), addSale({ is_pickup_required: false }))],
  },
  'fulfilment.pass_design': {
    fails: [addSale({ has_pass_design: false })],
    names: ['prd_1'],
    bears: [addSale({ has_pass_design: false, is_wallet_enabled: false })],
  },
  'communication.receipt_email': {
    fails: [
      addCondition({ transaction_receipt_email_id: null }),
      addCondition({ transaction_receipt_email_id: 'eml_gone' }),
      addCondition({ transaction_receipt_email_id: 'eml_2' }),
    ],
    bears: [() => ({ messages: [{ ...receipt, type: 'receipt_online' }, refund] })],
  },
  'communication.refund_email': {
    fails: [
      addCondition({ refund_confirmation_email_id: null }),
      addCondition({ refund_confirmation_email_id: 'eml_1' }),
    ],
  },
  'communication.templates_not_empty': {
    fails: [
      () => ({ messages: [{ ...receipt, has_blocks: false }, refund] }),
      () => ({ messages: [{ ...receipt, subject: {} }, refund] }),
      () => ({ messages: [{ ...receipt, subject: { en: ' ' } }, refund] }),
    ],
    names: ['eml_1'],
  },
  'communication.sender': {
    fails: [
      addCondition({ email_sender_name: null }),
      addCondition({ email_sender_address: null }),
      addCondition({ email_sender_name: ' ' }),
    ],
  },
  'communication.sender_domain': {
    fails: [() => ({ is_sender_verified: false })],
    bears: [
      combineChanges(addCondition({ email_sender_address: null, email_sender_name: null }), () => ({
        is_sender_verified: false,
      })),
    ],
  },
  'communication.sender_name': {
    fails: [
      addCondition({ email_sender_name: 'pay@bank.example' }),
      addCondition({ email_sender_name: 'Nord\u202Elys' }),
    ],
  },
  'communication.reply_to': { fails: [addCondition({ email_reply_to: null })] },
  'communication.email_provider': {
    fails: [() => ({ has_provider: { email: false, sms: true } })],
  },
  'communication.sms_provider': { fails: [() => ({ has_provider: { email: true, sms: false } })] },
  'communication.email_accepted': {
    fails: [() => ({ outages: { ...sound.outages, email: 'The e-mail provider answers 500.' } })],
  },
  'communication.sms_accepted': {
    fails: [() => ({ outages: { ...sound.outages, sms: 'The SMS provider answers 500.' } })],
  },
  'fulfilment.passes_updated': { fails: [() => ({ outages: { ...sound.outages, passes: 'Google is down.' } })] },
  'integrations.webhooks_answer': {
    fails: [() => ({ endpoints: [{ ...endpoint, waiting_reason: 'The endpoint answers 500.' }] })],
    names: [endpoint.id],
  },
  'communication.sms_sender': {
    fails: [addCondition({ sms_sender_name: 'Unset' })],
    bears: [combineChanges(addCondition({ sms_sender_name: 'Unset' }), () => ({ has_sms_campaign: false }))],
  },
  'consents.terms': {
    fails: [() => ({ consents: [marketing] })],
    bears: [() => ({ consents: [{ ...terms, type: 'privacy' }, marketing] })],
  },
  'consents.marketing': {
    fails: [() => ({ consents: [terms] })],
    bears: [() => ({ consents: [terms], has_marketing_segment: false })],
  },
  'consents.translated': {
    fails: [() => ({ consents: [terms, { ...marketing, text: { en: 'News' } }] })],
    names: ['con_2'],
  },
  'branding.meta_image': { fails: [addCondition({ meta_image_id: null })] },
  'branding.slug': {
    fails: [addCondition({ slug: 'nordlys-2026-2' })],
    bears: [addCondition({ slug: 'nordlys-2026-b' }), addCondition({ slug: 'something-2' })],
  },
  'integrations.webhooks_healthy': {
    fails: [() => ({ endpoints: [endpoint, { ...endpoint, id: 'whk_2', has_exhausted: true }] })],
    names: ['whk_2'],
  },
  'integrations.webhooks_inactive': {
    fails: ['gone', 'failing'].map((disabled_reason) => () => ({
      endpoints: [{ ...endpoint, is_active: false, disabled_reason }],
    })),
    names: ['whk_1'],
    bears: [() => ({ endpoints: [{ ...endpoint, is_active: false, disabled_reason: 'manual', has_exhausted: true }] })],
  },
  'imports.unfinished': {
    fails: [() => ({ unfinished_imports: [{ id: 'imp_1', name: 'Orders', ...visible }] })],
    names: ['imp_1'],
  },
}

const critical = `basics.name_present basics.not_archived basics.event_linked schedule.dates_ordered
  localization.default_enabled payments.merchant_for_paid payments.currency_supported payments.currency_set
  tax.rate_range`.split(/\s+/)
const info = `schedule.duration_plausible schedule.timezone_set localization.products_translated
  payments.currency_locked tax.deposit_rate_set products.category_assigned fulfilment.pass_design
  communication.reply_to consents.marketing branding.meta_image branding.slug integrations.webhooks_inactive
  imports.unfinished`.split(/\s+/)

describe('a healthcheck', () => {
  it('has 53 checks, each with its severity and its texts', () => {
    expect(checks.map(({ id }) => id).toSorted()).toEqual(Object.keys(cases).toSorted())
    expect(checks).toHaveLength(53)
    const getSeverity = (id: string) => (critical.includes(id) ? 'critical' : info.includes(id) ? 'info' : 'warning')
    expect(checks.map(({ id, severity }) => [id, severity])).toEqual(checks.map(({ id }) => [id, getSeverity(id)]))
    expect([critical.length, info.length]).toEqual([9, 13])
    for (const { id, category, rule, message, suggestion } of checks) {
      expect(id.startsWith(`${category}.`)).toBe(true)
      for (const words of [rule, message, suggestion]) expect(words).toMatch(/^[A-Z].+\.$/)
    }
  })

  it('passes for a complete edition', () => {
    expect(ids(sound)).toEqual([])
    expect(getHealthStatus(countFailures(runChecks(sound)))).toBe('healthy')
  })
})

describe('the check of a provider', () => {
  const missing = { has_provider: { email: false, sms: false } }
  const messageless = {
    ...sound.edition,
    transaction_receipt_email_id: null,
    refund_confirmation_email_id: null,
  }
  const listCritical = (facts: Partial<typeof sound>) =>
    runChecks({ ...sound, ...missing, edition: messageless, ...facts })
      .filter(({ hasPassed, severity }) => !hasPassed && severity === 'critical')
      .map(({ check }) => check.id)

  it('is critical where the edition names a mail or has a scheduled campaign, and otherwise a warning', () => {
    expect(listCritical({})).toEqual([])
    for (const column of ['transaction_receipt_email_id', 'refund_confirmation_email_id'])
      expect(listCritical({ edition: { ...messageless, [column]: 'eml_1' } })).toEqual(['communication.email_provider'])
    const listScheduled = (email: boolean, sms: boolean) => listCritical({ has_scheduled_campaign: { email, sms } })
    expect(listScheduled(true, false)).toEqual(['communication.email_provider'])
    expect(listScheduled(false, true)).toEqual(['communication.sms_provider'])
  })
})

describe.each(Object.entries(cases))('the check %s', (id, { fails, names = [], bears = [] }) => {
  it('fails alone, and names the faulty resources', () => {
    for (const change of fails) {
      const facts = { ...sound, ...change(sound) }
      expect(ids(facts)).toEqual([id])
      const result = runChecks(facts).find(({ check }) => check.id === id)
      expect(result?.subjects.map((resource) => resource.id)).toEqual(names)
    }
  })

  it('passes for a complete edition', () => {
    for (const change of bears) expect(ids({ ...sound, ...change(sound) })).not.toContain(id)
    expect(ids(sound)).not.toContain(id)
  })
})
