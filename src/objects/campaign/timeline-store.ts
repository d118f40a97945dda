import {
  formatBucketStart,
  intervalMinutes,
  listMinuteSpans,
  maxTimelineBuckets,
  type Timeline,
  type TimelineName,
  timelineNames,
  type TimelineQuery,
  toMinute,
} from '../../domain/campaigns/timeline.ts'
import { minuteMs } from '../../domain/time/instants.ts'

type MinuteCounts = Record<TimelineName, number>

/** What is added to the counts of each minute. */
export type MinuteChanges = Map<number, MinuteCounts>

const buildZeros = (): MinuteCounts => ({ sent: 0, delivered: 0, opened: 0, clicked: 0, bounced: 0, unsubscribed: 0 })

export function addToMinute(changes: MinuteChanges, at: number, name: TimelineName, by: number): void {
  const minute = toMinute(at)
  const counts = changes.get(minute) ?? buildZeros()
  counts[name] += by
  changes.set(minute, counts)
}

/** Counts what is reported for an earlier time than before at that time alone. */
export function moveToMinute(
  changes: MinuteChanges,
  name: TimelineName,
  before: number | null,
  at: number | null,
): void {
  if (before !== null) addToMinute(changes, before, name, -1)
  if (at !== null) addToMinute(changes, at, name, 1)
}

const columns = timelineNames.join(', ')

/** True for a row in which something happened. */
const isUsed = timelineNames.map((name) => `${name} > 0`).join(' or ')

interface Limits extends Record<string, SqlStorageValue> {
  first: number | null
  last: number | null
}

/** The numbers of recipients by the minute in which something happened to their messages. */
export class TimelineStore {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  add(changes: MinuteChanges): void {
    const rows = [...changes].filter(([, counts]) => timelineNames.some((name) => counts[name] !== 0))
    if (rows.length === 0) return
    const values = rows.map(([minute, counts]) => [minute, ...timelineNames.map((name) => counts[name])])
    this.#sql.exec(
      `insert into minutes (minute, ${columns})
       select value ->> 0, ${timelineNames.map((_, index) => `value ->> ${index + 1}`).join(', ')}
       from json_each(?) where true
       on conflict (minute) do update set ${timelineNames.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')}`,
      JSON.stringify(values),
    )
  }

  /** Local days end and begin anew where clocks change; an hour that occurs twice is two buckets. */
  read({ timezone, interval, from, to }: TimelineQuery): Timeline {
    const bounds = [
      from === null ? 0 : toMinute(from),
      to === null ? Number.MAX_SAFE_INTEGER : Math.ceil(to / minuteMs),
    ]
    const { first, last } = this.#sql
      .exec<Limits>(
        'select min(minute) as first, max(minute) as last from minutes where minute >= ? and minute < ?',
        ...bounds,
      )
      .one()
    if (first === null || last === null) return { is_complete: true, buckets: [] }
    const spans = listMinuteSpans(timezone, first, last)
    const size = intervalMinutes[interval]
    const rows = this.#sql
      .exec<MinuteCounts & { span: number | null; bucket: number }>(
        `select ${interval === 'day' ? 'null' : 'spans.key'} as span,
          (minute + (spans.value ->> 'offset')) / ${size} as bucket,
          ${timelineNames.map((name) => `sum(${name}) as ${name}`).join(', ')}
         from json_each(?) as spans cross join minutes
           on minute >= spans.value ->> 'from' and minute < spans.value ->> 'to'
         where minute >= ? and minute < ? and (${isUsed})
         group by 1, 2 order by min(minute) limit ?`,
        JSON.stringify(spans),
        ...bounds,
        maxTimelineBuckets + 1,
      )
      .toArray()
    if (rows.length > maxTimelineBuckets) return { is_complete: false, buckets: [] }
    const buckets = rows.map(({ span, bucket, ...counts }) => ({
      start: formatBucketStart(span === null ? spans : spans.slice(span, span + 1), bucket, interval),
      ...counts,
    }))
    return { is_complete: true, buckets }
  }
}
