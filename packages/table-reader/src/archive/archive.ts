import { cutCells, readTableRows, type RowBatch, type RowPosition, type TableRow } from '../batches.ts'
import { inspectCsv } from '../csv-file.ts'
import { maxColumns, maxLineBytes, TableError } from '../faults.ts'
import type { ArchiveFile, ArchiveFormat, CsvFormat, FormatOptions } from '../format.ts'
import { type LinePosition, readLineBlocks } from '../lines.ts'
import { detectFileKind } from '../sniff.ts'
import type { FileSource } from '../source.ts'
import { buildDamageError, openEntry, type ZipEntry } from '../zip.ts'
import { sortEntries } from './entries.ts'

/** An entry as a file. Every range is unpacked from the beginning of the entry. */
const openTable = (archive: FileSource, entry: ZipEntry): FileSource => ({
  size: entry.size,
  async *stream(offset, length) {
    const end = offset + length
    let at = 0
    for await (const chunk of openEntry(archive, entry, entry.size)) {
      const part = chunk.subarray(Math.max(0, offset - at), Math.max(0, end - at))
      at += chunk.length
      if (part.length > 0) yield part
      // The checksum is compared behind the last chunk.
      if (at >= end && end < entry.size) return
    }
  },
})

/** Says the file in the message of a fault whose line is one of the file. */
function nameFile(error: unknown, { name }: ZipEntry): unknown {
  if (!(error instanceof TableError)) return error
  const { code, message, line, column } = error
  return new TableError(code, `${name}: ${message}`, {
    ...(line === null ? {} : { line }),
    ...(column === null ? {} : { column }),
  })
}

interface Inspection {
  entry: ZipEntry
  format: CsvFormat
  lineCount: number
}

/** Reads the whole file, so that a damaged one is refused before its first row is taken. */
async function countLines(file: FileSource, { encoding }: CsvFormat, { name }: ZipEntry): Promise<number> {
  let lineCount = 0
  let size = 0
  for await (const { starts, bytes } of readLineBlocks(file.stream(0, file.size), encoding, { offset: 0, line: 1 })) {
    lineCount += starts.length
    size += bytes.length
  }
  if (size !== file.size) throw buildDamageError(`${name} is not as long as its directory says`)
  return lineCount
}

async function inspectTable(archive: FileSource, entry: ZipEntry, options: FormatOptions): Promise<Inspection | null> {
  const file = openTable(archive, entry)
  try {
    if ((await detectFileKind(file)) !== 'csv')
      throw new TableError('unreadable_file', 'The file is an archive or a workbook, not a CSV file.')
    const format = await inspectCsv(file, options)
    return { entry, format, lineCount: await countLines(file, format, entry) }
  } catch (error) {
    if (error instanceof TableError && error.code === 'empty_file') return null
    throw nameFile(error, entry)
  }
}

/** Columns of several files are the same if their names are. Equal names of one file are different columns. */
function joinNames(tables: readonly (readonly string[])[]): { names: string[]; columns: number[][] } {
  const names: string[] = []
  const indexes = new Map<string, number>()
  const columns = tables.map((table) => {
    const counts = new Map<string, number>()
    return table.map((name) => {
      const count = counts.get(name) ?? 0
      counts.set(name, count + 1)
      const key = JSON.stringify([name, count])
      const index = indexes.get(key) ?? names.push(name) - 1
      indexes.set(key, index)
      return index
    })
  })
  return { names, columns }
}

function checkNames(names: readonly string[]): void {
  if (names.length > maxColumns)
    throw new TableError(
      'too_many_columns',
      `The files of the archive have ${names.length} different columns. At most ${maxColumns} are possible.`,
    )
  if (names.reduce((sum, { length }) => sum + length, 0) > maxLineBytes)
    throw new TableError('line_too_long', 'The names of the columns in the archive are too long.')
}

const removeNames = ({ names: _, ...format }: CsvFormat): ArchiveFile['format'] => format

