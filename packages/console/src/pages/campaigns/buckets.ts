import type { Schema } from '../../api'
import { toLocal } from '../../parts/days'

export type Interval = Schema['CampaignTimeline']['interval']
export type Bucket = Schema['CampaignTimeline']['buckets'][number]
/** `start` is local time of the edition, such as `2026-06-01T10:00`. */
export type Point = Omit<Bucket, 'start'> & { start: string }

const lengths: Record<Interval, { ms: number; characters: number; minimum: number }> = {
  minute: { ms: 60_000, characters: 16, minimum: 15 },
  hour: { ms: 3_600_000, characters: 13, minimum: 12 },
  day: { ms: 86_400_000, characters: 10, minimum: 7 },
}

const noCounts = { sent: 0, delivered: 0, opened: 0, clicked: 0, bounced: 0, unsubscribed: 0 }
const counts = Object.keys(noCounts) as (keyof typeof noCounts)[]

/** Adds the buckets in which nothing happened, which the API leaves out. The two hours of one name when clocks change are added up. */
export function fillBuckets(buckets: readonly Bucket[], interval: Interval, timeZone: string): Point[] {
  const [first, last] = [buckets[0], buckets.at(-1)]
  if (!first || !last) return []
  const { ms, characters, minimum } = lengths[interval]
  const points = new Map<string, Point>()
  const start = new Date(first.start).getTime()
  const end = Math.max(new Date(last.start).getTime(), start + (minimum - 1) * ms)
  // A day can have 23 or 25 hours, so its middle says which one it is.
  const middle = interval === 'day' ? ms / 2 : 0
  for (let at = start; at <= end; at += ms) {
    const name = toLocal(new Date(at + middle).toISOString(), timeZone).slice(0, characters)
    points.set(name, { start: name, ...noCounts })
  }
  for (const bucket of buckets) {
    const name = bucket.start.slice(0, characters)
    const point = points.get(name) ?? { start: name, ...noCounts }
    for (const count of counts) point[count] += bucket[count]
    points.set(name, point)
  }
  return [...points.values()].toSorted((one, other) => one.start.localeCompare(other.start))
}
