const sortKeys = (_: string, value: unknown): unknown =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value

/** Whether two JSON texts say the same: the order of keys says nothing. */
export const sameJson = (a: string, b: string): boolean =>
  a === b || JSON.stringify(JSON.parse(a), sortKeys) === JSON.stringify(JSON.parse(b), sortKeys)