export async function inspectArchive(
  archive: FileSource,
  entries: readonly ZipEntry[],
  options: FormatOptions,
): Promise<ArchiveFormat> {
  const { tables, ignoredNames } = sortEntries(entries, archive.size)
  const inspections: Inspection[] = []
  for (const entry of tables) {
    const inspection = await inspectTable(archive, entry, options)
    if (inspection) inspections.push(inspection)
    else ignoredNames.push(entry.name)
  }
  const { names, columns } = joinNames(inspections.map(({ format }) => format.names))
  checkNames(names)
  let [size, firstLine] = [0, 1]
  const files = inspections.map(({ entry, format, lineCount }, index): ArchiveFile => {
    const file = { entry, offset: size, firstLine, columns: columns[index] ?? [], format: removeNames(format) }
    size += entry.size
    firstLine += lineCount
    return file
  })
  const first = files[0]
  if (!first) throw new TableError('empty_file', 'The files of the archive have no rows.')
  const { header, body } = first.format
  return {
    kind: 'archive',
    names,
    header: header && { line: header.line, offset: 0, length: 0 },
    files,
    ignoredNames,
    size,
    body,
  }
}

/** Finds the file of a line of the table, and the line in that file. */
export function findArchivePlace({ files }: ArchiveFormat, line: number): { name: string; line: number } {
  const file = files.findLast(({ firstLine }) => firstLine <= line) ?? files[0]!
  return { name: file.entry.name, line: line - file.firstLine + 1 }
}

const toArchivePosition = <Position extends LinePosition>(
  { offset, firstLine }: ArchiveFile,
  position: Position,
): Position => ({ ...position, offset: position.offset + offset, line: position.line + firstLine - 1 })

/** Puts the cells of a file below the names of the table. Cells beyond the last column of the file stay beyond it. */
function toArchiveRow(row: TableRow, { columns, firstLine }: ArchiveFile, width: number): TableRow {
  const place = (index: number): number => columns[index] ?? width + index - columns.length
  const cells = Array.from({ length: width }, () => '')
  for (const [index, cell] of row.cells.entries()) cells[place(index)] = cell
  return {
    ...row,
    cells: cutCells(cells),
    fault: row.fault && { ...row.fault, column: place(row.fault.column - 1) + 1 },
    line: row.line + firstLine - 1,
    offset: 0,
    length: 0,
  }
}

const getFirstPosition = (file: ArchiveFile): RowPosition => ({
  ...toArchivePosition(file, file.format.body),
  isAfterEmptyRow: false,
})

/** The end of a file is the position of the next one, whose rows begin below its header. */
function getStart(file: ArchiveFile, from: RowPosition): RowPosition {
  const { body } = file.format
  const offset = from.offset - file.offset
  return offset <= body.offset
    ? { ...body, isAfterEmptyRow: false }
    : { ...from, offset, line: from.line - file.firstLine + 1 }
}

async function* readFileRows(
  archive: FileSource,
  { names }: ArchiveFormat,
  file: ArchiveFile,
  from: RowPosition,
): AsyncGenerator<RowBatch> {
  const format = { ...file.format, names: file.columns.map((column) => names[column] ?? '') }
  try {
    for await (const { rows, next, isLast } of readTableRows(
      openTable(archive, file.entry),
      format,
      getStart(file, from),
    ))
      yield {
        rows: rows.map((row) => toArchiveRow(row, file, names.length)),
        next: toArchivePosition(file, next),
        isLast,
      }
  } catch (error) {
    throw nameFile(error, file.entry)
  }
}

export async function* readArchiveRows(
  archive: FileSource,
  format: ArchiveFormat,
  from: RowPosition,
): AsyncGenerator<RowBatch> {
  const files = format.files.slice(format.files.findLastIndex(({ offset }) => offset <= from.offset))
  for (const [index, file] of files.entries()) {
    const nextFile = files[index + 1]
    for await (const batch of readFileRows(archive, format, file, index === 0 ? from : getFirstPosition(file)))
      yield batch.isLast && nextFile ? { ...batch, next: getFirstPosition(nextFile), isLast: false } : batch
  }
}
