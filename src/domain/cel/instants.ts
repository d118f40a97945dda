const day = 86_400_000n
export const timestampRange = { from: -62_135_596_800_000n, to: 253_402_300_799_999n } as const
/** CEL durations are 64-bit numbers of nanoseconds. */
export const durationRange = { from: -9_223_372_036_854n, to: 9_223_372_036_854n } as const

const maxCharacters = 100

export type Milliseconds = bigint | 'invalid' | 'too_precise' | 'out_of_range'

const timestampPattern =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/

/** Reads RFC 3339 into milliseconds since 1970. */
export function parseTimestamp(text: string): Milliseconds {
  if (text.length > maxCharacters) return 'invalid'
  const match = timestampPattern.exec(text)
  if (!match) return 'invalid'
  const [, year, month, date, hour, minute, second, fraction = '', sign, offsetHours = '0', offsetMinutes = '0'] = match
  const at = new Date(0)
  at.setUTCFullYear(Number(year), Number(month) - 1, Number(date))
  if (at.getUTCMonth() !== Number(month) - 1 || at.getUTCDate() !== Number(date)) return 'invalid'
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return 'invalid'
  if (Number(offsetHours) > 23 || Number(offsetMinutes) > 59) return 'invalid'
  if (/[1-9]/.test(fraction.slice(3))) return 'too_precise'
  const offset = (BigInt(offsetHours) * 60n + BigInt(offsetMinutes)) * (sign === '-' ? -60_000n : 60_000n)
  const time = ((BigInt(Number(hour)) * 60n + BigInt(Number(minute))) * 60n + BigInt(Number(second))) * 1000n
  const ms = BigInt(at.getTime()) + time + BigInt(fraction.slice(0, 3).padEnd(3, '0')) - offset
  return ms < timestampRange.from || ms > timestampRange.to ? 'out_of_range' : ms
}

const units: Record<string, bigint> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: (day / 24n) * 1_000_000n,
}

/** Reads Go's notation, such as `72h`, `1h30m` or `-1.5s`, into milliseconds. */
export function parseDuration(text: string): Milliseconds {
  if (text.length > maxCharacters) return 'invalid'
  if (/^[-+]?0$/.test(text)) return 0n
  const match = /^([-+]?)((?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h))+)$/.exec(text)
  if (!match) return 'invalid'
  let nanoseconds = 0n
  for (const [, number = '', unit = ''] of (match[2] ?? '').matchAll(/(?<![\d.])([\d.]+)([a-zµ]+)/g)) {
    const [integer = '', fraction = ''] = number.split('.')
    const factor = units[unit] ?? 0n
    nanoseconds += BigInt(integer || '0') * factor + (BigInt(fraction || '0') * factor) / 10n ** BigInt(fraction.length)
  }
  if (nanoseconds % 1_000_000n !== 0n) return 'too_precise'
  const ms = (match[1] === '-' ? -nanoseconds : nanoseconds) / 1_000_000n
  return ms < durationRange.from || ms > durationRange.to ? 'out_of_range' : ms
}
