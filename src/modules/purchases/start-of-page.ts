import { sql } from 'drizzle-orm'
import { areSpans, longBits, purchaseColumn, written } from '../../db/edition-counts.ts'
import type { PageStart } from '../../db/lists/page-by-number.ts'
import { startInEditions } from '../../db/lists/spans/start-in-editions.ts'
import type { PurchaseStatus } from '../../domain/orders/purchases.ts'

/**
 * Where a page of an edition's purchases begins in the order of creation: the edge of a short span, or of a long one where
 * purchases of one status are listed, because others count those of all.
 */
export function startOfPurchases(
  { editionId, status }: { editionId: string; status: PurchaseStatus | undefined },
  isDesc: boolean,
  skipped: number,
): PageStart {
  const editions = sql`${editionId}`
  const counted = status
    ? { counted: sql.raw(purchaseColumn(status)), longest: longBits, isDivided: sql`0` }
    : {
        counted: sql`bought`,
        // A version before may have added purchases to the columns of statuses alone.
        isDivided: sql`(bits <> ${written(longBits)} or exists (
          select 1 from order_counts where ${areSpans(longBits, editions)} and span = lo and purchases = bought))`,
      }
  return {
    ctes: startInEditions({ editions, ...counted }, isDesc, sql`${skipped}`),
    where: [sql`purchases.created_at ${isDesc ? sql`<` : sql`>=`} (select moment from start)`],
    offset: sql`(select skipped from start)`,
  }
}
