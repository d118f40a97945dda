import { beforeAll, describe, expect, it } from 'vitest'
import { type RoleCode, roleCodes } from '../../../src/domain/accounts/access.ts'
import type { Operation } from '../../../src/http/operations/operation.ts'
import { listChangesSoFar, countChanges } from '../../support/changes.ts'
import { implemented, lists, replaceId, send, sharedSample } from '../../support/operations.ts'
import { isIn, makerOf } from '../../support/resources.ts'
import { makeOnce, type Sample } from '../../support/samples/sample.ts'
import { type IdField, listIdFields } from '../../support/schema.ts'
import { seedMember } from '../../support/seeding/members.ts'
import { unknownId, type WidePlace } from '../../support/seeding/rows.ts'
import { seedProduct } from '../../support/seeding/sales/trades.ts'
import { buildWorld, type Person, seedPerson, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
  await countChanges()
})

/** Fields that end in `_id` and name no resource. */
const foreignKeys: Readonly<Record<string, string>> = {
  'importExternalOrders orders.0.external_id': 'The shop chooses it.',
  'exportOrders external_id': 'The shop chose it.',
  'listOrders external_id': 'The shop chose it.',
  'createSession request_id': 'It is worth nothing without its code, and every other id is refused alike.',
  'updateEdition merchant_id': 'It is an object that a provider of payments reads.',
}

/** Fields that take only some resources of a place, so that a new resource of the place is answered as missing. */
const narrow: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['giveConsent', 'skipConsent', 'withdrawConsent'].map((id) => [`${id} order_id`, 'The order is the customer’s.']),
  ),
  'updateColumnMappings mappings.0.id': 'The column is one of the import.',
  ...Object.fromEntries(
    ['createProduct', 'updateProduct'].flatMap((id) =>
      ['variants', 'options'].map((field) => [`${id} ${field}.0.id`, 'It is one of the product.']),
    ),
  ),
  'updateProductMappings mappings.0.id': 'The product is one of the import.',
  'updateProductMappings mappings.0.option_ids.0': 'The option is one of the product beside it.',
  'updateProductMappings mappings.0.variant_id': 'The variant is one of the product beside it.',
}

/** Resources of the organisation that edition roles may use although none of their lists shows them. */
const usableChoices: Readonly<Record<string, string>> = {
  eml: 'Roles of an edition read the templates of their organisation.',
  fee: '`getEditionMeta` answers the fee rules to roles of an edition.',
  mac: '`getEditionMeta` answers the merchant accounts to roles of an edition.',
}

/** Fields that say where an operation acts. A caller with another role there learns which roles may call. */
const targets = ['organization_id', 'edition_id']
const isTarget = ({ id, method }: Operation, { name }: IdField): boolean =>
  method !== 'get' && (targets.includes(name) || id === 'createRefundRequest')

/** Tells whether a caller with another role at the target learns which roles may call. */
function isTold(operation: Operation, field: IdField, reply: { status: number; text: string }): boolean {
  if (!isTarget(operation, field) || reply.status !== 403) return false
  expect(JSON.parse(reply.text)).toMatchObject({ code: 'permission_denied', required_roles: operation.roles })
  return true
}

type SampleChange = (sample: Sample, id: unknown) => Promise<Sample> | Sample

const withBody =
  (body: (id: unknown) => Record<string, unknown>): SampleChange =>
  (sample, id) => ({
    ...sample,
    body: body(id),
  })
const imageBlock = (file_id: unknown) => ({ id: 'blk_1', type: 'image', data: { file_id, alt: { en: 'Poster' } } })
const inColumn = (file_id: unknown) => ({
  id: 'blk_2',
  type: 'columns',
  data: { columns: [{ blocks: [imageBlock(file_id)] }, { blocks: [] }] },
})
const showing = (block: (id: unknown) => object, more: object = {}) =>
  withBody((id) => ({ ...more, blocks: [block(id)] }))
const ownProduct = makeOnce(({ a }) => seedProduct({ organization: a.id, edition: a.editions[0].id }))
const mapping = (field: string) => async (sample: Sample, id: unknown) => {
  const { mappings } = sample.body as { mappings: { id: string }[] }
  const change = { ...mappings[0], action: 'map', product_id: await ownProduct(world), [field]: id }
  return { ...sample, body: { mappings: [change] } }
}

/** The shared sample of a new product has a name that is taken once it was sent. */
const product =
  (fields: (id: unknown) => object): SampleChange =>
  ({ body: { organization_id, edition_id } = {}, ...sample }, id) => {
    const place = organization_id === undefined ? {} : { organization_id, edition_id }
    return { ...sample, body: { ...place, name: `Product ${crypto.randomUUID()}`, ...fields(id) } }
  }

