import type { Encoding } from './encoding/names.ts'
import type { Delimiter, OtherMarks } from './split.ts'
import type { LinePosition } from './lines.ts'

export interface FormatOptions {
  encoding?: Encoding
  delimiter?: Delimiter
  quotes?: boolean
  hasHeader?: boolean
  /** The name of a sheet of a workbook. */
  sheet?: string
  /** Encodings that win where the text does not decide. */
  likely?: readonly Encoding[]
}

interface Table {
  /** Two names may be the same, and one may be empty. */
  names: string[]
  /** Null for a file without a header. */
  header: { line: number; offset: number; length: number } | null
}

export interface CsvFormat extends Table {
  kind: 'csv'
  encoding: Encoding
  /** From 0 to 1; 1 for the user's setting. */
  encodingConfidence: number
  /** Cells beyond ASCII as they are read, when the encoding is a doubtful guess. */
  doubtfulTexts?: readonly string[]
  delimiter: Delimiter
  delimiterConfidence: number
  quotes: boolean
  hasBackslashes?: boolean
  isWrapped?: boolean
  marks?: OtherMarks
  hasSeparatorLine: boolean
  lineBreak: '\r\n' | '\n' | '\r'
  /** The length of the byte order mark. */
  markLength: number
  /** Where the rows below the header begin. */
  body: LinePosition
}

export interface XlsxFormat extends Table {
  kind: 'xlsx'
  sheetName: string
  /** The visible sheets, or the first of very many. */
  sheetNames?: readonly string[]
  /** Numbers of rows that are hidden, and that took values of merged cells. Missing until the rows are copied. */
  hiddenRows?: number
  filledRows?: number
  /** Number of the first row below the header. */
  body: LinePosition
}

export type FileFormat = CsvFormat | XlsxFormat

export interface CopySegment {
  key: string
  size: number
}

export type StoredFormat = FileFormat & { segments?: readonly CopySegment[] }
