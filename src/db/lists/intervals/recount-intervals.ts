import { type SQL, sql } from 'drizzle-orm'
import { keyOf, namesOfKey, numberOf } from './interval-columns.ts'
import type { IntervalList } from './interval-list.ts'
import { intervalSizes } from './settle-intervals.ts'
import {
  type Interval,
  intervalColumns,
  type KnownCounts,
  recountInterval,
  type StoredCounts,
  storedCountsOf,
  valuesOfKey,
} from './write-intervals.ts'

interface CountedInterval extends Interval {
  /** Where it stands among all, as a JSON array. It is stored, and in the log. */
  place: string
  total: number
}

/** The value of a key that a place does not say: the row whose key it is has it. The first of all where that row has gone. */
function foundValue({ keys, orderings, table }: IntervalList, place: string, key: readonly SQL[]): SQL {
  const row = sql`${keys.at(-1)?.column} = ${key.at(-1)}`
  const found = Object.values(orderings).map(
    ({ name, value, least }) => sql`when ${sql.raw(`'${name}'`)}
      then coalesce((select ${value ?? sql`0`} from ${table} where ${row}), ${least})`,
  )
  return sql`case ${place} ->> '$[1]' ${sql.join(found, sql` `)} end`
}

/** The next interval behind a place, with the number of its rows. */
export function nextInterval(list: IntervalList, place: string): SQL<CountedInterval> {
  const [value, ...keys] = valuesOfKey(list, place, 2)
  const begin = list.arePersonal && place ? foundValue(list, place, keys) : value
  const behind = sql`(${place} ->> '$[0]', ${place} ->> '$[1]', ${sql.join([begin, ...keys], sql`, `)})`
  const [, ...others] = namesOfKey(list)
  const shown = list.arePersonal ? sql.raw(['null', ...others].join(', ')) : keyOf(list)
  return sql<CountedInterval>`select ${intervalColumns(list)}, json_array(scope, ordering, ${shown}) as place,
      ${numberOf(list)} as total
    from ${list.intervals}
    ${place ? sql`where (scope, ordering, ${keyOf(list)}) > ${behind}` : sql``}
    order by scope, ordering, ${keyOf(list)} limit 1`
}

/**
 * Counts an interval anew. The first statement answers what it has, and the second what it should have where that was wrong.
 * Another divides it where it has too many rows, as a sweep would have done that was interrupted.
 */
export const recountOfInterval = (
  list: IntervalList,
  interval: CountedInterval,
): [SQL<KnownCounts>, SQL<StoredCounts>, ...SQL[]] => [
  storedCountsOf(list, interval),
  recountInterval(list, interval),
  ...(interval.total > 2 * intervalSizes.rows ? [recountInterval(list, interval, { size: intervalSizes.rows })] : []),
]
