import { type SQL, sql } from 'drizzle-orm'
import { and, beyond, type OrderKey, orderOf } from '../../db/lists/order-keys.ts'
import { inAnyRange, united } from '../../db/lists/ranges.ts'
import type { PageRequest } from '../../domain/page.ts'
import { rangesOfKinds } from './delivery-spans.ts'

/** Most deliveries change for the last time so soon after they were made. An index has the others by their last change. */
const soonMs = 300_000
const areLate = sql.raw(`webhook_deliveries.modified_at not between webhook_deliveries.created_at
  and webhook_deliveries.created_at + ${soonMs}`)
const table = sql`webhook_deliveries`
const id = sql`webhook_deliveries.id`
const createdAt = sql`webhook_deliveries.created_at`
const modifiedAt = sql`webhook_deliveries.modified_at`

/** Behind all moments. */
const never = Number.MAX_SAFE_INTEGER

/**
 * In place of their table, deliveries with `id` and `modified_at`: those of a page in the order of their last changes, and
 * few others. Those that are not late stand within five minutes of where the order of creation has them: it leads to as many
 * as the page needs, and to those of five minutes beside them. `where` are all conditions of the list.
 */
export function nearLastChanges({ after, page, size }: PageRequest, desc: boolean, where: readonly SQL[]): SQL {
  const order: OrderKey[] = [
    { by: modifiedAt, desc },
    { by: id, desc },
  ]
  const most = size + 1 + (after ? 0 : (page - 1) * size)
  const rest = after ? [...where, beyond(order, after)] : where
  const moment = after ? Number(after[0]) : null
  const begin = moment === null ? [] : [desc ? sql`${createdAt} <= ${moment}` : sql`${createdAt} >= ${moment - soonMs}`]
  const soon = [sql`not (${areLate})`, ...begin, ...rest]
  const created = (range: readonly SQL[]) =>
    sql`select ${createdAt} as at from ${table} where ${and([...range, ...soon])}`
  const last = sql`(select at from (${united(rangesOfKinds, created, desc ? sql`at desc` : sql`at`)}) limit 1 offset ${most - 1})`
  const end = desc
    ? sql`${createdAt} >= coalesce(${last}, 0) - ${soonMs}`
    : sql`${createdAt} <= coalesce(${last}, ${never - soonMs}) + ${soonMs}`
  const keys = sql`select ${id}, ${modifiedAt} from ${table}`
  return sql`(
    select * from (${keys} indexed by webhook_deliveries_late where ${and([areLate, ...rest])}
      order by ${orderOf(order)} limit ${most})
    union all
    ${keys} indexed by webhook_deliveries_of_endpoint where ${and([inAnyRange(rangesOfKinds), ...soon, end])}) as ${table}`
}