const productBodies = Object.fromEntries(
  ['createProduct', 'updateProduct'].flatMap((operation) => [
    [`${operation} category_id`, product((category_id) => ({ category_id }))],
    [`${operation} image_ids.0`, product((id) => ({ image_ids: [id] }))],
    [`${operation} variants.0.id`, product((id) => ({ variants: [{ id, name: 'Adult' }] }))],
    [`${operation} options.0.id`, product((id) => ({ options: [{ id, name: 'Parking' }] }))],
  ]),
)

/** Bodies around ids that are not in a sample. */
const around: Readonly<Record<string, SampleChange>> = {
  ...productBodies,
  'createRefundRequest purchase_id': withBody((purchase_id) => ({ purchase_id, reason: 'customer_request' })),
  'createRefundRequest transaction_id': withBody((transaction_id) => ({ transaction_id, reason: 'customer_request' })),
  'previewEmailMessage blocks.0.data.file_id': showing(imageBlock, { mode: 'html' }),
  'previewEmailMessage blocks.0.data.columns.0.blocks.0.data.file_id': showing(inColumn, { mode: 'html' }),
  'updateEmailMessage blocks.0.data.file_id': showing(imageBlock),
  'updateEmailMessage blocks.0.data.columns.0.blocks.0.data.file_id': showing(inColumn),
  'updateProductMappings mappings.0.product_id': mapping('product_id'),
  'updateProductMappings mappings.0.location_id': mapping('location_id'),
  'updateProductMappings mappings.0.variant_id': mapping('variant_id'),
  'updateProductMappings mappings.0.option_ids.0': (sample, id) => mapping('option_ids')(sample, [id]),
}

/** Returns a sample that names the id in the field. */
async function naming(operation: Operation, field: IdField, sample: Sample, id: unknown): Promise<Sample> {
  const special = around[`${operation.id} ${field.name}`]
  return special ? special(sample, id) : replaceId(sample, field.in, field.name, id)
}

interface Case {
  /** A caller, and the place of the id that this caller may not name. */
  title: string
  caller: Person
  place: WidePlace
  /** The caller has a role there that the operation does not take. */
  isElsewhere: boolean
}

const isWide = (role: RoleCode): boolean => role.startsWith('O')
const memberRole = { A: 'admin', M: 'manager', V: 'viewer' } as const
const people = new Map<string, Promise<Person>>()

/** A person with one role in organisation A or its first edition, and perhaps a role elsewhere. */
function seedPersonWith(role: RoleCode, other?: RoleCode, place?: WidePlace): Promise<Person> {
  const seed = async () => {
    const person = await seedPerson(role, world.a)
    if (other && place)
      await seedMember(person.account, {
        organization: place.organization,
        edition: isWide(other) ? undefined : (place.edition ?? undefined),
        role: memberRole[other.charAt(1) as keyof typeof memberRole],
      })
    return person
  }
  const key = [role, other, place?.organization, place?.edition].join(' ')
  const person = people.get(key) ?? seed()
  people.set(key, person)
  return person
}

/** Callers who may call the operation in A, with the places whose ids they may not name. */
async function listCases({ roles }: Operation): Promise<Case[]> {
  const { a, b } = world
  const organizationPlace = { organization: a.id, edition: null }
  const sibling = { organization: a.id, edition: a.editions[1].id }
  const foreign = [
    { organization: b.id, edition: b.editions[0].id },
    { organization: b.id, edition: null },
  ]
  const closed = roleCodes.filter((role) => !roles.includes(role))
  const cases: Case[] = []
  const add = async (role: RoleCode, places: WidePlace[], other?: RoleCode) => {
    for (const place of places) {
      if (other && !isWide(other) && place.edition === null) continue
      const at = place.organization === b.id ? 'B' : 'A'
      const title = `${role}${other ? ` and ${other} there` : ''}: ${at}${place.edition === null ? '' : ', an edition'}`
      cases.push({ title, caller: await seedPersonWith(role, other, place), place, isElsewhere: other !== undefined })
    }
  }
  const ofOrganization = roles.find(isWide)
  const ofEdition = roles.find((role) => !isWide(role))
  if (ofOrganization) await add(ofOrganization, foreign)
  if (ofEdition) await add(ofEdition, [sibling, organizationPlace, ...foreign])
  for (const other of closed) {
    if (ofOrganization) await add(ofOrganization, foreign, other)
    if (ofEdition) await add(ofEdition, [sibling, organizationPlace, ...foreign], other)
  }
  return cases
}

const fixed = { 'x-request-id': 'fixed' }

async function answer(operation: Operation, sample: Sample, caller: Person) {
  const reply = await send(operation, sample, { token: caller.token, headers: fixed })
  return { status: reply.status, text: reply.text, etag: reply.headers.get('etag'), link: reply.headers.get('link') }
}

const buildKey = (operation: Operation, field: IdField) => `${operation.id} ${field.name}`

const resources = new Map<string, Promise<string>>()

