import { options, variants } from '../../src/db/schema/catalog.ts'
import { insert } from '../../src/db/write.ts'
import type { IdField } from './schema.ts'
import { seedCategory, seedFeeRule, seedLocation, seedPassDesign } from './seeding/catalogue.ts'
import { seedFile } from './seeding/files.ts'
import { seedImport, seedImportColumns, seedImportProducts, seedTable } from './seeding/imports/data-imports.ts'
import { seedAccount, seedMember } from './seeding/members.ts'
import { seedConsent } from './seeding/messaging/consents.ts'
import { seedMessage, seedReceiptMessage } from './seeding/messaging/email-messages.ts'
import { seedSegment } from './seeding/messaging/segments.ts'
import { givenEvent } from './seeding/organizations.ts'
import { freshId, next, type Place, seededAt, type WidePlace, write } from './seeding/rows.ts'
import { seedMerchantAccount } from './seeding/sales/merchant-accounts.ts'
import { seedRefundBatches } from './seeding/sales/refund-batches.ts'
import { seedProduct, seedTrade } from './seeding/sales/trades.ts'
import { seedEndpoint } from './seeding/webhooks.ts'

/** Makes a resource and returns its id. */
interface Maker<Where> {
  /** The owner of such a resource: an edition, an organisation, or both. */
  of: 'edition' | 'organization' | 'both'
  make: (place: Where) => Promise<string>
}

const ofEdition = (make: (place: Place) => Promise<string>): Maker<Place> => ({ of: 'edition', make })
const ofOrganization = (make: (organization: { id: string }) => Promise<string>): Maker<WidePlace> => ({
  of: 'organization',
  make: ({ organization }) => make({ id: organization }),
})
const ofBoth = (make: (place: WidePlace) => Promise<string>): Maker<WidePlace> => ({ of: 'both', make })

const named = (name: string) => ({ name, name_folded: name.toLowerCase(), created_at: seededAt })

async function seedVariant(place: Place): Promise<string> {
  const row = { id: freshId('variant'), product_id: await seedProduct(place), ...named(`Large ${next()}`) }
  await write(insert(variants, row))
  return row.id
}

async function seedOption(place: Place): Promise<string> {
  const row = { id: freshId('option'), product_id: await seedProduct(place), ...named(`Linen ${next()}`) }
  await write(insert(options, row))
  return row.id
}

const image = ofBoth((place) => seedFile(place))
const order = ofEdition(async (place) => (await seedTrade(place)).order)
const table = ofBoth((place) => seedTable(place))

/** Makers by the prefix of their ids. */
const makers: Readonly<Record<string, Maker<Place> | Maker<WidePlace>>> = {
  cat: ofEdition((place) => seedCategory(place)),
  con: ofBoth((place) => seedConsent(place)),
  edt: ofEdition(async ({ edition }) => edition),
  eml: ofBoth((place) => seedMessage(place)),
  evt: ofOrganization(async (organization) => (await givenEvent(organization)).id),
  fee: ofOrganization((organization) => seedFeeRule(organization)),
  fil: image,
  imc: ofEdition(async (place) => (await seedImportColumns(await seedImport(place), 1))[0] ?? ''),
  imd: ofEdition(async (place) => (await seedImportProducts(await seedImport(place), 1))[0] ?? ''),
  imp: ofEdition((place) => seedImport(place)),
  loc: ofEdition((place) => seedLocation(place)),
  mac: ofOrganization((organization) => seedMerchantAccount(organization)),
  mem: ofOrganization(async ({ id }) => seedMember(await seedAccount(), { organization: id, role: 'viewer' })),
  opt: ofEdition(seedOption),
  ord: order,
  org: ofOrganization(async ({ id }) => id),
  psd: ofEdition((place) => seedPassDesign(place)),
  prd: ofEdition((place) => seedProduct(place)),
  pur: ofEdition(async (place) => (await seedTrade(place)).purchase),
  rfb: ofEdition(async (place) => (await seedRefundBatches(place, 1))[0] ?? ''),
  seg: ofBoth(async (place) => (await seedSegment(place)).id),
  trx: ofEdition(async (place) => (await seedTrade(place)).transaction),
  usr: ofEdition(async (place) => (await seedTrade(place)).user),
  var: ofEdition(seedVariant),
  whk: ofBoth(async (place) => (await seedEndpoint(place)).id),
}

const receipt = (type: 'receipt' | 'refund_confirmation') =>
  ofBoth(({ organization, edition }) => seedReceiptMessage({ id: organization }, { type, edition_id: edition }))

const accountOfMember = ofOrganization(async ({ id }) => {
  const account = await seedAccount()
  await seedMember(account, { organization: id, role: 'viewer' })
  return account
})

/** Fields that take only some resources of their prefix, or whose prefix the document does not state. */
const makersOfFields: Readonly<Record<string, Maker<Place> | Maker<WidePlace>>> = {
  'createDataImport file_id': table,
  'listAuditLog actor_id': accountOfMember,
  'listAuditLog resource_id': ofEdition(async ({ edition }) => edition),
  'listOrganizationMembers account_id': accountOfMember,
  'listOrganizationWebhookDeliveries resource_id': order,
  'listWebhookDeliveries resource_id': order,
  'listWebhookEvents resource_id': order,
  'streamWebhookEvents resource_id': order,
  'updateDataImport file_id': table,
  'updateEdition refund_confirmation_email_id': receipt('refund_confirmation'),
  'updateEdition transaction_receipt_email_id': receipt('receipt'),
}

/** Finds the maker of what a field of an operation may name, or undefined when none is known. */
export const makerOf = (operation: string, { name, prefix }: IdField): Maker<WidePlace> | undefined =>
  // The maker of an edition's resource gets an edition, which `isIn` checks.
  (makersOfFields[`${operation} ${name}`] ?? makers[prefix ?? '']) as Maker<WidePlace> | undefined

/** Tells whether such resources exist in an edition, or in an organisation beside its editions. */
export const isIn = (maker: Maker<WidePlace>, { edition }: WidePlace): boolean =>
  maker.of === 'both' || (maker.of === 'edition') === (edition !== null)
