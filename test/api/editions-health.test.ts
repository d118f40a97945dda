import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { campaigns } from '../../src/db/schema/campaigns.ts'
import { locations, products, variants } from '../../src/db/schema/catalog.ts'
import { consents } from '../../src/db/schema/consents.ts'
import { dataImports } from '../../src/db/schema/data-imports.ts'
import { editions } from '../../src/db/schema/editions.ts'
import { triggers } from '../../src/db/schema/transactional-emails.ts'
import { insert, update } from '../../src/db/write.ts'
import type { DataImportStatus } from '../../src/domain/data-imports/data-imports.ts'
import { checks } from '../../src/domain/editions/health/index.ts'
import { dayMs } from '../../src/domain/time/instants.ts'
import { get, post } from '../support/api.ts'
import { seedCategory, seedFeeRule, seedLocation, seedPassDesign } from '../support/seeding/catalogue.ts'
import { type EditionRow, seedEdition } from '../support/seeding/editions.ts'
import { seedFile } from '../support/seeding/files.ts'
import { seedDataImports } from '../support/seeding/imports/data-imports.ts'
import { givenMember } from '../support/seeding/members.ts'
import { seedConsent } from '../support/seeding/messaging/consents.ts'
import { seedReceiptMessage } from '../support/seeding/messaging/email-messages.ts'
import { seedSegment } from '../support/seeding/messaging/segments.ts'
import { aDomain, seedVerified } from '../support/seeding/messaging/sender-domains.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { freshId, write } from '../support/seeding/rows.ts'
import { seedMerchantAccount } from '../support/seeding/sales/merchant-accounts.ts'
import { seedProduct } from '../support/seeding/sales/trades.ts'
import { seedDeliveries, seedEndpoint } from '../support/seeding/webhooks.ts'

interface HealthCheck {
  check_id: string
  passed: boolean
  related_objects: { id: string; name: string }[]
}

async function seedPlace(columns: Partial<EditionRow> = {}) {
  const organisation = await givenOrganization()
  const edition = await seedEdition(organisation, { name: 'Nordlys 2026', ...columns })
  const tenant = { organization_id: organisation.id, edition_id: edition.id, created_at: 1 }
  return { organisation, edition, tenant, place: { organization: organisation.id, edition: edition.id } }
}

const readHealth = async (id: string, token?: string) => (await get(`/v1/editions/${id}/healthcheck`, token)).body
const failed = (health: { checks: HealthCheck[] }): string[] =>
  health.checks.filter(({ passed }) => !passed).map(({ check_id }) => check_id)
const related = (health: { checks: HealthCheck[] }, id: string) =>
  health.checks.find(({ check_id }) => check_id === id)?.related_objects

const change = (id: string, columns: Partial<EditionRow>) => write(update(editions, columns, sql`id = ${id}`))

const marketingSms = { communication_type: 'marketing', communication_channel: 'sms' } as const

/** Seeds an edition of which every check passes, except that nobody has verified the domain of its sender. */
async function seedConfigured() {
  const { organisation, edition, place } = await seedPlace()
  const domain = aDomain()
  const category = await seedCategory(place)
  const product = await seedProduct(place, {
    name: 'Tent',
    name_folded: 'tent',
    category_id: category,
    name_translations: { da: 'Billet' },
    price_minor: 100,
    is_variant_required: true,
    is_pickup_required: true,
    is_wallet_enabled: true,
  })
  const variant = { id: freshId('variant'), product_id: product, name: 'A', name_folded: 'a', created_at: 1 }
  await write(insert(variants, variant))
  const design = await seedPassDesign(place, { product_id: product })
  const location = await seedLocation(place)
  await seedConsent(place, { type: 'terms' })
  const receipt = await seedReceiptMessage(organisation)
  const refund = await seedReceiptMessage(null, { type: 'refund_confirmation' })
  await write(
    sql`update email_messages set subject = '{"en":"Thanks"}', blocks = '[{}]' where id in (${receipt}, ${refund})`,
  )
  await change(edition.id, {
    start_at: Date.now() + dayMs,
    end_at: Date.now() + 2 * dayMs,
    enabled_languages: ['en', 'da'],
    meta_title: { en: 'a', da: 'b' },
    meta_description: { en: 'a', da: 'b' },
    meta_image_id: await seedFile({ organization: organisation.id, edition: null }),
    merchant_account_id: await seedMerchantAccount(organisation),
    fee_rule_id: await seedFeeRule(organisation),
    tax_type: 'vat',
    default_price_tax_rate: 25,
    email_sender_name: 'Nordlys',
    email_sender_address: `a@${domain}`,
    email_reply_to: 'b@example.dk',
    transaction_receipt_email_id: receipt,
    refund_confirmation_email_id: refund,
  })
  return { organisation, edition, product, variant, design, location, receipt, domain }
}

