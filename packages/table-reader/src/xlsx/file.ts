import { TableError } from '../faults.ts'
import type { FormatOptions, XlsxFormat } from '../format.ts'
import { findHeader, type Header } from '../header.ts'
import type { LinePosition } from '../lines.ts'
import type { SourceRecord } from '../records.ts'
import type { FileSource } from '../source.ts'
import { createMergeFiller, type FilledRow } from './merges.ts'
import { readSheetRows, type SheetRow } from './sheet.ts'
import { openWorkbook, type Workbook } from './workbook.ts'

const sampleRows = 100

const toRecord = (line: number, cells: string[]): SourceRecord => ({
  cells,
  line,
  lineCount: 1,
  offset: 0,
  length: 0,
  fault: null,
})

const toFilledRecord = ({ number, cells, filledColumns, isHidden }: FilledRow): SourceRecord => ({
  ...toRecord(number, cells),
  filledColumns,
  isHidden,
})

const listOtherSheets = ({ sheetName, sheetNames }: Pick<Workbook, 'sheetName' | 'sheetNames'>): string[] =>
  sheetNames.filter((name) => name !== sheetName)

/** Packed sheets without rows that are read to their end. Very long ones would take long and have no use. */
const maxEmptyBytes = 16_384

/** Reads the first rows of the first sheet that has some. */
async function readSample(file: FileSource, workbook: Workbook): Promise<Workbook & { sample: SheetRow[] }> {
  let emptyBytes = 0
  for (const sheet of [workbook, ...workbook.nextSheets]) {
    if (emptyBytes > maxEmptyBytes) break
    const sample: SheetRow[] = []
    for await (const rows of readSheetRows(file, { ...workbook, ...sheet })) {
      sample.push(...rows.filter(({ cells }) => cells.length > 0))
      if (sample.length >= sampleRows) break
    }
    if (sample.length > 0) return { ...workbook, ...sheet, sample }
    emptyBytes += sheet.sheet.compressedSize
  }
  const otherSheets = listOtherSheets(workbook)
  throw new TableError('empty_file', `The sheet "${workbook.sheetName}" has no rows.`, { otherSheets })
}

function findSheetHeader(
  rows: Parameters<typeof findHeader>[0],
  { hasHeader }: FormatOptions,
  names: Pick<Workbook, 'sheetName' | 'sheetNames'>,
): Header {
  try {
    return findHeader(rows, hasHeader ?? null)
  } catch (error) {
    if (!(error instanceof TableError) || error.code !== 'no_header') throw error
    const { code, message, line } = error
    throw new TableError(code, message, { ...(line === null ? {} : { line }), otherSheets: listOtherSheets(names) })
  }
}

export async function inspectXlsx(file: FileSource, options: FormatOptions): Promise<XlsxFormat> {
  const { sample, sheetName, sheetNames } = await readSample(file, await openWorkbook(file, options.sheet))
  // Sheets omit empty cells at the end of a row.
  const width = Math.max(...sample.map(({ cells }) => cells.length))
  const rows = sample.map(({ number, cells }) => ({
    line: number,
    cells: [...cells, ...Array.from({ length: width - cells.length }, () => '')],
  }))
  const { names, index } = findSheetHeader(rows, options, { sheetName, sheetNames })
  const line = rows[index]?.line
  return {
    kind: 'xlsx',
    sheetName,
    sheetNames,
    names,
    header: line === undefined ? null : { line, offset: 0, length: 0 },
    body: { offset: 0, line: line === undefined ? rows[0]!.line : line + 1 },
  }
}

/** Shared strings make cells much longer than the sheet that names them. */
const maxYieldedText = 1_048_576

/** Rows that the sheet omits become one empty record. */
export async function* readXlsxRecords(
  file: FileSource,
  format: XlsxFormat,
  from: LinePosition,
): AsyncGenerator<SourceRecord[]> {
  let nextNumber = from.line
  const workbook = await openWorkbook(file, format.sheetName)
  const fillMerged = await createMergeFiller(file, workbook.sheet, format.body.line)
  for await (const rows of readSheetRows(file, workbook)) {
    let records: SourceRecord[] = []
    let length = 0
    for (const row of rows) {
      const filledRow = fillMerged(row)
      const { number, cells } = filledRow
      if (number < from.line) continue
      if (number > nextNumber) records.push(toRecord(number - 1, []))
      records.push(toFilledRecord(filledRow))
      nextNumber = number + 1
      length += cells.reduce((sum, cell) => sum + cell.length, 0)
      if (length < maxYieldedText) continue
      yield records
      records = []
      length = 0
    }
    yield records
  }
}
