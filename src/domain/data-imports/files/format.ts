import type { Encoding } from './encoding/names.ts'
import type { Delimiter } from './split.ts'
import type { LinePosition } from './lines.ts'

/** What the user says about a file; what is left out is found in the file. */
export interface FormatOptions {
  encoding?: Encoding
  delimiter?: Delimiter
  quotes?: boolean
  hasHeader?: boolean
  /** Encodings that win where the text says nothing else. */
  likely?: readonly Encoding[]
}

interface Table {
  /** Names of the columns; two may be the same, and one may be empty. */
  names: string[]
  /** Where the names stand; null where the file has none. */
  header: { line: number; offset: number; length: number } | null
}

export interface CsvFormat extends Table {
  kind: 'csv'
  encoding: Encoding
  /** 0 to 1; 1 where the user said it. */
  encodingConfidence: number
  delimiter: Delimiter
  delimiterConfidence: number
  quotes: boolean
  hasSeparatorLine: boolean
  lineBreak: '\r\n' | '\n' | '\r'
  /** Of the byte order mark. */
  markLength: number
  /** Where the rows below the header begin. */
  body: LinePosition
}

export interface XlsxFormat extends Table {
  kind: 'xlsx'
  sheetName: string
  /** Number of the first row below the header. */
  body: LinePosition
}

/** Plain data, to be stored beside the file. */
export type FileFormat = CsvFormat | XlsxFormat

/** A part of the canonical copy. */
export interface Segment {
  key: string
  size: number
}

/** How the file of an import is read, with the parts of its canonical copy once they are stored. */
export type StoredFormat = FileFormat & { segments?: readonly Segment[] }
