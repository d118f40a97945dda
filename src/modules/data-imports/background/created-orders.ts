import { type SQL, sql } from 'drizzle-orm'
import type { Statement } from '../../../db/database.ts'
import { importCreatedOrders } from '../../../db/schema/data-imports.ts'
import { insert, slices } from '../../../db/write.ts'
import type { OrderBefore } from '../../order-import/index.ts'

/** An order that an import created. */
export interface CreatedOrder {
  number: number
  order_id: string
  /** The data that an undo of the order needs. */
  before: OrderBefore | null
}

/**
 * Stores the orders that one transaction created, in one row unless they are too long for it. Their rows in `import_orders`
 * stay as they are.
 */
export const keepCreated = (importId: string, created: readonly CreatedOrder[]): Statement[] => {
  const entries = created.map(({ number, order_id, before }) => `"${number}":${JSON.stringify({ order_id, before })}`)
  let next = 0
  return slices(entries).map((part) => {
    const [first, last] = [created[next], created[next + part.length - 1]]
    next += part.length
    return insert(importCreatedOrders, {
      import_id: importId,
      first_number: first?.number ?? 0,
      last_number: last?.number ?? 0,
      orders: `{${part.join(',')}}`,
    })
  })
}

/** A staged order without an outcome was created if its number is at most this. */
export const createdUpTo = (importId: string): SQL =>
  sql`coalesce((select last_number from import_created_orders where import_id = ${importId}
    order by first_number desc limit 1), 0)`

/** The outcome of a staged order `its`; null while it is not decided. */
export const outcomeOfOrder = (its: SQL, importId: string): SQL =>
  sql`coalesce(${its}.outcome, iif(${its}.number <= ${createdUpTo(importId)}, 'created', null))`

/** The id of the created order `its`; null for an order that was not created, or has the id in its own row. */
export const keptIdOf = (its: SQL): SQL =>
  sql`(select orders ->> ('$."' || ${its}.number || '".order_id') from import_created_orders
    where import_id = ${its}.import_id and first_number <= ${its}.number order by first_number desc limit 1)`

/**
 * As a table, the orders that were created in the same transactions as those numbered from `from` to `to`: `number`,
 * `order_id` and `before`. The JSON of a transaction is read once.
 */
export const createdBetween = (importId: string, from: SQL, to: SQL): SQL =>
  sql`(select cast(entry.key as integer) as number, entry.value ->> '$.order_id' as order_id,
      entry.value ->> '$.before' as before
    from import_created_orders as made cross join json_each(made.orders) as entry
    where made.import_id = ${importId} and made.first_number <= ${to} and made.first_number >= coalesce((
      select max(first_number) from import_created_orders where import_id = ${importId} and first_number <= ${from}), 0))`