describe('getEditionHealthcheck', () => {
  it('returns all checks of a new edition in their order, and says that it can be published', async () => {
    const { edition } = await seedPlace()
    const health = await readHealth(edition.id)
    expect(health).toMatchObject({
      edition_id: edition.id,
      edition_name: 'Nordlys 2026',
      status: 'warning',
      can_publish: true,
      summary: { critical: 0, warning: 7, info: 2 },
    })
    expect(health.checks.map(({ check_id }: HealthCheck) => check_id)).toEqual(checks.map(({ id }) => id))
    expect(failed(health)).toEqual([
      'schedule.dates_set',
      'localization.meta_translated',
      'products.any',
      'communication.receipt_email',
      'communication.refund_email',
      'communication.sender',
      'communication.reply_to',
      'consents.terms',
      'branding.meta_image',
    ])
  })

  it('is healthy when everything is configured and the organisation has verified the domain of the sender', async () => {
    const { organisation, edition, domain } = await seedConfigured()
    expect(failed(await readHealth(edition.id))).toEqual(['communication.sender_domain'])
    await seedVerified((await givenOrganization()).id, domain)
    expect(failed(await readHealth(edition.id))).toEqual(['communication.sender_domain'])
    await seedVerified(organisation.id, domain)
    const health = await readHealth(edition.id)
    expect([failed(health), health.status]).toEqual([[], 'healthy'])
  })

  it('fails the check of everything that is removed, and names what it concerns', async () => {
    const { organisation, edition, product, variant, design, location, receipt, domain } = await seedConfigured()
    await seedVerified(organisation.id, domain)
    await write(
      update(variants, { is_active: false }, sql`id = ${variant.id}`),
      update(locations, { is_draft: true }, sql`id = ${location}`),
      sql`delete from pass_designs where id = ${design}`,
      update(consents, { is_active: false }, sql`edition_id = ${edition.id}`),
      update(products, { category_id: null, price_minor: null, name_translations: {} }, sql`id = ${product}`),
      sql`update email_messages set blocks = '[]' where id = ${receipt}`,
    )
    const other = await givenOrganization()
    await change(edition.id, {
      merchant_account_id: await seedMerchantAccount(other),
      fee_rule_id: await seedFeeRule(other),
    })
    const health = await readHealth(edition.id)
    expect(failed(health)).toEqual([
      'localization.products_translated',
      'payments.fee_rule_valid',
      'products.price_present',
      'products.category_assigned',
      'products.variant_complete',
      'fulfilment.pickup_points',
      'fulfilment.pass_design',
      'communication.templates_not_empty',
      'consents.terms',
    ])
    expect(related(health, 'products.variant_complete')).toMatchObject([{ id: product, name: 'Tent' }])
    expect(related(health, 'communication.templates_not_empty')).toMatchObject([{ id: receipt, name: 'Receipt' }])
  })

  it('prevents the publication of an edition that is paid through an account of another organisation', async () => {
    const { edition } = await seedConfigured()
    await change(edition.id, { merchant_account_id: await seedMerchantAccount(await givenOrganization()) })
    expect(await readHealth(edition.id)).toMatchObject({
      status: 'critical',
      can_publish: false,
      summary: { critical: 1 },
    })
  })

  it('accepts a design without a product for all products', async () => {
    const { edition, place } = await seedPlace()
    await seedProduct(place, { is_wallet_enabled: true })
    expect(failed(await readHealth(edition.id))).toContain('fulfilment.pass_design')
    await seedPassDesign(place)
    expect(failed(await readHealth(edition.id))).not.toContain('fulfilment.pass_design')
  })

  it('warns of imported products without a price, which do not prevent publishing', async () => {
    const { organisation, edition } = await seedPlace()
    const order = {
      external_id: 'A-1',
      currency: 'eur',
      customer: { email: 'a@example.dk' },
      items: [{ product: 'Day ticket', quantity: 1, unit_price: 225 }],
    }
    const body = { organization_id: organisation.id, edition_id: edition.id, source: 'shop', orders: [order] }
    expect((await post('/v1/data-imports/external-orders', body)).status).toBe(201)
    const health = await readHealth(edition.id)
    expect(related(health, 'products.price_present')).toMatchObject([{ name: 'Day ticket' }])
    expect(failed(health)).toContain('payments.currency_locked')
    expect(health.can_publish).toBe(true)
    await change(edition.id, { currency: 'eur' })
    expect(failed(await readHealth(edition.id))).not.toContain('payments.currency_locked')
  })

  it('checks the messages of active triggers alone', async () => {
    const { organisation, edition, tenant } = await seedPlace()
    const reminder = await seedReceiptMessage(organisation, { type: 'reminder', title: 'Reminder', blocks: [] })
    const trigger = {
      id: freshId('trigger'),
      ...tenant,
      kind: 'reminder',
      channel: 'email',
      email_message_id: reminder,
    }
    await write(insert(triggers, { ...trigger, modified_at: 1 }))
    expect(related(await readHealth(edition.id), 'communication.templates_not_empty')).toMatchObject([
      { id: reminder, name: 'Reminder' },
    ])
    await write(update(triggers, { is_active: false }, sql`id = ${trigger.id}`))
    expect(failed(await readHealth(edition.id))).not.toContain('communication.templates_not_empty')
  })

  it('checks a segment of the organisation once a campaign of the edition uses it', async () => {
    const { edition, tenant, place } = await seedPlace()
    const segment = await seedSegment({ ...place, edition: null }, marketingSms)
    const quiet = failed(await readHealth(edition.id))
    expect(quiet).not.toContain('consents.marketing')
    expect(quiet).not.toContain('communication.sms_sender')
    const campaign = {
      id: freshId('campaign'),
      ...tenant,
      segment_id: segment.id,
      name: 'C',
      name_key: 'c',
      search: 'c',
      modified_at: 1,
    }
    await write(insert(campaigns, { ...campaign, channel: 'sms', status: 'draft' }))
    expect(failed(await readHealth(edition.id))).toEqual(
      expect.arrayContaining(['consents.marketing', 'communication.sms_sender']),
    )
  })

  it('checks the segments of the edition until they are deleted', async () => {
    const { edition, place } = await seedPlace()
    await seedSegment(place, marketingSms)
    expect(failed(await readHealth(edition.id))).toContain('consents.marketing')
    await write(sql`update segments set deleted_at = 1 where edition_id = ${edition.id}`)
    expect(failed(await readHealth(edition.id))).not.toContain('consents.marketing')
  })

  it('counts a consent of the organisation, because it is asked for in all editions', async () => {
    const { edition, place } = await seedPlace()
    await seedSegment(place, marketingSms)
    await seedConsent({ ...place, edition: null }, { text: { da: 'Ja' } })
    const failedChecks = failed(await readHealth(edition.id))
    expect(failedChecks).not.toContain('consents.marketing')
    expect(failedChecks).toContain('consents.translated')
  })

  it('names endpoints that fail with the edition’s events, only to callers who may see them', async () => {
    const { organisation, edition, place } = await seedPlace()
    const ownEndpoint = await seedEndpoint(place, { name: 'Own' })
    const wide = await seedEndpoint({ ...place, edition: null }, { name: 'Wide' })
    const now = Date.now()
    for (const { id } of [ownEndpoint, wide])
      await seedDeliveries(place, id, 1, { status: 'exhausted', last_attempt_at: now, created_at: now - 5 * dayMs })
    await seedEndpoint(place, { name: 'Off', is_active: false, disabled_reason: 'failing' })
    const check = 'integrations.webhooks_healthy'
    const names = async (token?: string) => {
      const health = await readHealth(edition.id, token)
      expect(failed(health)).toEqual(expect.arrayContaining([check, 'integrations.webhooks_inactive']))
      // Endpoints that are created in the same millisecond have ids in random order.
      return related(health, check)
        ?.map(({ name }) => name)
        .toSorted()
    }
    expect(await names()).toEqual(['Own', 'Wide'])
    expect(await names((await givenMember(organisation, 'manager')).token)).toEqual(['Own', 'Wide'])
    expect(await names((await givenMember(organisation, 'viewer')).token)).toEqual([])
    expect(await names((await givenMember(organisation, 'manager', edition.id)).token)).toEqual(['Own'])
    expect(await names((await givenMember(organisation, 'viewer', edition.id)).token)).toEqual([])

    await write(
      sql`update webhook_deliveries set last_attempt_at = ${now - dayMs - 1000} where endpoint_id = ${ownEndpoint.id}`,
    )
    await write(sql`update webhook_deliveries set edition_id = null where endpoint_id = ${wide.id}`)
    expect(failed(await readHealth(edition.id))).not.toContain(check)
  })

  it('names imports that wait for a user', async () => {
    const { edition, place } = await seedPlace()
    const [id = ''] = await seedDataImports(place, 1)
    const age = (status: DataImportStatus, days: number) =>
      write(update(dataImports, { status, modified_at: Date.now() - days * dayMs }, sql`id = ${id}`))
    for (const [status, days, fails] of [
      ['mapping_columns', 8, true],
      ['mapping_products', 8, true],
      ['mapping_products', 6, false],
      ['completed', 8, false],
    ] as const) {
      await age(status, days)
      const health = await readHealth(edition.id)
      expect([status, days, failed(health).includes('imports.unfinished')]).toEqual([status, days, fails])
      if (fails) expect(related(health, 'imports.unfinished')).toMatchObject([{ id }])
    }
  })

  it('requires an event of the same organisation', async () => {
    const { edition } = await seedPlace()
    await change(edition.id, { event_id: (await seedPlace()).edition.event_id })
    expect(failed(await readHealth(edition.id))).toContain('basics.event_linked')
  })
})
