import { fold } from './text/fold.ts'

/** The most variants or options that a request can give a product. */
export const maxParts = 1000
export const maxAliases = 100
export const maxImages = 20

interface StoredPart {
  id: string
  name: string
}

interface RequestedPart {
  id?: string | undefined
  name: string
}

interface PartFault {
  index: number
  field: 'id' | 'name'
  code: 'does_not_exist' | 'duplicate'
}

export interface PartPlan<Stored, Requested> {
  /** The requested parts, each with the stored part that it changes; null for a new one. */
  pairs: { stored: Stored | null; requested: Requested }[]
  removed: Stored[]
  faults: PartFault[]
}

/**
 * Compares the variants or options of a product with the ones that it is to have. An entry without an id is the part
 * with its name, or a new part. Parts that no entry stands for are removed.
 */
export function planParts<Stored extends StoredPart, Requested extends RequestedPart>(
  stored: readonly Stored[],
  requested: readonly Requested[],
): PartPlan<Stored, Requested> {
  const byId = new Map(stored.map((part) => [part.id, part]))
  const byName = new Map(stored.map((part) => [fold(part.name), part]))
  const usedIds = new Set(requested.flatMap(({ id }) => id ?? []))
  const takenIds = new Set<string>()
  const takenNames = new Set<string>()
  const plan: PartPlan<Stored, Requested> = { pairs: [], removed: [], faults: [] }
  for (const [index, part] of requested.entries()) {
    const key = fold(part.name)
    const namesake = byName.get(key)
    const match = part.id === undefined ? (namesake && !usedIds.has(namesake.id) ? namesake : null) : byId.get(part.id)
    if (match === undefined) plan.faults.push({ index, field: 'id', code: 'does_not_exist' })
    else if (match !== null && takenIds.has(match.id)) plan.faults.push({ index, field: 'id', code: 'duplicate' })
    else if (takenNames.has(key)) plan.faults.push({ index, field: 'name', code: 'duplicate' })
    else plan.pairs.push({ stored: match, requested: part })
    takenNames.add(key)
    if (match) takenIds.add(match.id)
  }
  plan.removed = stored.filter(({ id }) => !takenIds.has(id))
  return plan
}
