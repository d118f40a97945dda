// Opening: a file is anything whose parts can be read.
export { type FileSource, openBytes, readBytes } from './source.ts'

// Detecting: encoding, delimiter, quotation marks, sheet and header.
export { inspectFile } from './read.ts'
export type { CsvFormat, FileFormat, FormatOptions, XlsxFormat } from './format.ts'

// Reading: rows of text with their lines, from any position on.
export { readRows, type RowBatch, type RowPosition, type TableRow } from './read.ts'
export type { RowKind } from './rows.ts'
export { cleanCell } from './cells.ts'

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

// Uploads: is this a text, and a table?
export { readTextHead } from './encoding/detect.ts'
export { hasColumns } from './dialect.ts'
