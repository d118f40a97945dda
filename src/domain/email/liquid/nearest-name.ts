import { templateVariables } from './variables.ts'

function distance(one: string, other: string): number {
  let previous = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [at, letter] of [...one].entries()) {
    const row = [at + 1]
    for (const [index, candidate] of [...other].entries())
      row.push(
        Math.min(
          (row[index] ?? 0) + 1,
          (previous[index + 1] ?? 0) + 1,
          (previous[index] ?? 0) + Number(letter !== candidate),
        ),
      )
    previous = row
  }
  return previous.at(-1) ?? 0
}

const maxNameLength = 60

/** A suggestion: the most similar known name, or the loop that a name needs, or null. */
export function nearestName(written: string): string | null {
  if (written.length > maxNameLength) return null
  const last = written.split('.').at(-1) ?? written
  const candidates = templateVariables
    .flatMap(({ variables }) => variables)
    .map((one) => {
      const sameField = one.variable.split('.').at(-1) === last ? 2 : Number.POSITIVE_INFINITY
      return { one, far: Math.min(distance(written, one.variable), sameField) }
    })
    .toSorted((a, b) => a.far - b.far)
  const [best] = candidates
  if (!best || best.far > Math.max(3, written.length / 3)) return null
  return best.far === 0 ? (best.one.loop ?? null) : best.one.variable
}
