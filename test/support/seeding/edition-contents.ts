import { sql } from 'drizzle-orm'
import { categories, productAliases, products, variants, options, locations } from '../../../src/db/schema/catalog.ts'
import { consents, consentVersions } from '../../../src/db/schema/consents.ts'
import { editions } from '../../../src/db/schema/editions.ts'
import { emailMessages } from '../../../src/db/schema/email-messages.ts'
import { triggers } from '../../../src/db/schema/transactional-emails.ts'
import { passDesigns } from '../../../src/db/schema/wallet.ts'
import { insertAll, update } from '../../../src/db/write.ts'
import { buildNameColumns } from '../../../src/domain/catalogue.ts'
import { createIdFactory } from '../../../src/domain/ids.ts'
import type { EmailMessageScope, EmailMessageType } from '../../../src/domain/messaging/email-messages.ts'
import { buildSortKey } from '../../../src/domain/text/fold.ts'
import { seedFile } from './files.ts'
import { next, type Place, seededAt, write } from './rows.ts'

/** Fills every table whose rows an edition owns, with other values than the defaults. Messages exist at all levels. */
export async function seedEditionContents(place: Place, size = 2) {
  const { organization: organization_id, edition: edition_id } = place
  // Tables in the order of creation, so that a copy and its source can be compared row by row.
  const newId = createIdFactory(Date.now(), Math.random)
  const times = { created_at: seededAt, modified_at: seededAt }
  const tenant = { organization_id, edition_id, created_at: seededAt }
  const named = (kind: string, index: number) => {
    const name = `${kind} ${index} ${next()}`
    return { name, name_folded: name.toLowerCase() }
  }
  const makeRows = <Row>(make: (index: number) => Row): Row[] => Array.from({ length: size }, (_, index) => make(index))

  const categoryRows = makeRows((index) => ({
    id: newId('category'),
    ...tenant,
    modified_at: seededAt,
    ...buildNameColumns(`Category ${index}`),
    name_translations: { da: `Kategori ${index}` },
    position: index + 3,
  }))
  const productRows = makeRows((index) => ({
    id: newId('product'),
    ...tenant,
    modified_at: seededAt,
    ...buildNameColumns(`Product ${index} ${next()}`),
    is_draft: index % 2 === 1,
    category_id: categoryRows[index]?.id ?? null,
    name_translations: { da: `Vare ${index}` },
    price_minor: 1000 + index,
    deposit_minor: 50 + index,
    is_variant_required: true,
    is_pickup_required: true,
    is_wallet_enabled: true,
  }))
  const aliasRows = makeRows((index) => ({
    edition_id,
    product_id: productRows[index]?.id ?? '',
    ...named('Alias', index),
    created_at: seededAt,
  }))
  // The first product has all options, so that a wrong parent shows.
  const buildChild = (index: number) => ({ product_id: productRows[index % 2]?.id ?? '', created_at: seededAt })
  const variantRows = makeRows((index) => ({
    id: newId('variant'),
    ...buildChild(index),
    ...named('Variant', index),
    is_active: index % 2 === 1,
  }))
  const optionRows = makeRows((index) => ({
    id: newId('option'),
    ...buildChild(index),
    ...named('Option', index),
    price_mod_minor: 5 + index,
    deposit_mod_minor: 7 + index,
  }))
  const locationRows = makeRows((index) => ({
    id: newId('location'),
    ...tenant,
    ...buildNameColumns(`Location ${index} ${next()}`),
    modified_at: seededAt,
    is_draft: index % 2 === 1,
  }))
  const message = (
    type: EmailMessageType,
    owner: string | null,
    edition: string | null,
    scope: EmailMessageScope,
  ): typeof emailMessages.$inferSelect => ({
    id: newId('email_message'),
    organization_id: owner,
    edition_id: edition,
    title: type,
    title_key: buildSortKey(type),
    subject: { en: 'Thank you', da: 'Tak' },
    preheader: { en: 'See you soon' },
    type,
    scope,
    template: 'modern',
    is_locked: owner === null,
    blocks: [{ id: 'blk_1', type: 'rich_text', data: { text: { en: '<p>Hello</p>' } } }],
    version: 4,
    modified_by: null,
    ...times,
  })
  const receipt = message('receipt', organization_id, edition_id, 'edition')
  const refund = message('refund_confirmation', null, null, 'platform')
  const reminder = message('reminder', organization_id, null, 'template')
  const unused = message('other', organization_id, edition_id, 'edition')
  const trigger = (kind: string, channel: string, email: string | null, is_active: boolean) => ({
    id: newId('trigger'),
    ...tenant,
    modified_at: seededAt,
    kind,
    channel,
    email_message_id: email,
    is_active,
  })
  const triggerRows = [
    trigger('receipt', 'email', receipt.id, true),
    trigger('reminder', 'email', reminder.id, false),
    trigger('reminder', 'sms', null, true),
  ]
  const consentRows = makeRows((index) => ({
    id: newId('consent'),
    ...tenant,
    modified_at: seededAt,
    origin_id: newId('consent'),
    key: `consent-${index}`,
    name: `Consent ${index}`,
    name_key: buildSortKey(`Consent ${index}`),
    title: { en: 'Title', da: 'Titel' },
    text: { en: 'Text', da: 'Tekst' },
    link_url: { en: 'https://example.com' },
    type: 'marketing' as const,
    channels: ['email' as const],
    legal_basis: 'contract' as const,
    is_required: true,
    is_active: index % 2 === 1,
    collect_at: ['checkout' as const],
    position: index + 2,
    expires_after_days: 30,
    reconsent_on_change: true,
    wording_version: 3,
    content_hash: `hash-${index}`,
    metadata: { a: index },
    version: 5,
  }))
  const versionRows = consentRows.flatMap(({ id, title, text, link_url, legal_basis, content_hash }) =>
    [1, 2, 3].map((version) => ({
      consent_id: id,
      version,
      title,
      text: version === 3 ? text : {},
      link_url,
      legal_basis,
      content_hash: version === 3 ? content_hash : 'old',
      created_at: seededAt,
    })),
  )
  const logo = await seedFile({ organization: organization_id, edition: null })
  const designRows = makeRows((index) => ({
    id: newId('pass_design'),
    ...tenant,
    modified_at: seededAt,
    product_id: index === 0 ? null : (productRows[index]?.id ?? null),
    ...buildNameColumns(`Design ${index}`),
    design: { colour: '#fff' },
    logo_image_id: logo,
  }))
  const used = { transaction_receipt_email_id: receipt.id, refund_confirmation_email_id: refund.id }
  await write(
    ...insertAll(categories, categoryRows),
    ...insertAll(products, productRows),
    ...insertAll(productAliases, aliasRows),
    ...insertAll(variants, variantRows),
    ...insertAll(options, optionRows),
    ...insertAll(locations, locationRows),
    ...insertAll(emailMessages, [receipt, refund, reminder, unused]),
    ...insertAll(triggers, triggerRows),
    ...insertAll(consents, consentRows),
    ...insertAll(consentVersions, versionRows),
    ...insertAll(passDesigns, designRows),
    update(editions, used, sql`id = ${edition_id}`),
  )
  return { receipt: receipt.id, refund: refund.id, reminder: reminder.id, unused: unused.id }
}
