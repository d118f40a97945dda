import type { FileFormat } from '@ecms/table-reader'

/** An object of the store with a part of the canonical copy. */
export interface CopySegment {
  key: string
  size: number
}

export type StoredFormat = FileFormat & {
  segments?: readonly CopySegment[]
  /** Numbers of rows that are hidden, and that took values of merged cells. Only a workbook that is copied has them. */
  hiddenRows?: number
  filledRows?: number
}
