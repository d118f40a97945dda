import { UsageError } from './errors.ts'

const msByUnit: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Reads a duration before now, such as `2h`, or a time with its offset. */
export function parseSince(text: string): string {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  const ms = count === undefined ? Date.parse(text) : Date.now() - Number(count) * (msByUnit[unit] ?? 0)
  if (Number.isNaN(ms)) throw new UsageError(`--since ${text} has to be such as 30m, 2h, 1d or 2026-06-01T10:00:00Z.`)
  return new Date(ms).toISOString()
}
