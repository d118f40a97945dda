import { beforeAll, describe, expect, it } from 'vitest'
import type { Operation } from '../../src/http/operations/operation.ts'
import { idsOf, readAs, walkAs } from '../support/lists.ts'
import { callerOf, implemented, lists, make, pathOf, replaced, sampleOf, send } from '../support/operations.ts'
import { orderingsOf } from '../support/schema.ts'
import { buildWorld, type Person, type World } from '../support/world.ts'

/** Names in the order of lists. */
const names = ['Æble', 'alfa', 'Århus', 'hall 9', 'Hall 009b', 'Hall 10', 'Øst', 'Zulu 1']

/** The sort key of each list with names, and the operations that write the name. */
const named: Record<string, { key: string; create: string; update?: string }> = {
  listAccessTokens: { key: 'name', create: 'createAccessToken' },
  listCampaigns: { key: 'name', create: 'createCampaign', update: 'updateCampaign' },
  listConsents: { key: 'name', create: 'createConsent', update: 'updateConsent' },
  listDataImports: { key: 'name', create: 'createDataImport', update: 'updateDataImport' },
  listEditions: { key: 'name', create: 'createEdition', update: 'updateEdition' },
  listEmailMessages: { key: 'title', create: 'createEmailMessage', update: 'updateEmailMessage' },
  listEvents: { key: 'name', create: 'createEvent' },
  listFiles: { key: 'name', create: 'uploadFile', update: 'updateFile' },
  listMerchantAccounts: { key: 'name', create: 'createMerchantAccount', update: 'updateMerchantAccount' },
  listOrganizations: { key: 'name', create: 'createOrganization', update: 'updateOrganization' },
  listSegments: { key: 'name', create: 'createSegment', update: 'updateSegment' },
  listUserConsents: { key: 'name', create: 'createConsent', update: 'updateConsent' },
  listWebhooks: { key: 'name', create: 'createWebhook', update: 'updateWebhook' },
}

/** The products of an import have their own test, and deliveries are sorted by the kind of their event. */
const others = ['listProductMappings', 'listWebhookDeliveries']

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
  const first = isFile ? sample : replaced({ ...sample, body }, 'body', key, isRenamed ? 'Middle' : name)
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
    const caller = callerOf(operationOf(create), world)
    const ids: string[] = []
    for (const [index, name] of names.entries())
      ids.push(await createNamed(list, name, update !== undefined && index % 2 === 1, caller))
    const operation = operationOf(list)
    const sample = await make(operation, world, caller)
    const pathWith = (ordering: string, page_size: string) =>
      pathOf(operation, { ...sample, query: { ...sample.query, ordering, page_size } })
    const { body } = await readAs(caller.token, pathWith(key, '500'))
    const rows = (body.results as Record<string, string>[]).filter(({ id = '' }) => ids.includes(id))
    // A file has the extension of its type.
    expect(rows.map((row) => row[key]?.replace(/\.png$/, ''))).toEqual(names)
    const down = await readAs(caller.token, pathWith(`-${key}`, '500'))
    expect(idsOf(down).filter((id) => ids.includes(id))).toEqual(ids.toReversed())
    const walked = await walkAs(caller.token, pathWith(key, '3'))
    expect(walked.ids).toEqual(idsOf({ ...down, body }))
  })
})

it('covers every list that is sorted by names', () => {
  const sorted = lists.filter((operation) =>
    orderingsOf(operation).some((key) => ['name', 'title', 'product'].includes(key)),
  )
  expect(sorted.map(({ id }) => id).toSorted()).toEqual([...Object.keys(named), ...others].toSorted())
  expect(sorted.every((operation) => sampleOf(operation))).toBe(true)
})
