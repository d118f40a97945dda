/** Sorting these texts takes some 10 ms on an idle machine. */
const texts = Array.from({ length: 20_000 }, (_, index) => String((index * 7919) % 20_011))

/** Measures a fixed piece of work in milliseconds. Times of tests are compared with it, because machines differ. */
export function measureFloor(): number {
  const started = performance.now()
  texts.toSorted((a, b) => a.localeCompare(b))
  return performance.now() - started
}
