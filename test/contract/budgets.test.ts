import { beforeAll, describe, expect, it } from 'vitest'
import type { Operation } from '../../src/http/operations/operation.ts'
import { costOf } from '../support/cost.ts'
import { operationCosts, withAuditEntry } from '../support/costs/operations.ts'
import { callerOf, implemented, lists, make, sampleOf, send } from '../support/operations.ts'
import { orderingsOf } from '../support/schema.ts'
import { buildWorld, type World } from '../support/world.ts'

/**
 * Rows read for each further row of a list: 1 is the count alone. More where the count looks at a second table, and
 * for orders without an index, which are few rows by nature.
 */
const growth: Record<string, Record<string, number>> = {
  // Counted where they are written.
  listUsers: Object.fromEntries(['', 'email', 'phone_number', 'date_joined', 'last_seen'].map((name) => [name, 0])),
  listPurchases: { '': 0, created: 0 },
  listRefundRequests: Object.fromEntries(
    ['', 'created', 'modified', 'requested_amount', 'status'].map((name) => [name, 0]),
  ),
  // The rows are memberships of the caller, whom the look-up reads too.
  listOrganizations: { '': 8, created: 8, modified: 8, name: 8 },
  // Few rows: the tokens of a person.
  listAccessTokens: { name: 3 },
  // Few rows: the people who work for an organisation.
  listOrganizationMembers: { role: 3 },
  // Few rows: a person starts each batch of an edition.
  listRefundBatches: { modified: 3 },
  // Few rows: the editions of an organisation.
  listEditions: { modified: 3, start_date: 3, end_date: 3, name: 3 },
  // Few rows: a person writes each campaign.
  listCampaigns: { modified: 3, name: 3, scheduled_at: 3, total_recipients: 3 },
  // Few rows: the endpoints of an organisation.
  listWebhooks: { '': 3, created: 3, modified: 3, name: 3 },
  // Those of the five minutes before the page.
  listWebhookDeliveries: { modified: 3 },
  // Few rows: the definitions of an organisation.
  listConsents: { modified: 3, name: 3, position: 3 },
  listUserConsents: { '': 3, position: 3, name: 3 },
  // Few rows: an organisation has at most a hundred.
  listMerchantAccounts: { modified: 3, name: 3 },
  // Few rows: the segments of an organisation.
  listSegments: { modified: 3, name: 3, user_count: 3, calculated_at: 3 },
  // Few rows: the imports of an organisation.
  listDataImports: { modified: 3, name: 3, status: 3 },
  // All columns decide whether a mapping is whole; a file has at most 200.
  listColumnMappings: { '': 2, source_index: 2 },
  // Few rows: the products that a file names.
  listProductMappings: { rows_count: 3, product: 3 },
  // It decides on the first thousand orders for its totals.
  previewImportOrders: { '': 220, row: 220 },
  // Few rows: the messages of an edition.
  listEmailMessages: { modified: 3, title: 3 },
}

/** Reads that look at more than a resource and its neighbours, in one batch. */
const handful: Record<string, number> = {
  // The order, its items, its purchases and its transactions: one round trip.
  getOrder: 5,
  getEditionHealthcheck: 8,
  getConsentProof: 4,
  listColumnMappings: 7,
  previewImportOrders: 18,
  listImportRows: 5,
  // Of an edition: heads of runs, rows that changed since and the count, before the page.
  listUsers: 7,
}

let world: World
beforeAll(async () => {
  world = await buildWorld()
})

it('exist for exactly the existing operations', () => {
  const ids = implemented.map(({ id }) => id)
  expect(ids.filter((id) => !operationCosts[id])).toEqual([])
  expect(Object.keys(operationCosts).filter((id) => !ids.includes(id))).toEqual([])
})

describe.each(implemented.map((operation) => [operation.id, operation] as const))('%s', (id, operation) => {
  it('costs no more than its budget', async () => {
    const caller = callerOf(operation, world)
    const reply = await send(operation, await make(operation, world, caller), { token: caller.token })
    expect(reply.status).toBe(operation.status)
    const cost = costOf(reply)
    const budget = withAuditEntry(operation)
    for (const key of ['queries', 'rows_read', 'rows_written'] as const)
      expect([key, cost[key]]).toEqual([key, Math.min(cost[key], budget[key])])
  })

  it.runIf(operation.method === 'get' && operation.file === null)('reads in a handful of statements', () => {
    const parent = lists.includes(operation) && operation.path.includes('{') ? 1 : 0
    expect(operationCosts[id]?.queries).toBeLessThanOrEqual(handful[id] ?? 3 + parent)
    expect(operationCosts[id]?.rows_written).toBe(0)
  })
})

const extra = 200
const sized = (operation: Operation) => 'page_size' in ((operation.query as unknown as { shape: object }).shape ?? {})

async function firstPage(operation: Operation, ordering: string): Promise<number> {
  const sample = await make(operation, world, world.people.OA)
  const query = { ...sample.query, ...(ordering ? { ordering } : {}), ...(sized(operation) ? { page_size: '3' } : {}) }
  const reply = await send(operation, { ...sample, query }, { token: world.people.OA.token })
  expect(reply.status).toBe(200)
  return costOf(reply).rows_read
}

describe.each(lists.map((operation) => [operation.id, operation] as const))('%s', (id, operation) => {
  it('reads no more rows for its first page in a long list', async () => {
    const { fill } = sampleOf(operation)
    if (!fill) throw new Error(`the sample of ${id} fills no list`)
    const orderings = ['', ...orderingsOf(operation).flatMap((key) => [key, `-${key}`])]
    // Full pages before and after, so that they differ in the number of rows beyond them alone.
    await fill(world, sized(operation) ? 4 : 101)
    const before: Record<string, number> = {}
    for (const ordering of orderings) before[ordering] = await firstPage(operation, ordering)
    await fill(world, extra)
    for (const ordering of orderings) {
      const grown = (await firstPage(operation, ordering)) - (before[ordering] ?? 0)
      const allowed = (growth[id]?.[ordering.replace('-', '')] ?? 1) * extra + 2
      expect([ordering, Math.max(grown, allowed)]).toEqual([ordering, allowed])
    }
  })
})
