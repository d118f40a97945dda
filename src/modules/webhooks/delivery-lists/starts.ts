import { sql } from 'drizzle-orm'
import type { Database } from '../../../db/database.ts'
import { findStartInIntervals } from '../../../db/lists/intervals/start-in-intervals.ts'
import type { PageStart } from '../../../db/lists/page-by-number.ts'
import type { DeliveryStatus } from '../../../domain/webhooks/webhooks.ts'
import { deliveryIntervals } from './intervals.ts'

export interface CountedDeliveries {
  endpoint: string
  status: DeliveryStatus | undefined
  /** Those whose deliveries are listed; undefined for all. */
  editions: readonly string[] | undefined
  desc: boolean
}

/** Where a page begins in the order of the last changes, if intervals can say it. */
export const startOfChanges = (db: Database, rows: CountedDeliveries, skipped: number): Promise<PageStart | null> =>
  startIn(db, 'modified', rows, skipped)

/** The same in the order of kinds as one order. */
export const startOfNames = (db: Database, rows: CountedDeliveries, skipped: number): Promise<PageStart | null> =>
  startIn(db, 'name', rows, skipped)

const startIn = (
  db: Database,
  ordering: keyof typeof deliveryIntervals.orderings,
  { endpoint, status, editions, desc }: CountedDeliveries,
  skipped: number,
): Promise<PageStart | null> =>
  findStartInIntervals(
    db,
    deliveryIntervals,
    { scope: endpoint, facets: [status, editions], orderings: [deliveryIntervals.orderings[ordering]], isDesc: desc },
    { skipped },
  )

/**
 * The same in the order of kinds, which are read one after the other in the order given. The moment and the id of the key tell
 * where the page begins in its kind. All of a kind stands behind the key, or nothing of it.
 */
export async function startOfKinds(
  db: Database,
  { kinds, ...rows }: CountedDeliveries & { kinds: readonly string[] },
  skipped: number,
): Promise<PageStart | null> {
  const start = await startIn(db, 'name', rows, skipped)
  const operator = sql.raw(rows.desc ? '<' : '>=')
  return (
    start && {
      ...start,
      where: kinds.map((name) => {
        const kind = sql.raw(`'${name}'`)
        return sql`(webhook_deliveries.created_at, webhook_deliveries.id) ${operator} (
          select case when value = ${kind} then created_at when value < ${kind} then -1 else x'ff' end, +id from start0)`
      }),
    }
  )
}
