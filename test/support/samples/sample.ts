import type { Person, World } from '../world.ts'

/**
 * An id in the path of a request, or in the query of a read: `foreign` is the like of it in organisation B, `sibling`
 * the like of it in edition 2 of A.
 */
export interface Reference {
  in: 'path' | 'query'
  name: string
  foreign: string
  sibling?: string
  /** A filter that is refused unless the sample's other filters stand beside it. */
  narrows?: boolean
  /** What it names is looked up: an id that finds nothing is refused. */
  refuses?: boolean
}

/** A request that succeeds for every caller whose role allows the operation. */
export interface Sample {
  path?: Record<string, string>
  query?: Record<string, string>
  body?: Record<string, unknown>
  /** Of an operation whose body is a file. */
  file?: { bytes: Uint8Array<ArrayBuffer>; headers: Record<string, string> }
  references?: Reference[]
}

export interface SampleOf {
  /** Fresh at each call: what it changes or removes is used by no other request. */
  make: (world: World, caller: Person) => Sample | Promise<Sample>
  /** Fields of the body whose items are judged one by one: their faults are in the answer and do not refuse it. */
  itemwise?: readonly string[]
  /** For lists: adds that many rows to what an admin of A sees with the sample, some with equal sort keys. */
  fill?: (world: World, count: number) => Promise<unknown>
  /** For lists: the value that an item is ordered by, where it is not the item's field of that name. */
  sortValue?: Record<string, (item: Record<string, unknown>) => unknown>
}

/** Makes something once in each world: what many samples refer to, and no request changes. */
export function onceInWorld<Made>(makeIn: (world: World) => Made): (world: World) => Made {
  const known = new WeakMap<World, { made: Made }>()
  return (world) => {
    const { made } = known.get(world) ?? { made: makeIn(world) }
    known.set(world, { made })
    return made
  }
}

export const pathId = (name: string, foreign: string, sibling?: string): Reference => ({
  in: 'path',
  name,
  foreign,
  ...(sibling ? { sibling } : {}),
})

export const queryId = (name: string, foreign: string, sibling?: string): Reference => ({
  in: 'query',
  name,
  foreign,
  ...(sibling ? { sibling } : {}),
})
