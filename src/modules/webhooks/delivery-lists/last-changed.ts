import { type SQL, sql } from 'drizzle-orm'
import { and, beyond, type OrderKey, orderOf } from '../../../db/lists/order-keys.ts'
import type { PageStart } from '../../../db/lists/page-by-number.ts'
import { inAnyRange, united } from '../../../db/lists/ranges.ts'
import type { PageRequest } from '../../../domain/page.ts'
import { createdAt, rangesOfKinds } from './spans.ts'

/** Most deliveries change for the last time so soon after they were made. An index has the others by their last change. */
export const soonMs = 300_000
export const areLate = sql.raw(`webhook_deliveries.modified_at not between webhook_deliveries.created_at
  and webhook_deliveries.created_at + ${soonMs}`)
const table = sql`webhook_deliveries`
const id = sql`webhook_deliveries.id`
const modifiedAt = sql`webhook_deliveries.modified_at`

interface ListByChange {
  desc: boolean
  /** All conditions of the list. */
  where: readonly SQL[]
  /** Whether there are rows, where it is not sure. */
  some: SQL | undefined
}

interface NearPage extends ListByChange {
  /** Where the rows begin, and the moment of it. */
  begin?: { moment: SQL; where: SQL } | undefined
  /** How many follow from there. */
  most: SQL
}

/** Behind all moments. */
const never = Number.MAX_SAFE_INTEGER

/**
 * In place of their table, deliveries with `id` and `modified_at`: those of a page in the order of their last changes, and
 * few others. Those that are not late stand within five minutes of where the order of creation has them: it leads to as many
 * as the page needs, and to those of five minutes behind the `last` of these. No other changed behind all of these is on it.
 */
function nearLastChanges({ desc, where, some, begin, most: asked }: NearPage): SQL {
  const most = some ? sql`iif(${some}, ${asked}, 0)` : asked
  const rest = begin ? [...where, begin.where] : where
  const soon = [sql`not (${areLate})`, ...rest]
  const edge = begin && (desc ? sql`${createdAt} <= ${begin.moment}` : sql`${createdAt} >= ${begin.moment} - ${soonMs}`)
  const nearest = (range: readonly SQL[]) =>
    sql`select ${id}, ${modifiedAt}, ${createdAt} as at from ${table} where ${and([...range, ...(edge ? [edge] : []), ...soon])}`
  const last = sql`(select at from last)`
  const [ofLast, isInTime, behind] = desc
    ? [
        sql`min(at), min(modified_at)`,
        sql`${modifiedAt} >= coalesce((select changed from last), 0)`,
        sql`${createdAt} <= ${last} and ${createdAt} >= ${last} - ${soonMs}`,
      ]
    : [
        sql`max(at), max(modified_at)`,
        sql`${modifiedAt} <= coalesce((select changed from last), ${never})`,
        sql`${createdAt} >= ${last} and ${createdAt} <= ${last} + ${soonMs}`,
      ]
  const keys = sql`select ${id}, ${modifiedAt} from ${table}`
  return sql`(
    with nearest as materialized (${united(rangesOfKinds, nearest, desc ? sql`at desc` : sql`at`)} limit ${most}),
      last (at, changed) as materialized (select ${ofLast} from nearest having count(*) >= ${most})
    select id, modified_at from nearest where at is not ${last}
    union all
    ${keys} indexed by webhook_deliveries_of_endpoint where ${and([inAnyRange(rangesOfKinds), behind, isInTime, ...soon])}
    union all
    select * from (${keys} indexed by webhook_deliveries_late where ${and([isInTime, areLate, ...rest])}
      order by ${orderOf(orderOfChanges(desc))} limit ${most})) as ${table}`
}

const orderOfChanges = (desc: boolean): OrderKey[] => [
  { by: modifiedAt, desc },
  { by: id, desc },
]

/** Those of a first page, or of one that follows another. */
export function nearPage({ after, page, size }: PageRequest, list: ListByChange): SQL {
  const begin = after && { moment: sql`${Number(after[0])}`, where: beyond(orderOfChanges(list.desc), after) }
  return nearLastChanges({ ...list, begin: begin ?? undefined, most: sql`${(after ? 1 : page) * size + 1}` })
}

/** Those of a page that intervals lead to. */
export const nearStart = ({ size }: PageRequest, start: PageStart, list: ListByChange): SQL =>
  nearLastChanges({
    ...list,
    begin: { moment: sql`(select value from start0)`, where: and(start.where) },
    most: sql`(${start.offset} + ${size + 1})`,
  })
