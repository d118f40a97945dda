import { fold } from './text/fold.ts'

/** The most variants or options that a request can give a product. */
export const maxParts = 1000
export const maxAliases = 100
export const maxImages = 20

interface Part {
  id: string
  name: string
}

interface PartInput {
  id?: string | undefined
  name: string
}

interface PartFault {
  index: number
  field: 'id' | 'name'
  code: 'does_not_exist' | 'duplicate'
}

interface PartPlan<P, Input> {
  /** The entries, each with the part that it changes; null for a new one. */
  pairs: { part: P | null; input: Input }[]
  removals: P[]
  faults: PartFault[]
}

/**
 * Compares the variants or options of a product with the ones that it is to have. An entry without an id is the part
 * with its name, or a new part. Parts that no entry stands for are removed.
 */
export function planParts<P extends Part, Input extends PartInput>(
  parts: readonly P[],
  inputs: readonly Input[],
): PartPlan<P, Input> {
  const byId = new Map(parts.map((part) => [part.id, part]))
  const byName = new Map(parts.map((part) => [fold(part.name), part]))
  const usedIds = new Set(inputs.flatMap(({ id }) => id ?? []))
  const takenIds = new Set<string>()
  const takenNames = new Set<string>()
  const plan: PartPlan<P, Input> = { pairs: [], removals: [], faults: [] }
  for (const [index, input] of inputs.entries()) {
    const key = fold(input.name)
    const namesake = byName.get(key)
    const match =
      input.id === undefined ? (namesake && !usedIds.has(namesake.id) ? namesake : null) : byId.get(input.id)
    if (match === undefined) plan.faults.push({ index, field: 'id', code: 'does_not_exist' })
    else if (match !== null && takenIds.has(match.id)) plan.faults.push({ index, field: 'id', code: 'duplicate' })
    else if (takenNames.has(key)) plan.faults.push({ index, field: 'name', code: 'duplicate' })
    else plan.pairs.push({ part: match, input })
    takenNames.add(key)
    if (match) takenIds.add(match.id)
  }
  plan.removals = parts.filter(({ id }) => !takenIds.has(id))
  return plan
}
