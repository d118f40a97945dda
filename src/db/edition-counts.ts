import { type SQL, sql } from 'drizzle-orm'
import type { PurchaseStatus } from '../domain/orders/purchases.ts'

/** Spans of `order_counts` are `created_at >> bits`. Imports and triggers on orders write two lengths of them. */
export const shortBits = 21
export const longBits = 29
/** Triggers add both up: 2^4 of their spans are one of the next length. */
export const sumBits = 4
export const longestBits = longBits + sumBits
/** All lengths, the longest first. */
export const lengthsOfSpans = [longestBits, longBits, shortBits + sumBits, shortBits] as const

/** A constant in a statement. It is not bound, because a statement has at most 100 parameters. */
export const written = (value: number): SQL => sql.raw(String(value))

/** Condition of the rows of `order_counts` that have spans of this length, of some editions. */
export const areSpans = (bits: number, editions: SQL): SQL =>
  sql`span_bits = ${written(bits)} and edition_id in (${editions})`

/** The column that counts the purchases of a status. */
export const purchaseColumn = (status: PurchaseStatus): string => `purchases_${status}`

/** The sum of columns of all spans of editions. `editions` is a query of their ids. */
export const sumOfEditions = (columns: SQL, editions: SQL): SQL =>
  sql`(select coalesce(sum(${columns}), 0) from order_counts where ${areSpans(longestBits, editions)})`
