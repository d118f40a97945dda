import { type SQL, sql } from 'drizzle-orm'
import { shortId } from '../../../db/short-ids.ts'
import {
  areSpans,
  longBits,
  longestBits,
  purchaseColumn,
  shortBits,
  sumBits,
  written,
} from '../../../db/edition-counts.ts'
import type { Database } from '../../../db/database.ts'
import { inWords } from '../../../db/visibility.ts'
import { purchaseStatuses } from '../../../domain/orders/purchases.ts'
import { countColumns, countsOfGroup, type OrderSpan, ordersInSpan, type Repair } from './spans.ts'

const names = countColumns.map(({ name }) => name)
const statusColumns = purchaseStatuses.map(purchaseColumn)
const [short, long] = [written(shortBits), written(longBits)]

/** The next span behind this one that has orders or counts. */
export const findNextSpan = (db: Database, { edition_id, span }: OrderSpan): Promise<OrderSpan | undefined> =>
  db.first(sql<OrderSpan>`select edition_id, span from (
      select * from (select edition_id, span from order_counts
        where span_bits = ${long} and (edition_id, span) > (${edition_id}, ${span})
        order by edition_id, span limit 1)
      union all
      select * from (select ${edition_id}, created_at >> ${long} from orders
        where edition_short_id = ${shortId(edition_id)} and created_at >= (${span} + 1) << ${long}
        order by created_at limit 1)
      union all
      select * from (select id,
            (select created_at >> ${long} from orders where edition_short_id = editions.short_id order by created_at limit 1) as first
        from editions where id > ${edition_id} and first is not null order by id limit 1))
    order by edition_id, span limit 1`)

/** Stores what differs from what is stored, and answers it. */
function repaired(columns: readonly string[]): SQL {
  const [stored, counted] = [columns.join(', '), columns.map((name) => `excluded.${name}`).join(', ')]
  return sql.raw(`on conflict (span_bits, edition_id, span) do update set (${stored}) = (${counted}), changes = changes + 1
    where (${stored}) is not (${counted}) returning span_bits, span`)
}

/** The short spans of a long one. */
const shortSpansOf = ({ edition_id, span }: OrderSpan): SQL =>
  sql`span_bits = ${short} and edition_id = ${edition_id} and span >> ${long} - ${short} = ${span}`

const isWithin = (span: number): SQL => sql`created_at >= ${span} << ${long} and created_at < (${span} + 1) << ${long}`

const ofStatuses = purchaseStatuses.map((status) => sql.raw(`count(*) filter (where status = '${status}')`))

/** Counts orders and purchases of the short spans of a long one. */
function recountShort(longSpan: OrderSpan): Repair[] {
  const { edition_id, span } = longSpan
  const ofEdition = sql`edition_short_id = ${shortId(edition_id)}`
  return [
    sql`insert into order_counts (span_bits, edition_id, span, ${sql.raw(names.join(', '))}, changes)
      select ${short}, ${edition_id}, spans.span, ${countsOfGroup}, 1
      from (select span from order_counts where ${shortSpansOf(longSpan)}
          union select created_at >> ${short} from orders where ${ofEdition} and ${isWithin(span)}) as spans
        left join orders on ${ofEdition} and orders.created_at >= spans.span << ${short}
          and orders.created_at < (spans.span + 1) << ${short}
      group by spans.span
      ${repaired(names)}`,
    sql`insert into order_counts (span_bits, edition_id, span, purchases, ${sql.raw(statusColumns.join(', '))}, changes)
      select ${short}, ${edition_id}, span, count(status), ${sql.join(ofStatuses, sql`, `)}, 1 from (
        select span, null as status from order_counts where ${shortSpansOf(longSpan)}
        union all select created_at >> ${short}, status from purchases
          where ${ofEdition} and ${inWords(sql`status`, purchaseStatuses)} and ${isWithin(span)})
      where true group by span
      ${repaired(['purchases', ...statusColumns])}`,
  ]
}

/** Adds the spans of a length up anew that are in a long span, or the one that has this. */
function addUp(bits: number, { edition_id, span }: OrderSpan, columns: readonly string[]): Repair {
  const covered = Math.max(bits, longBits)
  const [at, parts] = [Math.floor(span / 2 ** (covered - longBits)), 2 ** (covered - bits + sumBits)]
  const sums = columns.map((name) => `sum(${name === 'purchases' ? 'bought' : name})`)
  return sql`insert into order_counts (span_bits, edition_id, span, ${sql.raw(columns.join(', '))}, changes)
    select ${written(bits)}, ${edition_id}, span >> ${written(sumBits)}, ${sql.raw(sums.join(', '))}, 1
    from order_counts where ${areSpans(bits - sumBits, sql`${edition_id}`)}
      and span >= ${at * parts} and span < ${(at + 1) * parts}
    group by 3
    ${repaired(columns)}`
}

/** Counts the purchases of a long span by status. */
function recountPurchases({ edition_id, span }: OrderSpan): Repair[] {
  const isSpan = sql`${areSpans(longBits, sql`${edition_id}`)} and span = ${span}`
  const columns = sql.raw(statusColumns.join(', '))
  const counted = purchaseStatuses.map(
    (status) => sql`(select count(*) from purchases
      where edition_short_id = ${shortId(edition_id)} and status = ${status} and ${isWithin(span)})`,
  )
  return [
    sql`update order_counts set (${columns}) = (select ${sql.join(counted, sql`, `)})
      where ${isSpan} and (${columns}) is not (select ${sql.join(counted, sql`, `)}) returning span_bits, span`,
    sql`update order_counts set purchases = bought where ${isSpan} and purchases <> bought returning span_bits, span`,
  ]
}

/** Counts the orders and purchases of a span anew. Rows that the statements answer were wrong. */
export const recountStatements = (longSpan: OrderSpan): Repair[] => [
  ...recountShort(longSpan),
  addUp(shortBits + sumBits, longSpan, [...names, 'purchases', ...statusColumns]),
  addUp(longBits, longSpan, names),
  ...recountPurchases(longSpan),
  addUp(longestBits, longSpan, [...names, 'purchases', ...statusColumns]),
]

/** The number of orders that a span is said to have. */
export const rowsOf = ({ edition_id, span }: OrderSpan): SQL<{ n: number }> =>
  sql`select coalesce(sum(${ordersInSpan()}), 0) as n
    from order_counts where span_bits = ${long} and edition_id = ${edition_id} and span = ${span}`
