import { dayMs, minuteMs } from '../time/instants.ts'
import { formatOffset, listOffsets } from '../time/time-zones.ts'

export const timelineIntervals = ['minute', 'hour', 'day'] as const
export type TimelineInterval = (typeof timelineIntervals)[number]

/** The counters that a timeline splits by time. */
export const timelineNames = ['sent', 'delivered', 'opened', 'clicked', 'bounced', 'unsubscribed'] as const
export type TimelineName = (typeof timelineNames)[number]

export const isTimelineName = (name: string): name is TimelineName => timelineNames.some((one) => one === name)

export const maxTimelineBuckets = 2000

export interface TimelineQuery {
  timezone: string
  interval: TimelineInterval
  /** Only minutes from this instant on count. */
  from: number | null
  /** Only minutes before this instant count. */
  to: number | null
}

export interface TimelineBucket extends Record<TimelineName, number> {
  /** The beginning in local time, with the offset. */
  start: string
}

/** `is_complete` is false when the timeline has too many buckets, of which it then has none. */
export interface Timeline {
  is_complete: boolean
  buckets: TimelineBucket[]
}

export const toMinute = (at: number): number => Math.max(0, Math.floor(at / minuteMs))

export const intervalMinutes: Record<TimelineInterval, number> = { minute: 1, hour: 60, day: 1440 }

/** A time in which a zone has one offset, in minutes. `to` is the first minute after it. */
export interface MinuteSpan {
  from: number
  to: number
  offset: number
}

/** Clocks are asked for no time after this one, because every week of the time takes a look at them. */
const latestMinute = Date.UTC(2100, 0, 1) / minuteMs
const [firstMinute, lastMinute] = [-1e9, 1e15]

/** Lists the offsets of a zone at all times, of which those between two minutes are exact. */
export function listMinuteSpans(timezone: string, first: number, last: number): MinuteSpan[] {
  const from = Math.min(first, latestMinute) * minuteMs - 2 * dayMs
  const to = Math.min(last, latestMinute) * minuteMs + 2 * dayMs
  const spans = listOffsets(timezone, from, to)
  return spans.map((span, index) => ({
    from: index === 0 ? firstMinute : Math.ceil(span.from / minuteMs),
    to: index === spans.length - 1 ? lastMinute : Math.ceil(span.to / minuteMs),
    offset: Math.round(span.offset / minuteMs),
  }))
}

/**
 * Formats the beginning of a bucket: the first minute of these spans whose local time is in it. Where clocks change, that
 * is not always a full hour.
 */
export function formatBucketStart(spans: readonly MinuteSpan[], bucket: number, interval: TimelineInterval): string {
  const size = intervalMinutes[interval]
  const starts = spans.flatMap(({ from, to, offset }) => {
    const minute = Math.max(from, bucket * size - offset)
    return minute < Math.min(to, (bucket + 1) * size - offset) ? [{ minute, offset }] : []
  })
  const start = starts.toSorted((a, b) => a.minute - b.minute)[0]
  if (!start) throw new Error('no span has the bucket')
  const local = new Date((start.minute + start.offset) * minuteMs).toISOString().slice(0, 19)
  return local + formatOffset(start.offset * minuteMs)
}
