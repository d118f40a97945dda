type Key = string | number

/** As SQL orders texts: by their code points. JavaScript compares units of UTF-16, of which some characters have two. */
function compareTexts(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)]
  const at = left.findIndex((letter, index) => letter !== right[index])
  if (at === -1) return left.length - right.length
  return (left[at]?.codePointAt(0) ?? 0) - (right[at]?.codePointAt(0) ?? -1)
}

/** As SQL orders values: numbers stand before texts. */
function compareValues(a: Key, b: Key): number {
  if (typeof a === 'number') return typeof b === 'number' ? a - b : -1
  return typeof b === 'number' ? 1 : compareTexts(a, b)
}

/** Compares the keys of two rows of a list, as SQL does; `order` says of each key whether it runs down. */
export function compareKeys(a: readonly Key[], b: readonly Key[], order: readonly { desc: boolean }[]): number {
  for (const [index, { desc }] of order.entries()) {
    const compared = compareValues(a[index] ?? 0, b[index] ?? 0)
    if (compared !== 0) return desc ? -compared : compared
  }
  return 0
}
