import { type SQL, sql } from 'drizzle-orm'
import type { OrderKinds } from '../../../db/order-kinds.ts'
import { type OrderStatus, orderStatuses, type OrderType, orderTypes } from '../../../domain/orders/orders.ts'

/** A long span of an edition. */
export interface OrderSpan {
  edition_id: string
  span: number
}

/** A statement that counts rows anew. It answers what was wrong. */
export type Repair = SQL<{ span_bits: number; span: number }>

/** Orders that `order_counts` can count. */
export interface CountedOrders extends OrderKinds {
  /** A query of the ids of their editions. */
  editions: SQL
  /** The first moment of creation, and the first one behind the last. Milliseconds UTC. */
  from?: number | undefined
  until?: number | undefined
}

/** The column of `order_counts` that counts orders of a status and a type. */
export const orderColumn = (status: OrderStatus, type: OrderType): string => `${status}_${type.replaceAll('-', '_')}`

/** These columns, by what they count. */
export const countColumns = orderStatuses.flatMap((status) =>
  orderTypes.map((type) => ({ status, type, name: orderColumn(status, type) })),
)

/** What these columns have of a group of orders. */
export const countsOfGroup = sql.raw(
  countColumns
    .map(({ status, type, name }) => `count(*) filter (where status = '${status}' and type = '${type}') as ${name}`)
    .join(', '),
)

/** The number of orders of a row of `order_counts`. */
export function ordersInSpan({ status, type }: OrderKinds = {}): SQL {
  const chosen = countColumns.filter((one) => (!status || one.status === status) && (!type || one.type === type))
  return sql.raw(chosen.map(({ name }) => name).join(' + '))
}
