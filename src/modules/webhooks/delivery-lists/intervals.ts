import { sql } from 'drizzle-orm'
import type { Database } from '../../../db/database.ts'
import type { IntervalList } from '../../../db/lists/intervals/interval-list.ts'
import { settledAfterMs } from '../../../db/lists/spans/spanned-list.ts'
import { deliveryStatuses, type EventKind, eventKindNames } from '../../../domain/webhooks/webhooks.ts'
import { createdAt, deliverySpans, rangesOfKinds } from './spans.ts'
import { areLate, soonMs } from './last-changed.ts'

const byCreation = { index: sql`webhook_deliveries_of_endpoint`, ranges: rangesOfKinds }

/** In an interval that ends behind the settled deliveries of a kind, the order of keys would lead to all others, too. */
function ofKind(name: EventKind) {
  const kind = sql.raw(`'${name}'`)
  const begin = sql`(select case when value < ${kind} then -1 when value = ${kind} then created_at else x'ff' end from this)`
  const end = sql`(select case when value < ${kind} then -1 when value = ${kind} then created_at else x'ff' end from next)`
  return {
    index: byCreation.index,
    where: sql`webhook_deliveries.kind = ${kind}`,
    between: sql`${createdAt} >= ${begin} and ${createdAt} <= min(${end}, part.until)`,
  }
}

/**
 * Deliveries of endpoints, by status and by the edition of the event. They are settled by the moment of their creation, when almost all have ended. No index
 * has all of them in the order of their last changes: those that are not late stand within minutes of their creation.
 */
export const deliveryIntervals = {
  name: 'delivery_intervals',
  table: sql`webhook_deliveries`,
  intervals: sql`delivery_intervals`,
  orderings: {
    modified: {
      ...byCreation,
      name: 'modified',
      value: sql`webhook_deliveries.modified_at`,
      least: -1,
      without: ['created_at'],
      where: sql`1`,
      divided: [
        { index: sql`webhook_deliveries_late`, where: areLate },
        {
          ...byCreation,
          where: sql`not (${areLate})`,
          between: sql`${createdAt} >= (select value from this) - ${sql.raw(String(soonMs))}
            and ${createdAt} <= min((select value from next), part.until)`,
        },
      ],
    },
    name: {
      index: byCreation.index,
      name: 'name',
      value: sql`webhook_deliveries.kind`,
      least: '',
      where: sql`1`,
      divided: eventKindNames.map(ofKind),
    },
  },
  keys: [
    { name: 'created_at', column: createdAt, least: -1 },
    { name: 'id', column: sql`webhook_deliveries.id`, least: '' },
  ],
  partsOf: (scope) => sql`select ${scope} as id, ${scope} as key`,
  part: sql`webhook_deliveries.endpoint_id`,
  settled: { ...byCreation, at: createdAt },
  settledAfterMs,
  facets: [
    sql`webhook_deliveries.status`,
    sql`coalesce((select edition_id from webhook_events where webhook_events.id = webhook_deliveries.event_id), '-')`,
  ],
  counts: deliveryStatuses.map((status) => ({ name: status, facets: [status] })),
  combinations: 'of_editions',
} satisfies IntervalList

/** The next endpoints that have many deliveries, as their spans count them. */
export const endpointsWithMany = async (
  db: Database,
  { from, most, fewest }: { from: string; most: number; fewest: number },
): Promise<string[]> =>
  (
    await db.all(sql<{ scope: string }>`select scope from list_spans
      where list = ${deliverySpans.name} and scope >= ${from} group by scope having sum(total) >= ${fewest}
      order by scope limit ${most}`)
  ).map(({ scope }) => scope)
