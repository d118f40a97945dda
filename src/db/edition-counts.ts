import { type SQL, sql } from 'drizzle-orm'
import type { PurchaseStatus } from '../domain/orders/purchases.ts'

/** Spans of `order_counts` are `created_at >> bits`. */
export const fineBits = 21
/** As `fineBits`, of long spans. */
export const coarseBits = 29
/** The number of fine spans in a coarse one. */
export const fineInCoarse = 2 ** (coarseBits - fineBits)

/** A constant in a statement. It is not bound, because a statement has at most 100 parameters. */
export const written = (value: number): SQL => sql.raw(String(value))

/** Condition of the rows of `order_counts` that have spans of this length, of some editions. */
export const areSpans = (bits: number, editions: SQL): SQL =>
  sql`span_bits = ${written(bits)} and edition_id in (${editions})`

/** The column of a long span that counts the purchases of a status. */
export const purchaseColumn = (status: PurchaseStatus): string => `purchases_${status}`

/** The sum of columns of all long spans of editions. `editions` is a query of their ids. */
export const sumOfEditions = (columns: SQL, editions: SQL): SQL =>
  sql`(select coalesce(sum(${columns}), 0) from order_counts
    where span_bits = ${sql.raw(String(coarseBits))} and edition_id in (${editions}))`

/** How often customers of the editions' organisations changed. */
export const customerChangesOf = (editions: SQL): SQL =>
  sql`(select coalesce(sum(customer_changes), 0) from list_sizes
    where organization_id in (select organization_id from editions where id in (${editions})))`
