import { type SQL, sql } from 'drizzle-orm'
import { ordersInSpan } from '../counts/spans.ts'
import { keyNames } from './interval-orderings.ts'
import { type Interval, recountInterval } from './write-intervals.ts'

/** The place of an interval among all. */
export const keyOfInterval = ({ scope, ordering, value, created_at, seq }: Interval): string =>
  JSON.stringify([scope, ordering, value, created_at, seq])

/** The next interval behind a key, with the number of its orders. */
export function nextInterval(key: string): SQL<Interval & { total: number }> {
  const parts = ['$[0]', '$[1]', '$[2]', '$[3]', '$[4]'].map((path) => sql`${key} ->> ${path}`)
  return sql<
    Interval & { total: number }
  >`select scope, ordering, ${keyNames}, ${ordersInSpan()} as total from order_intervals
    ${key ? sql`where (scope, ordering, ${keyNames}) > (${sql.join(parts, sql`, `)})` : sql``}
    order by scope, ordering, ${keyNames} limit 1`
}

/**
 * Counts an interval anew. The first statement answers it where it was wrong. Another divides it where it has too many
 * orders, as a sweep would have done that was interrupted.
 */
export const recountOfInterval = (interval: Interval & { total: number }, size: number): [SQL<Interval>, ...SQL[]] => [
  recountInterval(interval, 2 ** 52),
  ...(interval.total > 2 * size ? [recountInterval(interval, size)] : []),
]
