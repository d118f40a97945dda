import { type SQL, sql } from 'drizzle-orm'
import { shortId, shortIdOf } from '../../../db/short-ids.ts'
import { coarseBits, fineBits, purchaseColumn, written } from '../../../db/edition-counts.ts'
import type { Database } from '../../../db/database.ts'
import { inWords } from '../../../db/visibility.ts'
import { purchaseStatuses } from '../../../domain/orders/purchases.ts'
import { countColumns, countNames, countsOfGroup, excludedCounts, ordersInSpan } from './spans.ts'

/** A coarse span of an edition. */
export interface OrderSpan {
  edition_id: string
  span: number
}

const names = countColumns.map(({ name }) => name)
const [fine, coarse] = [written(fineBits), written(coarseBits)]

/** The next span behind this one that has orders or counts. */
export const findNextSpan = (db: Database, { edition_id, span }: OrderSpan): Promise<OrderSpan | undefined> =>
  db.first(sql<OrderSpan>`select edition_id, span from (
      select * from (select edition_id, span from order_counts
        where span_bits = ${coarse} and (edition_id, span) > (${edition_id}, ${span})
        order by edition_id, span limit 1)
      union all
      select * from (select ${edition_id}, created_at >> ${coarse} from orders
        where edition_short_id = ${shortId(edition_id)} and created_at >= (${span} + 1) << ${coarse}
        order by created_at limit 1)
      union all
      select * from (select id, (select created_at >> ${coarse} from orders
            where edition_short_id = editions.short_id order by created_at limit 1) as first
        from editions where id > ${edition_id} and first is not null order by id limit 1))
    order by edition_id, span limit 1`)

/** Stores what differs from what is stored, and answers it. */
const repaired = sql`on conflict (span_bits, edition_id, span) do update set (${countNames}) = (${excludedCounts}), changes = changes + 1
  where (${countNames}) is not (${excludedCounts}) returning span_bits, span`

const sums = sql.raw(names.map((name) => `sum(${name})`).join(', '))

/** The fine spans of a coarse one. */
const fineSpansOf = (editionId: string, span: number): SQL =>
  sql`span_bits = ${fine} and edition_id = ${editionId} and span >> ${coarse} - ${fine} = ${span}`

type Repair = SQL<{ span_bits: number; span: number }>

/** Counts the orders of a span anew. Rows that the statements answer were wrong. */
export function recountStatements({ edition_id, span }: OrderSpan): readonly [fine: Repair, coarse: Repair] {
  const fineSpans = fineSpansOf(edition_id, span)
  const [from, until] = [sql`${span} << ${coarse}`, sql`(${span} + 1) << ${coarse}`]
  return [
    sql`insert into order_counts (span_bits, edition_id, span, ${countNames}, changes)
      select ${fine}, ${edition_id}, spans.span, ${countsOfGroup}, 1
      from (select span from order_counts where ${fineSpans}
          union select created_at >> ${fine} from orders
            where edition_short_id = ${shortId(edition_id)} and created_at >= ${from} and created_at < ${until}) as spans
        left join orders on orders.edition_short_id = ${shortId(edition_id)} and orders.created_at >= spans.span << ${fine}
          and orders.created_at < (spans.span + 1) << ${fine}
      group by spans.span
      ${repaired}`,
    sql`insert into order_counts (span_bits, edition_id, span, ${countNames}, changes)
      select ${coarse}, ${edition_id}, ${span}, ${sums}, 1 from order_counts where ${fineSpans} having count(*) > 0
      ${repaired}`,
  ]
}

const purchaseNames = purchaseStatuses.map(purchaseColumn)
const purchaseColumns = sql.raw(purchaseNames.join(', '))
const ofStatuses = sql.raw(`(${purchaseNames.join(' + ')})`)

/**
 * Counts the purchases of a span anew, and at the first span of an edition its customers and those of its organisation.
 * Rows that the statements answer were wrong.
 */
export function recountOthers({ edition_id, span }: OrderSpan, isFirst: boolean): Repair[] {
  const isSpan = sql`span_bits = ${coarse} and edition_id = ${edition_id} and span = ${span}`
  const bought = sql`edition_short_id = ${shortId(edition_id)} and ${inWords(sql`status`, purchaseStatuses)}
    and created_at >= ${span} << ${coarse} and created_at < (${span} + 1) << ${coarse}`
  const counted = purchaseStatuses.map(
    (
      status,
    ) => sql`(select count(*) from purchases where edition_short_id = ${shortId(edition_id)} and status = ${status}
      and created_at >= ${span} << ${coarse} and created_at < (${span} + 1) << ${coarse})`,
  )
  const known = sql`(select sum(customers) from order_counts where span_bits = ${coarse} and edition_id = ${edition_id})`
  const joined = sql`(select count(*) from edition_customers where edition_short_id = ${shortId(edition_id)})`
  const people = sql`(select count(*) from users where users.organization_short_id = ${shortIdOf(sql`list_sizes.organization_id`)})`
  return [
    sql`update order_counts set (${purchaseColumns}) = (select ${sql.join(counted, sql`, `)})
      where ${isSpan} and (${purchaseColumns}) is not (select ${sql.join(counted, sql`, `)}) returning span_bits, span`,
    sql`update order_counts set purchases = ${ofStatuses} where ${isSpan} and purchases <> ${ofStatuses}
      returning span_bits, span`,
    sql`insert into order_counts (span_bits, edition_id, span, purchases)
      select ${fine}, ${edition_id}, span, sum(n) from (
        select span, 0 as n from order_counts where ${fineSpansOf(edition_id, span)}
        union all select created_at >> ${fine}, 1 from purchases where ${bought})
      where true group by span
      on conflict (span_bits, edition_id, span) do update set purchases = excluded.purchases
        where purchases <> excluded.purchases
      returning span_bits, span`,
    ...(isFirst
      ? [
          sql<{ span_bits: number; span: number }>`update order_counts set customers = customers + ${joined} - ${known}
            where ${isSpan} and ${joined} <> ${known} returning span_bits, span`,
          sql<{ span_bits: number; span: number }>`update list_sizes set customers = ${people}
            where organization_id = (select organization_id from editions where id = ${edition_id})
              and customers <> ${people} returning 0 as span_bits, 0 as span`,
        ]
      : []),
  ]
}

/** The number of orders that a span is said to have. */
export const ordersOf = ({ edition_id, span }: OrderSpan): SQL<{ n: number }> =>
  sql`select ${ordersInSpan()} as n from order_counts
    where span_bits = ${coarse} and edition_id = ${edition_id} and span = ${span}`
