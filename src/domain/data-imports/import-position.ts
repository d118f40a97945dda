import type { CopyPosition } from './files/copy.ts'
import type { CopySegment } from './files/format.ts'

export interface CopyStagePosition {
  stage: 'copy'
  copy: CopyPosition
  segments: readonly CopySegment[]
  progress: number
}

export interface RowsPosition {
  stage: 'grouped-rows'
  offset: number
  row: number
  progress: number
}

/** The range of orders whose catalogue entries an undo still has to remove. */
export type CatalogueOrders = readonly [first: number, last: number]

/** Orders with the number `below` or higher are already undone. */
export interface OrdersStagePosition {
  stage: 'orders'
  below: number | null
  /** Editions whose customers the undo may change; null for all of the organisation. */
  changeable: readonly string[] | null
}

/** People of the orders with the number `below` or higher are already undone. */
export interface PeopleStagePosition {
  stage: 'people'
  below: number | null
  changeable: readonly string[] | null
  catalogue: CatalogueOrders | null
}

/** `entry` is the number of catalogue entries of the next order before `below` that are already removed. */
export interface CatalogueStagePosition {
  stage: 'catalogue'
  below: number | null
  from: number
  entry: number
}

/** The phase `import` has no stages. `after` and `progress` are missing before its first step. */
export interface RunPosition {
  stage?: undefined
  /** Editions whose customers the import may change; null for all of the organisation. */
  changeable: readonly string[] | null
  /** Orders up to this number are decided. */
  after?: number
  /** From 0 to 1. */
  progress?: number
}

/** The first step after a cancellation finds a `RunPosition` instead. */
interface CancelPosition {
  stage?: undefined
  cancelled_rows: number
  progress?: undefined
}

interface EmptyPosition {
  stage?: undefined
  progress?: undefined
}

/** A stage belongs to one phase. */
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
  // Phase `undo`.
  | (OrdersStagePosition & { progress?: undefined })
  | (PeopleStagePosition & { progress?: undefined })
  | (CatalogueStagePosition & { progress?: undefined })
