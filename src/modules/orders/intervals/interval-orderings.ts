import { type SQL, sql } from 'drizzle-orm'
import { orders } from '../../../db/schema/sales/orders.ts'

/** An order of lists in which `order_intervals` counts orders. Each has the orders of one range of its index. */
export interface IntervalOrdering {
  name: 'amount' | 'modified' | 'number' | 'unnumbered'
  index: SQL
  column: SQL
  /** It has the orders without a value, by their creation. */
  isAbsent: boolean
  /** A value before those of all orders. */
  least: number | string
}

const numbers = { index: sql`orders_edition_number`, column: sql`${orders.number_key}` }

export const intervalOrderings: Record<IntervalOrdering['name'], IntervalOrdering> = {
  amount: {
    name: 'amount',
    index: sql`orders_edition_amount`,
    column: sql`${orders.amount_minor}`,
    isAbsent: false,
    least: -1,
  },
  modified: {
    name: 'modified',
    index: sql`orders_edition_modified`,
    column: sql`${orders.modified_at}`,
    isAbsent: false,
    least: -1,
  },
  number: { name: 'number', ...numbers, isAbsent: false, least: '' },
  unnumbered: { name: 'unnumbered', ...numbers, isAbsent: true, least: -1 },
}

/** The value of an order in an ordering. */
export const valueOf = ({ column, isAbsent }: IntervalOrdering): SQL => (isAbsent ? sql`0` : column)

/** Condition of the orders that an ordering has. */
export const isIn = ({ column, isAbsent }: IntervalOrdering): SQL =>
  sql`${column} is ${isAbsent ? sql`null` : sql`not null`}`

/** The columns that an index has these orders by. */
export const columnsOf = ({ column, isAbsent }: IntervalOrdering): readonly SQL[] => [
  ...(isAbsent ? [] : [column]),
  sql`${orders.created_at}`,
  sql`${orders.seq}`,
]

/** Where an interval begins: the first order that it may have. */
export interface IntervalKey {
  value: number | string
  created_at: number
  seq: number
}

export const keyNames = sql`value, created_at, seq`

/** Before all keys, and behind them: SQLite orders numbers before texts, and texts before bytes. */
export const firstKey = ({ least }: IntervalOrdering): IntervalKey => ({ value: least, created_at: -(2 ** 53), seq: 0 })
export const lastKey = { value: sql`x'ff'`, created_at: sql`x'ff'`, seq: sql`0` }

/**
 * Compares orders with the key that a query answers in one row. `+` takes the type of a column away, so that the value is
 * compared as it is, and an index is used.
 */
export function comparedWith(ordering: IntervalOrdering, operator: '>=' | '<', key: SQL): SQL {
  const columns = columnsOf(ordering)
  const names = ['+value', '+created_at', '+seq'].slice(-columns.length).join(', ')
  return sql`(${sql.join([...columns], sql`, `)}) ${sql.raw(operator)} (select ${sql.raw(names)} from (${key}))`
}
