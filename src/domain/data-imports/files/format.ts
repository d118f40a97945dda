import type { Encoding } from './encoding/names.ts'
import type { Delimiter } from './split.ts'
import type { LinePosition } from './lines.ts'

/** The user's settings for a file; the others are detected. */
export interface FormatOptions {
  encoding?: Encoding
  delimiter?: Delimiter
  quotes?: boolean
  hasHeader?: boolean
  /** Preferred encodings for texts that do not decide. */
  likely?: readonly Encoding[]
}

interface Table {
  /** Names of the columns; two may be the same, and one may be empty. */
  names: string[]
  /** The place of the names; null for a file without them. */
  header: { line: number; offset: number; length: number } | null
}

export interface CsvFormat extends Table {
  kind: 'csv'
  encoding: Encoding
  /** From 0 to 1; 1 for the user's setting. */
  encodingConfidence: number
  delimiter: Delimiter
  delimiterConfidence: number
  quotes: boolean
  hasSeparatorLine: boolean
  lineBreak: '\r\n' | '\n' | '\r'
  /** The length of the byte order mark. */
  markLength: number
  /** The offset of the rows below the header. */
  body: LinePosition
}

export interface XlsxFormat extends Table {
  kind: 'xlsx'
  sheetName: string
  /** Number of the first row below the header. */
  body: LinePosition
}

/** Plain data, stored with the import. */
export type FileFormat = CsvFormat | XlsxFormat

/** A part of the canonical copy. */
export interface Segment {
  key: string
  size: number
}

/** How the file of an import is read, with the parts of its canonical copy once they are stored. */
export type StoredFormat = FileFormat & { segments?: readonly Segment[] }
