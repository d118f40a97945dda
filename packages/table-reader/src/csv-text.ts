import { findLineStarts } from './lines.ts'
import { RecordReader } from './records.ts'
import { type Dialect, splitRecords } from './split.ts'

/** Splits a whole text into rows of cells, as leniently as a file is read. */
export const parseCsv = (text: string, dialect: Dialect): string[][] => splitRecords(text, dialect).records

export interface CsvRecord {
  cells: string[]
  /** The range of its bytes. */
  offset: number
  length: number
}

const standardFormat = { encoding: 'utf-8', delimiter: ',', quotes: true, width: null } as const

/**
 * Reads the whole records of a range of a CSV file in UTF-8 with commas, such as one that your own program wrote. The
 * range begins with a record. What follows its last whole record has to be read again with the next range.
 * @param offset of the range in the file
 * @param isLast true if the range reaches the end of the file
 */
export function readCsvRange(bytes: Uint8Array, offset: number, isLast: boolean): CsvRecord[] {
  const { starts, end } = findLineStarts(bytes, isLast, standardFormat.encoding)
  return new RecordReader(standardFormat).read({ bytes: bytes.subarray(0, end), starts, offset, line: 1, isLast })
}
