import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Operation } from '../../../src/http/operations/operation.ts'
import { listIds, readAs } from '../../support/lists.ts'
import { chooseCaller, lists, make, buildPath, getSample } from '../../support/operations.ts'
import { listOrderings } from '../../support/schema.ts'
import { buildWorld, type World } from '../../support/world.ts'

/** Gives all rows of a list the same times, as an import does. */
const shared = 260

/** The number of rows on the largest page that leaves several pages after the first. */
const pageSize = 52

/** The tables of the lists, and columns beside the times that many rows may share. */
const tied: Record<string, readonly string[]> = {
  access_tokens: [],
  audit_log: [],
  campaigns: [],
  consents: ['position = 1'],
  data_imports: [],
  dead_messages: [],
  editions: [],
  email_messages: [],
  events: [],
  files: [],
  members: [],
  merchant_accounts: [],
  orders: ["number_key = '7'", "order_number = '7'", 'amount_minor = 100', "status = 'completed'", "type = 'imported'"],
  organizations: [],
  products: [],
  purchases: [],
  refund_batches: [],
  refund_requests: ['requested_minor = 100'],
  segments: [],
  sender_domains: [],
  // Members of a family share a number.
  users: ["phone_number = iif(email is null, phone_number, '+4520100100')", 'last_seen_at = 1700000000000'],
  wallet_passes: [],
  webhook_deliveries: [],
  webhook_endpoints: [],
}

let world: World
beforeAll(async () => {
  world = await buildWorld()
})

async function tie(): Promise<void> {
  for (const [table, columns] of Object.entries(tied)) {
    const { results } = await env.DB.prepare(`select name from pragma_table_info('${table}')`).all<{ name: string }>()
    const times = results.flatMap(({ name }) =>
      name === 'created_at' || name === 'modified_at' ? [`${name} = 1700000000000`] : [],
    )
    const changes = [...times, ...columns]
    if (changes.length) await env.DB.prepare(`update ${table} set ${changes.join(', ')}`).run()
  }
}

const hasSize = (operation: Operation): boolean =>
  'page_size' in ((operation.query as unknown as { shape?: object }).shape ?? {})

/** The number of pages after the first that the test reads. */
const followed = 4

/** Follows `next` from the first page. */
async function walk(
  operation: Operation,
  ordering: string,
): Promise<{ pages: number; distinctRows: number; rowCount: number }> {
  const caller = chooseCaller(operation, world)
  const sample = await make(operation, world, caller)
  const size: Record<string, string> = hasSize(operation) ? { page_size: String(pageSize) } : {}
  const query = { ...sample.query, ...size, ...(ordering ? { ordering } : {}) }
  const seenIds = new Set<string>()
  let rowCount = 0
  let pages = 0
  for (let at: string | null = buildPath(operation, { ...sample, query }); at !== null && pages <= followed;) {
    const reply = await readAs(caller.token, at)
    expect(reply.status).toBe(200)
    for (const id of listIds(reply)) seenIds.add(id)
    pages++
    rowCount += reply.body.results.length as number
    at = reply.body.next as string | null
  }
  return { pages, distinctRows: seenIds.size, rowCount }
}

const last = 'listOrganizations'
// Rows of a preview have numbers, and a file has at most 200 columns.
const untied = new Set(['previewImportOrders', 'listColumnMappings'])
const inTurn = lists
  .filter(({ id }) => !untied.has(id))
  .toSorted((one, other) => Number(one.id === last) - Number(other.id === last))

describe('rows with equal times', () => {
  it.each(inTurn)('appear once on the pages of $id, in any order', async (operation) => {
    await getSample(operation).fill?.(world, shared)
    await tie()
    for (const ordering of ['', ...listOrderings(operation).flatMap((key) => [key, `-${key}`])]) {
      const { pages, distinctRows, rowCount } = await walk(operation, ordering)
      expect([ordering, distinctRows]).toEqual([ordering, rowCount])
      expect(pages).toBeGreaterThan(3)
    }
  })
})
