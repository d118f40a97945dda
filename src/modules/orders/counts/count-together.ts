import { type SQL, sql } from 'drizzle-orm'
import { longBits, purchaseColumn, shortBits } from '../../../db/edition-counts.ts'
import { orderCounts } from '../../../db/schema/sales/order-counts.ts'
import { insertAll } from '../../../db/write.ts'
import type { OrderStatus, OrderType } from '../../../domain/orders/orders.ts'
import { type PurchaseStatus, purchaseStatuses } from '../../../domain/orders/purchases.ts'
import { countColumns, orderColumn } from './spans.ts'

interface Placed {
  edition_id: string
  /** Milliseconds UTC. */
  created_at: number
}

/** New rows that say `counted_together`. */
export interface CountedRows {
  orders: readonly (Placed & { status: OrderStatus; type: OrderType })[]
  purchases: readonly (Placed & { status: PurchaseStatus })[]
}

const counters = [
  ...countColumns.map(({ name }) => name),
  ...purchaseStatuses.map(purchaseColumn),
  'purchases',
  'changes',
]
const nothing = Object.fromEntries(counters.map((name) => [name, 0]))
const added = sql.raw(counters.map((name) => `${name} = ${name} + excluded.${name}`).join(', '))

interface CountRow extends Record<string, unknown> {
  span_bits: number
  edition_id: string
  span: number
}

function rowsOf(span_bits: number, { orders, purchases }: CountedRows): CountRow[] {
  const rows = new Map<string, CountRow>()
  const count = ({ edition_id, created_at }: Placed, names: readonly string[]): void => {
    const span = Math.floor(created_at / 2 ** span_bits)
    const key = `${span} ${edition_id}`
    const row = rows.get(key) ?? { span_bits, edition_id, span, ...nothing }
    for (const name of names) row[name] = Number(row[name]) + 1
    rows.set(key, row)
  }
  for (const order of orders) count(order, [orderColumn(order.status, order.type), 'changes'])
  for (const purchase of purchases) count(purchase, ['purchases', purchaseColumn(purchase.status)])
  return [...rows.values()]
}

/** Adds new rows to the counts of their spans, which triggers add up. For the transaction that inserts them. */
export function countTogether(counted: CountedRows): SQL[] {
  const rows = [...rowsOf(shortBits, counted), ...rowsOf(longBits, counted)]
  return insertAll(orderCounts, rows).map(
    (insert) => sql`${insert} on conflict (span_bits, edition_id, span) do update set ${added}`,
  )
}
