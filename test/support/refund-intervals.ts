import { type SQL, sql } from 'drizzle-orm'
import { expect } from 'vitest'
import { refundStatuses } from '../../src/domain/refunds/refunds.ts'
import { refundIntervals } from '../../src/modules/refunds/intervals.ts'
import { settleRefunds } from '../../src/modules/refunds/jobs.ts'
import { rootToken } from './api.ts'
import { type CountedRow, expectIntervals, shortSizes } from './intervals.ts'
import { queryOf } from './list-spans.ts'
import { byCodePoint, idsOf, readAs } from './lists.ts'
import { askFor, refundRow } from './refunds.ts'
import { seedEdition } from './seeding/editions.ts'
import { db, unique, write } from './seeding/rows.ts'
import { givenOrder, seedShop } from './seeding/sales/orders.ts'

export const manyFrom = Date.UTC(2025, 0, 1)

export interface LongRefunds {
  organization: string
  editions: readonly string[]
  /** The request of which the others are copies. */
  first: string
}

/**
 * Copies of a request: every other one is rejected, and one of fifty is of fraud. With ties: three of each moment of change,
 * and 30 amounts.
 */
export const copyRequests = (
  { first }: Pick<LongRefunds, 'first'>,
  edition: string,
  { count, from, step, apart = 1 }: { count: number; from: number; step: number; apart?: number },
): Promise<void> =>
  refundRow(first).then((row) => {
    const made: Record<string, SQL> = {
      id: sql`${`${first}-${unique()}-`} || (i * 7919 % 100003)`,
      edition_id: sql`${edition}`,
      status: sql`iif(i % 2, 'rejected', ${JSON.stringify(refundStatuses)} ->> (i * 104729 % 7))`,
      reason: sql`iif(i % 50, iif(i % 3, 'customer_request', 'other'), 'fraud')`,
      source: sql`iif(i % 5, 'api', 'customer')`,
      requested_minor: sql`i * 48271 % 30 * 100`,
      created_at: sql`${from} + i * ${apart}`,
      modified_at: sql`${from} + i / 3 * ${step}`,
    }
    const names = Object.keys(row)
    return write(sql`insert into refund_requests (${sql.raw(names.join(', '))})
      with recursive n (i) as (select 1 union all select i + 1 from n where i < ${count})
      select ${sql.join(
        names.map((name) => made[name] ?? sql.raw(name)),
        sql`, `,
      )}
      from n cross join refund_requests where refund_requests.id = ${first}`)
  })

/** An organisation whose editions have so many requests, all of one order. */
export async function seedLongRefunds(sizes: readonly number[], apart = 1): Promise<LongRefunds> {
  const shop = await seedShop()
  const { purchases } = await givenOrder(shop)
  const { body } = await askFor(purchases[0] ?? '', { amount: 1 })
  const place = { organization: shop.organization_id, editions: [shop.edition_id], first: String(body.id) }
  for (const [index, count] of sizes.entries()) {
    if (index > 0) place.editions.push((await seedEdition({ id: shop.organization_id })).id)
    await copyRequests(place, place.editions[index] ?? '', { count, from: manyFrom, step: 3_600_000, apart })
  }
  return place
}

/** Settles all requests that are old enough. */
export async function settleAllRefunds(now: number, sizes = shortSizes): Promise<void> {
  for (let minutes = 0; minutes < 4; minutes++) await settleRefunds({ db, now: () => now }, sizes)
}

export interface StoredRefund {
  id: string
  edition_id: string
  status: string
  reason: string
  source: string
  created: number
  modified: number
  requested_amount: number
}

export const storedRefunds = (organization: string): Promise<StoredRefund[]> =>
  db.all(sql<StoredRefund>`select id, edition_id, status, reason, source, created_at as created, modified_at as modified,
      requested_minor as requested_amount
    from refund_requests where organization_id = ${organization}`)

/** Compares the intervals of an organisation with its requests. Answers how many there are. */
export async function expectRefundIntervals(organization: string): Promise<number> {
  const requests = await storedRefunds(organization)
  const rows = requests.map(({ id, edition_id, status, modified, requested_amount }): CountedRow => ({
    edition_id,
    modified,
    keys: { amount: [requested_amount, id], modified: [modified, id] },
    count: status,
  }))
  return expectIntervals(refundIntervals, organization, rows)
}

export const refundOrderings = ['modified', '-modified', 'requested_amount', '-requested_amount'] as const

interface AskedPages {
  scope: Record<string, string>
  status?: string | undefined
  ordering: (typeof refundOrderings)[number]
}

/** The pages of a list by their numbers are those of all its requests in the order. */
export async function expectRefundPages(
  { scope, status, ordering }: AskedPages,
  {
    requests,
    size,
    numbers,
    token = rootToken,
  }: { requests: readonly StoredRefund[]; size: number; numbers: readonly number[]; token?: string },
): Promise<void> {
  const direction = ordering.startsWith('-') ? -1 : 1
  const field = ordering.replace('-', '') as 'modified' | 'requested_amount'
  const ids = requests
    .filter((one) => !status || one.status === status)
    .toSorted((one, other) => direction * (one[field] - other[field] || byCodePoint(one.id, other.id)))
    .map(({ id }) => id)
  const last = Math.max(1, Math.ceil(ids.length / size))
  for (const number of new Set([...numbers.map((one) => 1 + (one % last)), last])) {
    const query = queryOf({ ...scope, status, ordering, page_size: size, page: number })
    const reply = await readAs(token, `/v1/refund-requests?${query}`)
    expect([query, reply.status, reply.body.count]).toEqual([query, 200, ids.length])
    expect([query, idsOf(reply)]).toEqual([query, ids.slice((number - 1) * size, number * size)])
  }
}
