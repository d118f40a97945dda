import { sql } from 'drizzle-orm'
import { purchaseColumn } from '../../db/edition-counts.ts'
import type { PageStart } from '../../db/lists/page-by-number.ts'
import { startInEditions } from '../../db/lists/spans/start-in-editions.ts'
import { type PurchaseStatus, purchaseStatuses } from '../../domain/orders/purchases.ts'

const ofStatuses = sql.raw(purchaseStatuses.map(purchaseColumn).join(' + '))

/**
 * Where a page of an edition's purchases begins in the order of creation: the edge of a short span, or of a long one where
 * purchases of one status are listed, because short spans count those of all.
 */
export function startOfPurchases(
  { editionId, status }: { editionId: string; status: PurchaseStatus | undefined },
  isDesc: boolean,
  skipped: number,
): PageStart {
  const counted = {
    editions: sql`${editionId}`,
    long: status ? sql.raw(purchaseColumn(status)) : ofStatuses,
    short: sql`purchases`,
    // A version before may have added purchases to the columns of statuses alone.
    isDivided: status ? sql`0` : sql`purchases = ${ofStatuses}`,
  }
  return {
    ctes: startInEditions(counted, isDesc, sql`${skipped}`),
    where: [sql`purchases.created_at ${isDesc ? sql`<` : sql`>=`} (select moment from start)`],
    offset: sql`(select skipped from start)`,
  }
}
