import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import type { refundRequests } from '../../../src/db/schema/refunds.ts'
import { refundReasons, refundSources, refundStatuses } from '../../../src/domain/refunds/refunds.ts'
import { rootToken } from '../../support/api.ts'
import { listIds, readAs } from '../../support/lists.ts'
import { requestPurchaseRefund, loadRefundRow } from '../../support/refunds.ts'
import { seedEdition } from '../../support/seeding/editions.ts'
import { db, write } from '../../support/seeding/rows.ts'
import { givenOrder, seedShop, type Shop } from '../../support/seeding/sales/orders.ts'

type Request = Pick<
  typeof refundRequests.$inferSelect,
  'id' | 'edition_id' | 'status' | 'reason' | 'source' | 'created_at'
>

const ofEdition = 600

/** Returns numbers from 0 to 1, the same for each run. */
function createRandom(seed: number): () => number {
  let last = seed
  return () => (last = (last * 1_664_525 + 1_013_904_223) % 2 ** 32) / 2 ** 32
}

/** Chooses a word: each word is a fifth as likely as the one before, and the last one has a few requests. */
function word(words: readonly string[], chance: number): string {
  const at = Math.floor(-Math.log(1 - chance) / Math.log(5))
  return words[Math.min(at, words.length - 1)] ?? ''
}

/** Seeds requests of one purchase with some rare statuses, reasons and sources, three for each time. */
async function seedRequests(shop: Shop): Promise<void> {
  const { purchases } = await givenOrder(shop)
  const { body } = await requestPurchaseRefund(purchases[0] ?? '', { amount: 1 })
  const { id, ...row } = await loadRefundRow(body.id)
  const chances = createRandom(shop.edition_id.length)
  const requests = Array.from({ length: ofEdition - 1 }, (_, index) => ({
    id: `${id}-${(index * 7919) % 100_003}`,
    status: word(refundStatuses, chances()),
    reason: word(refundReasons, chances()),
    source: word(refundSources, chances()),
    created_at: row.created_at - Math.floor(index / 3) * 3_600_000,
  }))
  const changed = Object.keys(requests[0] ?? {})
  const names = [...changed, ...Object.keys(row).filter((name) => !changed.includes(name))]
  const values = names.map((name) => (changed.includes(name) ? `its.value ->> '${name}'` : name))
  await write(sql`insert into refund_requests (${sql.raw(names.join(', '))})
    select ${sql.raw(values.join(', '))} from json_each(${JSON.stringify(requests)}) as its
      cross join refund_requests where refund_requests.id = ${id}`)
}

let shop: Shop
let all: Request[]
beforeAll(async () => {
  shop = await seedShop()
  const editions = [shop.edition_id]
  while (editions.length < 3) editions.push((await seedEdition({ id: shop.organization_id })).id)
  for (const edition_id of editions) await seedRequests({ ...shop, edition_id })
  all = await db.all(sql<Request>`select * from refund_requests where organization_id = ${shop.organization_id}`)
})

interface Facets {
  status?: string
  reason?: string
  source?: string
}

const matches = (one: Request, facets: Facets): boolean =>
  Object.entries(facets).every(([name, value]) => one[name as keyof Facets] === value)

/** Each value of each filter, and pairs of values. */
const filters: Facets[] = [
  ...refundStatuses.map((status) => ({ status })),
  ...refundReasons.map((reason) => ({ reason })),
  ...refundSources.map((source) => ({ source })),
  ...refundReasons.flatMap((reason) => refundSources.map((source) => ({ reason, source }))),
]

describe.each([
  ['an edition', () => ({ edition_id: shop.edition_id })],
  ['an organization of three editions', () => ({ organization_id: shop.organization_id })],
] as const)('listRefundRequests for %s, filtered by status, reason and source', (_, place) => {
  it.each(['created', '-created'])('lists and counts the requests in the ordering %s', async (ordering) => {
    const direction = ordering === 'created' ? 1 : -1
    for (const filter of filters) {
      const sorted = all
        .filter((request) => matches(request, { ...filter, ...place() }))
        .toSorted((one, other) => direction * (one.created_at - other.created_at || (one.id < other.id ? -1 : 1)))
        .map(({ id }) => id)
      const query = new URLSearchParams({ ...place(), ...filter, ordering, page_size: '50' }).toString()
      let next: string | null = `/v1/refund-requests?${query}`
      for (let page = 0; page < 3 && next; page++) {
        const reply = await readAs(rootToken, next)
        expect([query, reply.body.count]).toEqual([query, sorted.length])
        expect([query, listIds(reply)]).toEqual([query, sorted.slice(50 * page, 50 * page + 50)])
        next = reply.body.next
      }
      if (sorted.length <= 350) continue
      const reply = await readAs(rootToken, `/v1/refund-requests?${query}&page=7`)
      expect([query, listIds(reply)]).toEqual([query, sorted.slice(300, 350)])
    }
  })
})
