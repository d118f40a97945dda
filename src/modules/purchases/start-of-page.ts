import { type SQL, sql } from 'drizzle-orm'
import { coarseBits, fineBits, purchaseColumn } from '../../db/edition-counts.ts'
import type { PageStart } from '../../db/lists/page-by-number.ts'
import { type PurchaseStatus, purchaseStatuses } from '../../domain/orders/purchases.ts'

const fine = sql.raw(String(fineBits))
const coarse = sql.raw(String(coarseBits))
const ofStatuses = sql.raw(purchaseStatuses.map(purchaseColumn).join(' + '))

/**
 * Where a page of an edition's purchases begins in the order of creation: the edge of a short span, or of a long one where
 * purchases of one status are listed. It reads the long spans of the edition, and the short ones in one of them.
 */
export function startOfPurchases(
  { editionId, status }: { editionId: string; status: PurchaseStatus | undefined },
  isDesc: boolean,
  skipped: number,
): PageStart {
  const n = status ? sql.raw(purchaseColumn(status)) : ofStatuses
  // A version before may have added purchases to the columns of statuses alone.
  const isDivided = status ? sql`0` : sql`purchases = ${ofStatuses}`
  const ofEdition = (bits: SQL) => sql`span_bits = ${bits} and edition_id = ${editionId}`
  const inOrder = isDesc ? sql`(order by span desc)` : sql`(order by span)`
  const edge = (bits: SQL) => sql`((span ${isDesc ? sql`+ 1` : sql``}) << ${bits})`
  return {
    ctes: sql`long (span, moment, is_divided, ahead) as materialized (
        select span, ${edge(coarse)}, is_divided, ahead from (
          select span, ${isDivided} as is_divided, ${n} as n, sum(${n}) over ${inOrder} - (${n}) as ahead
          from order_counts where ${ofEdition(coarse)})
        where n > 0 and ahead <= ${skipped} order by ahead desc limit 1),
      short (moment, n, ahead) as materialized (
        select ${edge(fine)}, purchases, sum(purchases) over ${inOrder} - purchases from order_counts
        where ${ofEdition(fine)} and (select is_divided from long)
          and span >= (select span from long) << (${coarse} - ${fine})
          and span < (select span + 1 from long) << (${coarse} - ${fine})),
      start (moment, ahead) as materialized (
        select * from (
          select moment, ahead from long
          union all select short.moment, long.ahead + short.ahead from long cross join short where short.n > 0)
        where ahead <= ${skipped} order by ahead desc limit 1)`,
    where: [
      isDesc
        ? sql`purchases.created_at < (select moment from start)`
        : sql`purchases.created_at >= (select moment from start)`,
    ],
    offset: sql`(${skipped} - coalesce((select ahead from start), 0))`,
  }
}
