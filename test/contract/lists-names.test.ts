import { beforeAll, describe, expect, it } from 'vitest'
import type { Operation } from '../../src/http/operations/operation.ts'
import { listIds, readAs, walkAs } from '../support/lists.ts'
import { chooseCaller, implemented, lists, make, buildPath, replaceId, getSample, send } from '../support/operations.ts'
import { listOrderings } from '../support/schema.ts'
import { buildWorld, type Person, type World } from '../support/world.ts'

/** Names in the order of lists. */
const names = ['Æble', 'alfa', 'Århus', 'hall 9', 'Hall 009b', 'Hall 10', 'Øst', 'Zulu 1']

/** The sort key of each list with names, and the operations that write the name. */
const named: Record<string, { key: string; create: string; update?: string }> = {
  listAccessTokens: { key: 'name', create: 'createAccessToken' },
  listCampaigns: { key: 'name', create: 'createCampaign', update: 'updateCampaign' },
  listCategories: { key: 'name', create: 'createCategory', update: 'updateCategory' },
  listConsents: { key: 'name', create: 'createConsent', update: 'updateConsent' },
  listSignupForms: { key: 'name', create: 'createSignupForm', update: 'updateSignupForm' },
  listDataImports: { key: 'name', create: 'createDataImport', update: 'updateDataImport' },
  listEditions: { key: 'name', create: 'createEdition', update: 'updateEdition' },
  listEmailMessages: { key: 'title', create: 'createEmailMessage', update: 'updateEmailMessage' },
  listEvents: { key: 'name', create: 'createEvent', update: 'updateEvent' },
  listFeeRules: { key: 'name', create: 'createFeeRule', update: 'updateFeeRule' },
  listFiles: { key: 'name', create: 'uploadFile', update: 'updateFile' },
  listLocations: { key: 'name', create: 'createLocation', update: 'updateLocation' },
  listMerchantAccounts: { key: 'name', create: 'createMerchantAccount', update: 'updateMerchantAccount' },
  listOrganizations: { key: 'name', create: 'createOrganization', update: 'updateOrganization' },
  listPassDesigns: { key: 'name', create: 'createPassDesign', update: 'updatePassDesign' },
  listProducts: { key: 'name', create: 'createProduct', update: 'updateProduct' },
  listSegments: { key: 'name', create: 'createSegment', update: 'updateSegment' },
  listUserConsents: { key: 'name', create: 'createConsent', update: 'updateConsent' },
  listWebhooks: { key: 'name', create: 'createWebhook', update: 'updateWebhook' },
}

/**
 * The products of an import have their own test, deliveries are sorted by the kind of their event, and the tokens of an
 * organisation like those of a person.
 */
const others = [
  'listOrganizationTokens',
  'listOrganizationWebhookDeliveries',
  'listProductMappings',
  'listWebhookDeliveries',
]

const operationOf = (id: string): Operation => implemented.find((one) => one.id === id) ?? expect.unreachable(id)

let world: World
beforeAll(async () => {
  world = await buildWorld()
})

/** Creates a resource with this name, or gives it the name afterwards. Answers its id. */
async function createNamed(list: string, name: string, isRenamed: boolean, caller: Person): Promise<string> {
  const { key, create, update } = named[list] ?? expect.unreachable()
  const operation = operationOf(create)
  const sample = await make(operation, world, caller)
  // Without a member the token belongs to the caller, whose tokens the list shows.
  const { member_id: _, ...body } = sample.body ?? {}
  const isFile = sample.file !== undefined
  const first = isFile ? sample : replaceId({ ...sample, body }, 'body', key, isRenamed ? 'Middle' : name)
  const made = await send(operation, first, { token: caller.token })
  expect([create, made.status, made.text]).toEqual([create, operation.status, made.text])
  const { id } = made.body
  if (!update || !(isRenamed || isFile)) return id
  const renamed = await send(operationOf(update), { path: { id }, body: { [key]: name } }, { token: caller.token })
  expect([update, renamed.status, renamed.text]).toEqual([update, 200, renamed.text])
  return id
}

describe.each(Object.entries(named))('%s', (list, { key, create, update }) => {
  it('sorts names without case and accents, and with numbers as numbers', async () => {
    const caller = chooseCaller(operationOf(create), world)
    const ids: string[] = []
    for (const [index, name] of names.entries())
      ids.push(await createNamed(list, name, update !== undefined && index % 2 === 1, caller))
    const operation = operationOf(list)
    const sample = await make(operation, world, caller)
    const pathWith = (ordering: string, page_size: string) =>
      buildPath(operation, { ...sample, query: { ...sample.query, ordering, page_size } })
    const { body } = await readAs(caller.token, pathWith(key, '500'))
    const rows = (body.results as Record<string, string>[]).filter(({ id = '' }) => ids.includes(id))
    // A file has the extension of its type.
    expect(rows.map((row) => row[key]?.replace(/\.png$/, ''))).toEqual(names)
    const down = await readAs(caller.token, pathWith(`-${key}`, '500'))
    expect(listIds(down).filter((id) => ids.includes(id))).toEqual(ids.toReversed())
    const walked = await walkAs(caller.token, pathWith(key, '3'))
    expect(walked.ids).toEqual(listIds({ ...down, body }))
  })
})

it('covers every list that is sorted by names', () => {
  const sorted = lists.filter((operation) =>
    listOrderings(operation).some((key) => ['name', 'title', 'product'].includes(key)),
  )
  expect(sorted.map(({ id }) => id).toSorted()).toEqual([...Object.keys(named), ...others].toSorted())
  expect(sorted.every((operation) => getSample(operation))).toBe(true)
})
