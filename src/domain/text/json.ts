/** Number of entries of the longest array or object inside a value, itself included. */
export function longestList(value: unknown): number {
  const waiting = [value]
  let longest = 0
  while (waiting.length) {
    const next = waiting.pop()
    if (typeof next !== 'object' || next === null) continue
    const entries: unknown[] = Object.values(next)
    longest = Math.max(longest, entries.length)
    for (const entry of entries) waiting.push(entry)
  }
  return longest
}

const sortKeys = (_: string, value: unknown): unknown =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value

/** Whether two JSON texts are equal, with their keys in any order. */
export const sameJson = (a: string, b: string): boolean =>
  a === b || JSON.stringify(JSON.parse(a), sortKeys) === JSON.stringify(JSON.parse(b), sortKeys)
