import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { operations } from '../../src/app.ts'
import { editions } from '../../src/db/schema/editions.ts'
import { update } from '../../src/db/write.ts'
import { checks } from '../../src/domain/editions/health/index.ts'
import { dayMs } from '../../src/domain/time/instants.ts'
import type { Operation } from '../../src/http/operations/operation.ts'
import { call, get, post, type Reply } from '../support/api.ts'
import { makeFreshPng, uploadRaw } from '../support/files.ts'
import { seedFeeRule } from '../support/seeding/catalogue.ts'
import { type EditionRow, seedEdition } from '../support/seeding/editions.ts'
import { seedDataImports } from '../support/seeding/imports/data-imports.ts'
import { aConsent, givenConsent } from '../support/seeding/messaging/consents.ts'
import { aBlock, seedMessage } from '../support/seeding/messaging/email-messages.ts'
import { seedSegment } from '../support/seeding/messaging/segments.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { type Place, write } from '../support/seeding/rows.ts'
import { anOrder, importOrders } from '../support/seeding/sales/orders.ts'
import { seedRefundBatches } from '../support/seeding/sales/refund-batches.ts'
import { seedProduct } from '../support/seeding/sales/trades.ts'
import { seedDeliveries, seedEndpoint } from '../support/seeding/webhooks.ts'
import { setTexts } from '../support/sender-domains.ts'

interface RelatedObject {
  id: string
  name: string
  type: string
  operation: string | null
  path: string | null
}

interface Scene {
  place: Place
  /** The owner as bodies name it. */
  owner: { organization_id: string; edition_id: string }
  change: (columns: Partial<EditionRow>) => Promise<void>
}

type Body = object | ((object: RelatedObject, scene: Scene) => Promise<object>)

interface Walk {
  /** Makes the check fail. */
  breaks: (scene: Scene) => Promise<unknown>
  /** The body of the request to the path of each related object. */
  body: Body
  /** Further requests, with the answer to the first one. */
  follow?: (scene: Scene, reply: Reply) => Promise<unknown>
}

async function seedScene(): Promise<Scene> {
  const organization = await givenOrganization()
  const edition = await seedEdition(organization)
  return {
    place: { organization: organization.id, edition: edition.id },
    owner: { organization_id: organization.id, edition_id: edition.id },
    change: (columns) => write(update(editions, columns, sql`id = ${edition.id}`)),
  }
}

/** An edition with other columns, which an update of the edition corrects. */
const columns = (broken: Partial<EditionRow>, body: Body): Walk => ({
  breaks: ({ change }) => change(broken),
  body,
})

const product = (broken: Parameters<typeof seedProduct>[1], body: Body): Walk => ({
  breaks: ({ place }) => seedProduct(place, broken),
  body,
})

const create = async (path: string, body: object): Promise<string> => {
  const reply = await post(path, body)
  expect([path, reply.status, reply.text]).toEqual([path, 201, reply.text])
  return reply.body.id
}

const givenAccount = ({ owner }: Scene, fields: object = {}): Promise<string> =>
  create('/v1/merchant-accounts', {
    organization_id: owner.organization_id,
    name: 'By hand',
    type: 'manual',
    supported_currencies: ['dkk'],
    ...fields,
  })

const tomorrow = new Date(Date.now() + dayMs).toISOString()
const dates = { start_date: tomorrow, end_date: new Date(Date.now() + 2 * dayMs).toISOString() }
const texts = { en: 'Title', da: 'Titel' }
const seedSale = async (scene: Scene) => {
  await scene.change({ merchant_account_id: null })
  await seedProduct(scene.place, { price_minor: 100 })
}

/** A message of the edition, which it names in the field. */
const message = (type: string, field: string): Walk => ({
  breaks: () => Promise.resolve(),
  body: async (_, { owner }) => ({
    [field]: await create('/v1/email-messages', { ...owner, type, title: 'Message', subject: texts }),
  }),
})

