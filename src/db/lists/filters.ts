/**
 * What is left of the filters of a list where a function has named them all:
 * `const { status, type, ...unnamed } = filters`, and `unnamed satisfies NoFilters`. A filter that is added to the list is a
 * compile error there, until somebody says what the function does with it.
 */
export type NoFilters = Record<string, never>

/** The names and values of all filters that have a value, sorted by name: equal filters have equal pairs. */
export const sortedFilters = (filters: object): unknown =>
  Object.entries(filters)
    .filter(([, value]) => value !== undefined)
    .toSorted()
