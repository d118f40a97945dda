import data from './date-words.json' with { type: 'json' }

const minuteMs = 60_000

export const monthNumbers: ReadonlyMap<string, number> = new Map(
  data.months.flatMap((names, index) => names.map((name) => [name, index + 1] as const)),
)

export const weekdays: ReadonlySet<string> = new Set(data.weekdays)

/** Offsets from UTC in hours, by the name of the zone that follows a time. */
const zones: Readonly<Record<string, number>> = data.zones

/** Reads the offset of a folded text such as `z`, `+0100`, `utc+2` or `cest`, in milliseconds. */
export function readOffset(text: string): number | null {
  const hours = Object.hasOwn(zones, text) ? zones[text] : undefined
  if (hours !== undefined) return hours * 60 * minuteMs
  const match = /^(?:utc|gmt)?([+-])(\d{1,2})(?::?(\d{2}))?$/.exec(text)
  if (!match) return null
  const [hour, minute] = [Number(match[2]), Number(match[3] ?? 0)]
  return hour > 14 || minute > 59 ? null : (match[1] === '-' ? -1 : 1) * (hour * 60 + minute) * minuteMs
}
