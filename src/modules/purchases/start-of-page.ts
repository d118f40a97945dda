import { type SQL, sql } from 'drizzle-orm'
import { areSpans, longBits, purchaseColumn, sumBits, written } from '../../db/edition-counts.ts'
import type { PageStart } from '../../db/lists/page-by-number.ts'
import { startInEditions } from '../../db/lists/spans/start-in-editions.ts'
import type { PurchaseStatus } from '../../domain/orders/purchases.ts'

/** Condition of `place` that the spans of the next length have all that a long span counts: a version before may have left some out. */
const haveAll = (condition: SQL): SQL => sql`(bits <> ${written(longBits)} or ${condition})`

const inLongSpan = (editions: SQL): SQL =>
  haveAll(
    sql`exists (select 1 from order_counts where ${areSpans(longBits, editions)} and span = lo and purchases = bought)`,
  )

const inPartsOfLongSpan = (editions: SQL, column: SQL): SQL =>
  haveAll(sql`total = (select sum(${column}) from order_counts where ${areSpans(longBits - sumBits, editions)}
    and span >= lo << ${written(sumBits)} and span < (lo + 1) << ${written(sumBits)})`)

/** Purchases that spans count: those of an edition, or of one status among them. */
export interface CountedPurchases {
  editionId: string
  status: PurchaseStatus | undefined
}

/** Where a page of an edition's purchases begins in the order of creation: the edge of a short span. */
export function startOfPurchases({ editionId, status }: CountedPurchases, isDesc: boolean, skipped: number): PageStart {
  const editions = sql`${editionId}`
  const column = status && sql.raw(purchaseColumn(status))
  const counted = column
    ? { counted: column, isDivided: inPartsOfLongSpan(editions, column) }
    : { counted: sql`bought`, isDivided: inLongSpan(editions) }
  return {
    ctes: startInEditions({ editions, ...counted }, isDesc, sql`${skipped}`),
    where: [sql`purchases.created_at ${isDesc ? sql`<` : sql`>=`} (select moment from start)`],
    offset: sql`(select skipped from start)`,
  }
}
