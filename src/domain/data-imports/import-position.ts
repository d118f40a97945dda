import type { Segment } from './files/format.ts'
import type { CopyPosition } from './files/read.ts'

/** The file is being copied. */
export interface CopyStagePosition {
  stage: 'copy'
  copy: CopyPosition
  segments: readonly Segment[]
  progress: number
}

export interface RowsPosition {
  stage: 'grouped-rows'
  offset: number
  /** Rows that are staged, with their orders. */
  row: number
  progress: number
}

/** The first and the last order of which an undo still has entries of the catalogue. */
export type CatalogueOrders = readonly [first: number, last: number]

/** The people of orders from `below` on are undone. */
export interface PeopleStagePosition {
  stage: 'people'
  below: number | null
  /** Among the orders whose people are undone. */
  catalogue: CatalogueOrders | null
}

/** An entry of the catalogue that belongs to an order below `below`, by its number among the entries of that order. */
export interface CatalogueStagePosition {
  stage: 'catalogue'
  below: number | null
  /** The number of the last order to look at. */
  from: number
  entry: number
}

/** The phase `import` has no stages. Before its first step the position lacks `after` and `progress`. */
export interface RunPosition {
  stage?: undefined
  /** Editions whose customers the import may change; null for all of the organisation. */
  changeable: readonly string[] | null
  /** Orders up to this number are decided. */
  after?: number
  /** From 0 to 1. */
  progress?: number
}

/** The rows up to this one are decided. The first step after a cancellation finds a `RunPosition`. */
interface CancelPosition {
  stage?: undefined
  cancelled_rows: number
  progress?: undefined
}

/** The beginning of a phase, and every import without background work. */
interface EmptyPosition {
  stage?: undefined
  progress?: undefined
}

/** Where the background work of an import continues. A stage belongs to one phase. */
export type ImportPosition =
  | EmptyPosition
  // Phase `parse`.
  | CopyStagePosition
  | { stage: 'suggest'; progress: number }
  // Phase `stage`.
  | { stage: 'clear'; count: number; progress: number }
  | RowsPosition
  | { stage: 'products'; progress: number }
  // Phase `import`.
  | RunPosition
  | CancelPosition
  // Phase `undo`. `below` is the number of the last order that was undone.
  | { stage: 'orders'; below: number | null; progress?: undefined }
  | (PeopleStagePosition & { progress?: undefined })
  | (CatalogueStagePosition & { progress?: undefined })
