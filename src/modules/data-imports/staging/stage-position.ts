/** The position at which the staging of rows continues. */
export interface RowsPosition {
  stage: 'rows'
  offset: number
  /** Rows that are staged. */
  row: number
  progress: number
}

export type StagePosition =
  | { stage: 'clear'; count: number; progress: number }
  | RowsPosition
  | { stage: 'group'; after: string; progress: number }
  | { stage: 'products'; progress: number }
