import type { Encoding } from './encoding/names.ts'
import type { LinePosition } from './lines.ts'
import type { Delimiter, Dialect } from './split.ts'
import type { ZipEntry } from './zip.ts'

/** The settings that the caller knows. The reader detects the others. */
export interface FormatOptions {
  encoding?: Encoding
  delimiter?: Delimiter
  /** False if quotation marks are ordinary characters. */
  quotes?: boolean
  hasHeader?: boolean
  /** The name of a sheet of a workbook. Otherwise the first visible sheet with rows is read. */
  sheet?: string
  /** Encodings that win where the text does not decide, such as those of the owner's country. */
  likelyEncodings?: readonly Encoding[]
}

interface Table {
  /** The names of the columns. Two may be the same, and one may be empty. */
  names: string[]
  /** The place of the header: its line, and its bytes in a CSV file. Null for a file without a header. */
  header: { line: number; offset: number; length: number } | null
}

export interface CsvFormat extends Table, Dialect {
  kind: 'csv'
  encoding: Encoding
  /** From 0 to 1. It is 1 for a setting of the caller. */
  encodingConfidence: number
  /** Cells beyond ASCII as they are read, if the encoding is a doubtful guess. */
  doubtfulTexts?: readonly string[]
  /** From 0 to 1. It is 1 for a setting of the caller. */
  delimiterConfidence: number
  /** True if the file begins with a line such as `sep=;`. */
  hasSeparatorLine: boolean
  lineBreak: '\r\n' | '\n' | '\r'
  /** The length of the byte order mark. */
  markLength: number
  /** The position at which the rows below the header begin. */
  body: LinePosition
}

export interface XlsxFormat extends Table {
  kind: 'xlsx'
  sheetName: string
  /** The visible sheets, or the first of very many. */
  sheetNames: readonly string[]
  /** The line is the number of the first row below the header. */
  body: LinePosition
}

/** A CSV file of an archive. */
export interface ArchiveFile {
  entry: ZipEntry
  /** The first byte and the first line, from 1, if the files stood one behind the other. */
  offset: number
  firstLine: number
  /** The columns of the table that its columns are, from 0. */
  columns: readonly number[]
  format: Omit<CsvFormat, 'names'>
}

/** The CSV files of an archive as one table. Its names are those of all files. */
export interface ArchiveFormat extends Table {
  kind: 'archive'
  files: readonly ArchiveFile[]
  /** Entries that are no tables. */
  ignoredNames: readonly string[]
  /** The unpacked bytes of the files. */
  size: number
  body: LinePosition
}

export type FileFormat = CsvFormat | XlsxFormat | ArchiveFormat