const walks: Readonly<Record<string, Walk>> = {
  'basics.name_present': columns({ name: ' ' }, { name: '2026' }),
  'basics.not_archived': columns({ is_archived: true }, { is_archived: false }),
  'schedule.dates_ordered': columns({ start_at: 2, end_at: 1 }, dates),
  'schedule.dates_set': columns({ start_at: null }, dates),
  'schedule.not_in_past': columns({ start_at: 1, end_at: 2 }, dates),
  'schedule.duration_plausible': columns({ start_at: 1, end_at: 100 * dayMs }, dates),
  'schedule.timezone_set': columns({ timezone: 'UTC' }, { timezone: 'Europe/Copenhagen' }),
  'localization.default_enabled': columns(
    { default_language: 'nl', enabled_languages: ['en'] },
    { enabled_languages: ['en', 'nl'] },
  ),
  'localization.meta_translated': columns(
    { enabled_languages: ['en', 'da'], meta_title: {} },
    { meta_title: texts, meta_description: texts },
  ),
  'localization.products_translated': {
    breaks: async ({ place, change }) => {
      await change({ enabled_languages: ['en', 'da'], default_language: 'en' })
      await seedProduct(place)
    },
    body: { name_translations: { da: 'Billet' } },
  },
  'payments.merchant_for_paid': {
    breaks: seedSale,
    body: async (_, scene) => ({ merchant_account_id: await givenAccount(scene) }),
  },
  'payments.currency_supported': {
    breaks: async (scene) => scene.change({ merchant_account_id: await givenAccount(scene), currency: 'eur' }),
    body: { currency: 'dkk' },
  },
  'payments.merchant_ready': {
    breaks: async (scene) => scene.change({ merchant_account_id: await givenAccount(scene, { is_active: false }) }),
    body: { is_active: true },
  },
  'payments.currency_set': {
    breaks: async (scene) => {
      await seedSale(scene)
      await scene.change({ currency: 'xyz' as never })
    },
    body: { currency: 'dkk' },
  },
  'payments.fee_rule_valid': {
    breaks: async ({ place, change }) =>
      change({ currency: 'dkk', fee_rule_id: await seedFeeRule({ id: place.organization }, { is_active: false }) }),
    body: async (_, { owner }) => ({
      fee_rule_id: await create('/v1/fee-rules', {
        organization_id: owner.organization_id,
        name: 'Standard',
        currency: 'dkk',
      }),
    }),
  },
  'payments.currency_locked': {
    breaks: async ({ owner, change }) => {
      await importOrders(owner, [anOrder()])
      await change({ currency: 'sek' })
    },
    body: { currency: 'dkk' },
  },
  'payments.refund_batches_proceed': {
    breaks: ({ place }) => seedRefundBatches(place, 1, { status: 'running', modified_at: Date.now() - dayMs }),
    body: {},
    follow: async (_, { body }) => {
      for (const { id } of body.results) expect((await post(`/v1/refund-batches/${id}/cancel`, {})).status).toBe(200)
    },
  },
  'tax.rate_set': columns({ tax_type: 'vat', default_price_tax_rate: 0 }, { default_price_tax_rate: 25 }),
  'tax.rate_without_type': columns({ tax_type: 'none', default_price_tax_rate: 25 }, { tax_type: 'vat' }),
  'tax.rate_range': columns({ default_price_tax_rate: 101 }, { default_price_tax_rate: 25 }),
  'tax.deposit_rate_set': {
    breaks: async ({ place, change }) => {
      await change({ tax_type: 'vat', default_deposit_tax_rate: 0 })
      await seedProduct(place, { deposit_minor: 100 })
    },
    body: { default_deposit_tax_rate: 25 },
  },
  'products.any': {
    breaks: () => Promise.resolve(),
    body: async (_, { owner }) => ({ ...owner, name: 'Day ticket' }),
  },
  'products.any_published': product({ is_draft: true }, { is_draft: false }),
  'products.price_present': product({ price_minor: null }, { price: 0 }),
  'products.category_assigned': product({}, async (_: RelatedObject, { owner }: Scene) => ({
    category_id: await create('/v1/categories', { ...owner, name: 'Tickets' }),
  })),
  'products.variant_complete': product({ is_variant_required: true }, { variants: [{ name: 'Adult' }] }),
  'fulfilment.pickup_points': product({ is_pickup_required: true }, async (_: RelatedObject, { owner }: Scene) => ({
    ...owner,
    name: 'North gate',
  })),
  'fulfilment.pass_design': product({ is_wallet_enabled: true }, async ({ id }: RelatedObject, { owner }: Scene) => ({
    ...owner,
    product_id: id,
    name: 'Dark',
  })),
  'communication.receipt_email': message('receipt', 'transaction_receipt_email_id'),
  'communication.refund_email': message('refund_confirmation', 'refund_confirmation_email_id'),
  'communication.templates_not_empty': {
    breaks: async ({ place, change }) =>
      change({ transaction_receipt_email_id: await seedMessage(place, { type: 'receipt', blocks: [], subject: {} }) }),
    body: { subject: texts, blocks: [aBlock('Hello')] },
  },
  'communication.sender': columns(
    { email_sender_name: null },
    { email_sender_name: 'Nordlys', email_sender_address: 'hello@example.dk' },
  ),
  'communication.sender_domain': {
    breaks: ({ change }) => change({ email_sender_address: 'hello@nordlys-fixes.example' }),
    body: { domain: 'nordlys-fixes.example' },
    follow: async (_, { body }) => {
      await setTexts(body.records[0].name, [body.records[0].value])
      const verifyPath = `/v1/organizations/${body.organization_id}/sender-domains/${body.id}/verify`
      expect((await post(verifyPath, {})).body.status).toBe('verified')
    },
  },
  'communication.sender_name': columns({ email_sender_name: 'a@example.dk' }, { email_sender_name: 'Nordlys' }),
  'communication.reply_to': columns({ email_reply_to: null }, { email_reply_to: 'reply@example.dk' }),
  'communication.sms_sender': {
    breaks: async ({ place, change, owner }) => {
      await change({ sms_sender_name: 'Unset' })
      const segment = await seedSegment(place, { communication_channel: 'sms' })
      await create('/v1/campaigns', {
        ...owner,
        segment_id: segment.id,
        channel: 'sms',
        name: 'Early birds',
        sms_body_translations: { en: 'Hello' },
      })
    },
    body: { sms_sender_name: 'Platform' },
  },
  'consents.terms': {
    breaks: () => Promise.resolve(),
    body: async (_, { owner }) => aConsent(owner.organization_id, { ...owner, type: 'terms' }),
  },
  'consents.marketing': {
    breaks: ({ place }) => seedSegment(place, { communication_type: 'marketing' }),
    body: async (_, { owner }) => aConsent(owner.organization_id, { ...owner, type: 'marketing' }),
  },
  'consents.translated': {
    breaks: async ({ owner, change }) => {
      await change({ enabled_languages: ['en', 'nl'] })
      await givenConsent(owner.organization_id, { edition_id: owner.edition_id })
    },
    body: { text: { en: 'Write to me.', nl: 'Schrijf mij.' } },
  },
  'branding.meta_image': columns({ meta_image_id: null }, async (_: RelatedObject, { owner }: Scene) => ({
    meta_image_id: (await uploadRaw(owner.organization_id, makeFreshPng())).body.id,
  })),
  'integrations.webhooks_healthy': {
    breaks: async ({ place }) => {
      const { id } = await seedEndpoint(place)
      const at = Date.now()
      await seedDeliveries(place, id, 2, { status: 'exhausted', last_attempt_at: at, created_at: at })
    },
    body: { since: new Date(Date.now() - dayMs).toISOString() },
  },
  'integrations.webhooks_answer': {
    breaks: ({ place }) =>
      seedEndpoint(place, { failing_since: Date.now(), failing_reason: 'The endpoint answers 500.' }),
    body: { url: 'https://other.example.com/hook' },
  },
  'integrations.webhooks_inactive': {
    breaks: ({ place }) => seedEndpoint(place, { is_active: false, disabled_reason: 'failing' }),
    body: { is_active: true },
  },
  'imports.unfinished': {
    breaks: async ({ place }) => {
      const [id] = await seedDataImports(place, 1)
      await write(
        sql`update data_imports set source = 'csv', status = 'mapping_columns', phase = null, modified_at = 1 where id = ${id}`,
      )
    },
    body: {},
  },
}

