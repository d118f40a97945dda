import { describe, expect, test } from 'vitest'
import { type Bucket, fillBuckets, type Interval } from '../src/pages/campaigns/buckets'

const zone = 'Europe/Copenhagen'
const bucket = (start: string, sent: number): Bucket => ({
  start,
  sent,
  delivered: 0,
  opened: 0,
  clicked: 0,
  bounced: 0,
  unsubscribed: 0,
})

const fill = (buckets: readonly Bucket[], interval: Interval) =>
  fillBuckets(buckets, interval, zone).map(({ start, sent }) => [start, sent] as const)

describe('the buckets of a chart', () => {
  test('have those in which nothing happened', () => {
    const points = fill([bucket('2026-06-01T10:00:00+02:00', 5), bucket('2026-06-01T10:20:00+02:00', 2)], 'minute')
    expect(points).toHaveLength(21)
    expect(points[0]).toEqual(['2026-06-01T10:00', 5])
    expect(points[1]).toEqual(['2026-06-01T10:01', 0])
    expect(points.at(-1)).toEqual(['2026-06-01T10:20', 2])
  })

  test('are enough for a line when everything happened at once', () => {
    expect(fill([], 'minute')).toEqual([])
    expect(fill([bucket('2026-06-01T10:00:00+02:00', 5)], 'minute')).toHaveLength(15)
    expect(fill([bucket('2026-06-01T10:00:00+02:00', 5)], 'hour')).toHaveLength(12)
    expect(fill([bucket('2026-06-01T00:00:00+02:00', 5)], 'day')).toHaveLength(7)
  })

  test('add up the hour that occurs twice, and lose nothing', () => {
    const buckets = [
      bucket('2026-10-25T01:00:00+02:00', 1),
      bucket('2026-10-25T02:00:00+02:00', 2),
      bucket('2026-10-25T02:00:00+01:00', 4),
      bucket('2026-10-25T20:00:00+01:00', 8),
    ]
    const points = fill(buckets, 'hour')
    expect(points.find(([start]) => start === '2026-10-25T02')).toEqual(['2026-10-25T02', 6])
    expect(points.reduce((sum, [, sent]) => sum + sent, 0)).toBe(15)
    expect(new Set(points.map(([start]) => start)).size).toBe(points.length)
  })

  test('have each day once when clocks change', () => {
    const spring = fill([bucket('2026-03-27T00:00:00+01:00', 1), bucket('2026-04-02T00:00:00+02:00', 2)], 'day')
    const autumn = fill([bucket('2026-10-23T00:00:00+02:00', 1), bucket('2026-10-29T00:00:00+01:00', 2)], 'day')
    expect(spring.map(([start]) => start.slice(8))).toEqual(['27', '28', '29', '30', '31', '01', '02'])
    expect(autumn.map(([start]) => start.slice(8))).toEqual(['23', '24', '25', '26', '27', '28', '29'])
    expect(autumn.at(-1)).toEqual(['2026-10-29', 2])
  })
})
