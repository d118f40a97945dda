import { type SQL, sql } from 'drizzle-orm'
import { keyOf, numberOf } from './interval-columns.ts'
import type { IntervalList } from './interval-list.ts'
import { intervalSizes } from './settle-intervals.ts'
import { type Interval, intervalColumns, recountInterval, valuesOfKey } from './write-intervals.ts'

interface CountedInterval extends Interval {
  /** Where it stands among all. */
  place: string
  total: number
}

/** The next interval behind a place, with the number of its rows. */
export function nextInterval(list: IntervalList, place: string): SQL<CountedInterval> {
  const behind = sql`(${place} ->> '$[0]', ${place} ->> '$[1]', ${valuesOfKey(list, place, 2)})`
  return sql<CountedInterval>`select ${intervalColumns(list)}, json_array(scope, ordering, ${keyOf(list)}) as place,
      ${numberOf(list)} as total
    from ${list.intervals}
    ${place ? sql`where (scope, ordering, ${keyOf(list)}) > ${behind}` : sql``}
    order by scope, ordering, ${keyOf(list)} limit 1`
}

/**
 * Counts an interval anew. The first statement answers it where it was wrong. Another divides it where it has too many
 * rows, as a sweep would have done that was interrupted.
 */
export const recountOfInterval = (
  list: IntervalList,
  interval: CountedInterval,
): [SQL<{ ordering: string }>, ...SQL[]] => [
  recountInterval(list, interval, 2 ** 52),
  ...(interval.total > 2 * intervalSizes.rows ? [recountInterval(list, interval, intervalSizes.rows)] : []),
]
