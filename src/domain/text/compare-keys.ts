type Key = string | number | null

/** As SQL orders texts: by their code points. JavaScript compares units of UTF-16, of which some characters have two. */
function compareTexts(a: string, b: string): number {
  const most = Math.min(a.length, b.length)
  let at = 0
  while (at < most && a.charCodeAt(at) === b.charCodeAt(at)) at++
  return at === most ? a.length - b.length : (a.codePointAt(at) ?? 0) - (b.codePointAt(at) ?? 0)
}

/** As SQL orders values: numbers stand before texts. */
function compareValues(a: Key, b: Key): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1
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
