import { countEdits } from '../../text/nearest.ts'
import { templateVariables } from './variables.ts'

const maxNameLength = 60

const getLastPart = (name: string): string => name.split('.').at(-1) ?? name

/** Suggests the most similar variable, or the loop that a variable needs. Returns null when no variable is similar. */
export function suggestVariable(name: string): string | null {
  if (name.length > maxNameLength) return null
  const candidates = templateVariables
    .flatMap(({ variables }) => variables)
    .map(({ variable, loop }) => {
      const fieldDistance = getLastPart(variable) === getLastPart(name) ? 2 : Number.POSITIVE_INFINITY
      return { variable, loop, distance: Math.min(countEdits(name, variable), fieldDistance) }
    })
    .toSorted((a, b) => a.distance - b.distance)
  const [bestCandidate] = candidates
  if (!bestCandidate || bestCandidate.distance > Math.max(3, name.length / 3)) return null
  return bestCandidate.distance === 0 ? (bestCandidate.loop ?? null) : bestCandidate.variable
}
