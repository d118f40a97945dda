import type { CopyPosition } from '../../../domain/data-imports/files/read.ts'
import type { Segment } from '../../../domain/data-imports/files/format.ts'

/** Where the copy of a file goes on. */
export interface CopyStagePosition {
  stage: 'copy'
  copy: CopyPosition
  segments: readonly Segment[]
  progress: number
}

export const isCopyPosition = (position: unknown): position is CopyStagePosition =>
  (position as { stage?: string }).stage === 'copy'
