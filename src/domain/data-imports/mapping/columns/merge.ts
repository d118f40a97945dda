/** The first different texts of two lists, in their order. */
export const keepFirst = (one: readonly string[], other: readonly string[], most: number): readonly string[] =>
  one.length >= most || other.every((text) => one.includes(text))
    ? one
    : [...new Set([...one, ...other])].slice(0, most)
