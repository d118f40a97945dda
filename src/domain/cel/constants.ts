import { parseDuration, type Milliseconds, parseTimestamp } from './instants.ts'
import { type Constant, type LiteralExpression, type SourceRange, Refusal, type Type } from './types.ts'

const minInt = -(2n ** 63n)
const maxInt = 2n ** 63n - 1n

const literal = (value: Constant, type: Type, range: SourceRange): LiteralExpression => ({
  node: 'literal',
  value,
  type,
  nullable: false,
  start: range.start,
  end: range.end,
})

export function buildConstant(value: unknown, range: SourceRange, isNegated = false): LiteralExpression {
  if (value === null) return literal(null, 'null', range)
  switch (typeof value) {
    case 'boolean':
      return literal(value, 'bool', range)
    case 'number':
      return literal(isNegated ? -value : value, 'double', range)
    case 'bigint': {
      const int = isNegated ? -value : value
      if (int < minInt || int > maxInt)
        throw new Refusal('integer_out_of_range', 'Whole numbers must fit into 64 bits.', range)
      return literal(int, 'int', range)
    }
    case 'string':
      // SQLite ends a text at U+0000, and half a surrogate pair cannot be stored as UTF-8.
      if (value.includes('\0') || !value.isWellFormed())
        throw new Refusal('invalid_string', 'A text cannot contain U+0000 or half of a surrogate pair.', range)
      return literal(value, 'string', range)
    default:
      throw new Refusal('unsupported', 'Bytes and unsigned numbers are not supported.', range)
  }
}

const problems: Record<Exclude<Milliseconds, bigint>, string> = {
  invalid: 'is not valid',
  too_precise: 'is more precise than a millisecond',
  out_of_range: 'is out of range',
}

const suggestTimestamp = (text: string): string =>
  `Write it as ${typeof parseTimestamp(`${text}T00:00:00Z`) === 'bigint' ? `${text}T00:00:00Z` : '2026-06-01T08:00:00Z'}.`

const suggestDuration = (text: string): string => {
  const days = /^(\d{1,5}) ?(?:d|days?)$/.exec(text)?.[1]
  return days ? `Write days as hours: ${Number(days) * 24}h.` : 'Write it as 72h, 90m or 1h30m.'
}

/** Reads `timestamp("…")` or `duration("…")` into a literal of milliseconds. */
export function parseInstant(
  type: 'timestamp' | 'duration',
  text: LiteralExpression,
  range: SourceRange,
): LiteralExpression {
  const ms = (type === 'timestamp' ? parseTimestamp : parseDuration)(String(text.value))
  if (typeof ms === 'bigint') return literal(ms, type, range)
  const suggestion = (type === 'timestamp' ? suggestTimestamp : suggestDuration)(String(text.value))
  throw new Refusal(`invalid_${type}`, `This ${type} ${problems[ms]}. ${suggestion}`, text)
}
