import type { ExportHeader } from '../export-headers.ts'

/** The header of a public export, in its order and spelling. The cells are invented. */
export interface CollectedHeader extends ExportHeader {
  /** Where the header was found. */
  source: string
}