/** Checks that no request of a client turns green, with the reason. */
const exceptions: Readonly<Record<string, string>> = {
  'basics.event_linked': 'An edition keeps its event. No request can break the link, and a duplicate has another one.',
  'payments.refunds_settled': 'A person compares the refund with the provider, which may have paid it or not.',
  'payments.refunds_proceed': 'The refund waits for its provider and is attempted again by itself.',
  'fulfilment.passes_updated': 'The pass waits for its platform and is updated by itself.',
  'communication.email_provider': 'The operator configures the provider.',
  'communication.sms_provider': 'The operator configures the provider.',
  'communication.email_accepted': 'The e-mails wait for their provider and are sent by themselves.',
  'communication.sms_accepted': 'The text messages wait for their provider and are sent by themselves.',
  'branding.slug': 'Links contain the slug, so an edition keeps it. A duplicate can have another one.',
}

interface PresentedCheck {
  check_id: string
  passed: boolean
  related_objects: RelatedObject[]
}

async function readCheck({ place }: Scene, id: string): Promise<PresentedCheck> {
  const { body } = await get(`/v1/editions/${place.edition}/healthcheck`)
  return body.checks.find(({ check_id }: PresentedCheck) => check_id === id)
}

/** Finds the operation that a related object names. Its path has to match. */
function findOperation({ operation: id, path }: RelatedObject): Operation {
  const operation = (operations as readonly Operation[]).find((one) => one.id === id)
  expect(operation, `${id}`).toBeDefined()
  const pattern = operation?.path.replaceAll(/\{\w+\}/g, '[^/]+')
  expect(path).toMatch(new RegExp(`^${pattern}$`))
  return operation as Operation
}