/** Makes the resource of a place that a field may name, once. */
function findResource(operation: Operation, field: IdField, place: WidePlace): Promise<string> | null {
  const maker = makerOf(operation.id, field)
  if (!maker || !isIn(maker, place)) return null
  const key = [buildKey(operation, field), place.organization, place.edition].join(' ')
  const id = resources.get(key) ?? maker.make(place)
  resources.set(key, id)
  return id
}

const fields = implemented.flatMap((operation) =>
  listIdFields(operation)
    .filter((field) => !(buildKey(operation, field) in foreignKeys))
    .map((field) => [buildKey(operation, field), operation, field] as const),
)

const buildPointer = ({ name }: IdField) => `#/${name.replaceAll('.', '/')}`

const isMissing = (text: string, field: IdField): boolean =>
  ((JSON.parse(text) as { errors?: { code: string; attr: string; pointer: string | null }[] }).errors ?? []).some(
    (one) =>
      one.code === 'does_not_exist' &&
      (field.in === 'body' ? one.pointer === buildPointer(field) : one.attr === field.name),
  )

it('every id in an answer says which kind of resource it names', () => {
  const unsaid = fields.flatMap(([key, operation, field]) => (makerOf(operation.id, field) ? [] : [key]))
  expect(unsaid, 'say which kind of resource this is, in test/support/resources.ts').toEqual([])
  const fieldKeys = implemented.flatMap((operation) =>
    listIdFields(operation).map((field) => buildKey(operation, field)),
  )
  for (const key of [...Object.keys(foreignKeys), ...Object.keys(narrow), ...Object.keys(around)])
    expect(fieldKeys).toContain(key)
})

/** A file without rows is an export, too, and is recorded. */
async function listChanges({ file }: Operation): Promise<Record<string, number>> {
  const { audit_log = 0, ...changes } = await listChangesSoFar()
  return file ? changes : { ...changes, audit_log }
}

describe.each(fields)('%s', (key, operation, field) => {
  it('answers for every id that the caller may not use as for an id that does not exist', async () => {
    for (const { title, caller, place, isElsewhere } of await listCases(operation)) {
      const id = await findResource(operation, field, place)
      const isOwn = field.prefix === 'org' && place.organization === world.a.id
      const isChoice = (field.prefix ?? '') in usableChoices && place.organization === world.a.id
      if (id === null || isOwn || (isChoice && place.edition === null)) continue
      const sample = await sharedSample(operation, world, caller)
      const bases = operation.method === 'get' ? [sample, { ...sample, query: {} }] : [sample]
      for (const base of bases) {
        const [asUnknown, asHidden] = [
          await naming(operation, field, base, unknownId(id)),
          await naming(operation, field, base, id),
        ]
        const before = await listChanges(operation)
        const unknown = await answer(operation, asUnknown, caller)
        const hidden = await answer(operation, asHidden, caller)
        expect([title, await listChanges(operation)]).toEqual([title, before])
        if (isElsewhere && isTold(operation, field, hidden)) continue
        expect([title, hidden]).toEqual([title, unknown])
        if (operation.method !== 'get')
          expect([title, unknown.text, isMissing(unknown.text, field)]).toEqual([title, unknown.text, true])
      }
    }
  })

  it.runIf(operation.method !== 'get' && !(key in narrow))(
    'does not refuse ids of the caller’s own place',
    async () => {
      const { id, editions } = world.a
      const place = { organization: id, edition: editions[0].id }
      const ownId =
        (await findResource(operation, field, place)) ??
        (await findResource(operation, field, { ...place, edition: null }))
      const caller = await seedPersonWith(operation.roles[0] ?? 'OA')
      const reply = await answer(
        operation,
        await naming(operation, field, await sharedSample(operation, world, caller), ownId),
        caller,
      )
      expect([reply.text, isMissing(reply.text, field)]).toEqual([reply.text, false])
    },
  )
})

describe.each(lists.filter(({ roles }) => roles.length > 0))('$id', (operation) => {
  const closed = roleCodes.filter((role) => !operation.roles.includes(role))

  it.runIf(closed.length > 0)('hides places where the caller has only another role', async () => {
    for (const { title, caller, place, isElsewhere } of await listCases(operation)) {
      if (!isElsewhere) continue
      const alone = await seedPersonWith(caller.who as RoleCode)
      const sample = await sharedSample(operation, world, alone)
      const inPlace = { organization_id: place.organization, ...(place.edition ? { edition_id: place.edition } : {}) }
      const queries = [sample.query ?? {}, {}, ...Object.entries(inPlace).map(([name, value]) => ({ [name]: value }))]
      for (const query of queries) {
        const request = { ...sample, query }
        const both = await answer(operation, request, caller)
        expect([title, query, both]).toEqual([title, query, await answer(operation, request, alone)])
      }
    }
  })

  it.runIf(closed.length > 0 && !operation.path.includes('{'))(
    'has rows there for callers who may see them',
    async () => {
      const query = { organization_id: world.b.id }
      const reply = await send(operation, { query }, { token: world.people.root.token })
      expect(reply.body.count).toBeGreaterThan(0)
    },
  )
})
