import { type SQL, sql } from 'drizzle-orm'
import type { OrderRow } from '../../../db/schema/sales/orders.ts'
import { orderCounts } from '../../../db/schema/sales/order-counts.ts'
import { insertAll } from '../../../db/write.ts'
import { coarseBits, countColumns, fineBits } from './spans.ts'

type CountedOrder = Pick<OrderRow, 'edition_id' | 'status' | 'type' | 'created_at'>

const added = sql.raw(
  [...countColumns.map(({ name }) => name), 'changes'].map((name) => `${name} = ${name} + excluded.${name}`).join(', '),
)

const numbersOf = (orders: readonly CountedOrder[]) =>
  Object.fromEntries(
    countColumns.map(({ status, type, name }) => [
      name,
      orders.filter((order) => order.status === status && order.type === type).length,
    ]),
  )

/** Adds new orders, whose rows say `counted_together`, to the counts of their spans. For the transaction that inserts them. */
export function countTogether(orders: readonly CountedOrder[]): SQL[] {
  const rows = [fineBits, coarseBits].flatMap((span_bits) =>
    [
      ...Map.groupBy(
        orders,
        ({ edition_id, created_at }) => `${Math.floor(created_at / 2 ** span_bits)} ${edition_id}`,
      ),
    ].map(([key, counted]) => {
      const [span = '', edition_id = ''] = key.split(' ')
      return { span_bits, edition_id, span: Number(span), ...numbersOf(counted), changes: counted.length }
    }),
  )
  return insertAll(orderCounts, rows).map(
    (insert) => sql`${insert} on conflict (span_bits, edition_id, span) do update set ${added}`,
  )
}