describe('the related objects of a failed check', () => {
  it('are walked or excepted for every check', () => {
    expect([...Object.keys(walks), ...Object.keys(exceptions)].toSorted()).toEqual(
      checks.map(({ id }) => id).toSorted(),
    )
  })

  it.each(Object.keys(walks))('of %s lead to the operation that turns it green', async (id) => {
    const scene = await seedScene()
    const { breaks, body, follow } = walks[id] as Walk
    await breaks(scene)
    const failure = await readCheck(scene, id)
    expect(failure.passed).toBe(false)
    expect(failure.related_objects.length).toBeGreaterThan(0)
    for (const object of failure.related_objects) {
      const { method, status } = findOperation(object)
      const query = method === 'get' ? `?edition_id=${scene.place.edition}` : ''
      const content = typeof body === 'function' ? await body(object, scene) : body
      const reply = await call(`${object.path}${object.operation === 'listRefundBatches' ? '' : query}`, {
        method: method.toUpperCase(),
        ...(method === 'get' ? {} : { body: content }),
      })
      expect([object.path, reply.status, reply.text]).toEqual([object.path, status, reply.text])
      await follow?.(scene, reply)
    }
    expect(await readCheck(scene, id)).toMatchObject({ check_id: id, passed: true, related_objects: [] })
  })

  it('of the slug lead to a duplicate, whose check is green', async () => {
    const scene = await seedScene()
    await scene.change({ name: '2026', full_name: 'Nordlys 2026', slug: 'nordlys-2026-2' })
    const { related_objects } = await readCheck(scene, 'branding.slug')
    expect(related_objects).toMatchObject([{ type: 'edition', operation: 'duplicateEdition' }])
    const { body } = await post(related_objects[0]?.path ?? '', { name: '2026', slug: 'nordlys' })
    const copy = await readCheck({ ...scene, place: { ...scene.place, edition: body.id } }, 'branding.slug')
    expect(copy.passed).toBe(true)
  })
})
