import type { CopyPosition } from '../../../domain/data-imports/files/read.ts'
import type { Segment } from '../../../domain/data-imports/files/format.ts'

/** The position at which the copying of a file continues. */
export interface CopyStagePosition {
  stage: 'copy'
  copy: CopyPosition
  segments: readonly Segment[]
  progress: number
}

export const isCopyPosition = (position: unknown): position is CopyStagePosition =>
  (position as { stage?: string }).stage === 'copy'
