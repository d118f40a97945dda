import { type SQL, sql } from 'drizzle-orm'
import { coarseBits, purchaseColumn } from '../../../db/edition-counts.ts'
import { orderCounts } from '../../../db/schema/sales/order-counts.ts'
import { insertAll } from '../../../db/write.ts'
import type { OrderStatus, OrderType } from '../../../domain/orders/orders.ts'
import { type PurchaseStatus, purchaseStatuses } from '../../../domain/orders/purchases.ts'
import { countColumns, fineBits } from './spans.ts'

interface Placed {
  edition_id: string
  /** Milliseconds UTC. */
  created_at: number
}

/** New rows that say `counted_together`. */
export interface CountedRows {
  orders: readonly (Placed & { status: OrderStatus; type: OrderType })[]
  purchases: readonly (Placed & { status: PurchaseStatus })[]
  /** Customers who are new in an edition. */
  customers: readonly Placed[]
}

const purchaseColumns = purchaseStatuses.map((status) => ({ status, name: purchaseColumn(status) }))

const added = sql.raw(
  [...countColumns, ...purchaseColumns, { name: 'customers' }, { name: 'changes' }]
    .map(({ name }) => `${name} = ${name} + excluded.${name}`)
    .join(', '),
)

/** In the span of an order of their edition, so that they need no span of their own. */
const besideOrders = (customers: readonly Placed[], orders: readonly Placed[]): Placed[] =>
  customers.map((one) => orders.find(({ edition_id }) => edition_id === one.edition_id) ?? one)

function rowsOf(span_bits: number, { orders, purchases, customers }: CountedRows) {
  const keyOf = ({ edition_id, created_at }: Placed) => `${Math.floor(created_at / 2 ** span_bits)} ${edition_id}`
  const groups = [orders, purchases, customers] as const
  const [ordersBy, purchasesBy, customersBy] = [
    Map.groupBy(orders, keyOf),
    Map.groupBy(purchases, keyOf),
    Map.groupBy(customers, keyOf),
  ]
  return [...new Set(groups.flatMap((rows) => rows.map(keyOf)))].map((key) => {
    const [span = '', edition_id = ''] = key.split(' ')
    const [made, bought] = [ordersBy.get(key) ?? [], purchasesBy.get(key) ?? []]
    const numbers = [
      ...countColumns.map(({ status, type, name }) => [
        name,
        made.filter((order) => order.status === status && order.type === type).length,
      ]),
      ...purchaseColumns.map(({ status, name }) => [name, bought.filter((one) => one.status === status).length]),
    ]
    return {
      span_bits,
      edition_id,
      span: Number(span),
      ...(Object.fromEntries(numbers) as Record<string, number>),
      customers: customersBy.get(key)?.length ?? 0,
      changes: made.length,
    }
  })
}

/** Adds new rows to the counts of their spans. For the transaction that inserts them. */
export function countTogether(counted: CountedRows): SQL[] {
  const { orders, customers } = counted
  const rows = [
    ...rowsOf(fineBits, { orders, purchases: [], customers: [] }),
    ...rowsOf(coarseBits, { ...counted, customers: besideOrders(customers, orders) }),
  ]
  return insertAll(orderCounts, rows).map(
    (insert) => sql`${insert} on conflict (span_bits, edition_id, span) do update set ${added}`,
  )
}
