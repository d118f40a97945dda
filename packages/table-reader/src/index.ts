// Opening: a file is anything whose parts can be read.
export { type FileSource, openBytes, readBytes } from './source.ts'

// Detecting: encoding, delimiter, quotation marks, sheet and header.
export { inspectFile } from './read.ts'
export type { ArchiveFormat, CsvFormat, FileFormat, FormatOptions, XlsxFormat } from './format.ts'

// Reading: rows of text with their lines, from any position on.
export { readRows } from './read.ts'
export type { RowBatch, RowPosition, TableRow } from './batches.ts'
export type { RowKind } from './rows.ts'
export { cleanCell } from './cells.ts'

// Lines of an archive: in which of its files is this one?
export { findArchivePlace } from './archive/archive.ts'

// Faults say why a file or a row cannot be read.
export { maxColumns, type RowFault, TableError, type TableFaultCode } from './faults.ts'

// Text in the encodings of files.
export {
  encodings,
  type Encoding,
  decodeText,
  getByteOrderMark,
  showUndecodable,
  undecodable,
} from './encoding/names.ts'
export { encodeText } from './encoding/encode.ts'

// CSV that is in memory already.
export { parseCsv, readCsvRange, type CsvRecord } from './csv-text.ts'
export { delimiters, type Delimiter, type Dialect, otherQuotationMarks, type OtherQuotationMarks } from './split.ts'

// Uploads: is this a text, a table, or an archive of tables?
export { findForeignEntry, isArchiveOfTables } from './archive/entries.ts'
export { readTextHead } from './encoding/detect.ts'
export { hasColumns } from './dialect.ts'
