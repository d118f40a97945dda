/** The number of changed letters that turn one text into the other. */
export function countEdits(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let at = 1; at <= one.length; at++) {
    const next = [at]
    for (let to = 1; to <= other.length; to++) {
      const swapped = (row[to - 1] ?? 0) + (one[at - 1] === other[to - 1] ? 0 : 1)
      next.push(Math.min(swapped, (row[to] ?? 0) + 1, (next[to - 1] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}

const shortestBeginning = 3
/** The distance of a completed text: more than one wrong letter, less than two. */
const distanceOfBeginning = 1.5

/** Whether `text` is the beginning of `known`, or `known` at least the first half of `text`. */
const beginsAlike = (text: string, known: string): boolean =>
  Math.min(text.length, known.length) >= shortestBeginning &&
  (known.startsWith(text) || (text.startsWith(known) && known.length * 2 >= text.length))

const distanceOf = (text: string, known: string): number => {
  if (isSwapOf(text, known)) return 1
  const distance = countEdits(text, known)
  return beginsAlike(text, known) ? Math.min(distance, distanceOfBeginning) : distance
}

/** Whether the only fault is two swapped neighbours, as in `emial`. */
function isSwapOf(one: string, other: string): boolean {
  const at = Array.from({ length: one.length }, (_, index) => index).findIndex((index) => one[index] !== other[index])
  const swapped = one.slice(0, at) + (one[at + 1] ?? '') + (one[at] ?? '') + one.slice(at + 2)
  return at >= 0 && swapped === other
}

/** The candidate most similar to `text`, or null when none is similar. */
export function findNearest<Candidate>(
  text: string,
  candidates: readonly Candidate[],
  namesOf: (candidate: Candidate) => readonly string[],
): Candidate | null {
  const wanted = text.trim().toLowerCase()
  if (wanted === '') return null
  let best: Candidate | null = null
  // A third of the letters may be wrong.
  let least = Math.floor(wanted.length / 3) + 1
  for (const candidate of candidates)
    for (const name of namesOf(candidate)) {
      const known = name.toLowerCase()
      const distance = distanceOf(wanted, known)
      if (distance < least) {
        best = candidate
        least = distance
      }
    }
  return best
}

const longestName = 64

/** The name that may be meant, for texts that could be a name. */
export const findNearestName = (text: string, names: readonly string[]): string | null =>
  text.length > longestName ? null : findNearest(text, names, (name) => [name])
