import type { Place } from '../seeding/rows.ts'
import type { Person, World } from '../world.ts'

/**
 * An id in the path of a request, or in the query of a read. `foreign` is a similar id of organisation B, and `sibling`
 * one of edition 2 of A.
 */
export interface Reference {
  in: 'path' | 'query'
  name: string
  foreign: string
  sibling?: string
  /** A filter that is refused unless the sample's other filters are sent with it. */
  narrows?: boolean
  /** The resource is looked up, so an unknown id is refused. */
  refuses?: boolean
}

/** A request that succeeds for every caller whose role allows the operation. */
export interface Sample {
  path?: Record<string, string>
  query?: Record<string, string>
  body?: Record<string, unknown>
  /** The file that is the body of the operation. */
  file?: { bytes: Uint8Array<ArrayBuffer>; headers: Record<string, string> }
  references?: Reference[]
}

export interface SampleOf {
  /** A new sample at each call: no other request uses what it changes or removes. */
  make: (world: World, caller: Person) => Sample | Promise<Sample>
  /** Fields of the body whose items are judged one by one: their faults are in the answer and do not refuse it. */
  itemwise?: readonly string[]
  /** For lists: adds this many rows to those that an admin of A sees, some with equal sort keys. */
  fill?: (world: World, count: number) => Promise<unknown>
  /** For lists: the value by which an item is sorted, when it is not the item's field of that name. */
  sortValue?: Record<string, (item: Record<string, unknown>) => unknown>
}

/** Makes something once in each world that many samples refer to and no request changes. */
export function makeOnce<Made>(makeIn: (world: World) => Made): (world: World) => Made {
  const resources = new WeakMap<World, { made: Made }>()
  return (world) => {
    const { made: resource } = resources.get(world) ?? { made: makeIn(world) }
    resources.set(world, { made: resource })
    return resource
  }
}

export const buildPathId = (name: string, foreign: string, sibling?: string): Reference => ({
  in: 'path',
  name,
  foreign,
  ...(sibling ? { sibling } : {}),
})

export const buildQueryId = (name: string, foreign: string, sibling?: string): Reference => ({
  in: 'query',
  name,
  foreign,
  ...(sibling ? { sibling } : {}),
})

/** The first edition of organisation A, in which edition roles are. */
export const getFirstPlace = ({ a }: World): Place => ({ organization: a.id, edition: a.editions[0].id })

export const getSiblingPlace = ({ a }: World): Place => ({ organization: a.id, edition: a.editions[1].id })

export const getForeignPlace = ({ b }: World): Place => ({ organization: b.id, edition: b.editions[0].id })
