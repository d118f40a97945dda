export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const isList = (value: unknown): value is unknown[] => Array.isArray(value)

export const isNumbers = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'number')

/** Parses JSON. Throws if the text is not JSON or its value does not have the expected form. */
export function readJson<Value>(text: string, isExpected: (value: unknown) => value is Value): Value {
  const value: unknown = JSON.parse(text)
  if (isExpected(value)) return value
  throw new Error(`This JSON does not pass ${isExpected.name}.`)
}

const sortKeys = (_: string, value: unknown): unknown =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value

/** Compares two JSON texts. The order of keys does not matter. */
export const isSameJson = (a: string, b: string): boolean =>
  a === b || JSON.stringify(JSON.parse(a), sortKeys) === JSON.stringify(JSON.parse(b), sortKeys)

/** The size of a JSON object that a client may store. */
export const maxJsonBytes = 16_384
