import { inspectArchive, readArchiveRows } from './archive/archive.ts'
import { isArchiveOfTables } from './archive/entries.ts'
import { readTableRows, type RowBatch, type RowPosition } from './batches.ts'
import { inspectCsv } from './csv-file.ts'
import type { FileFormat, FormatOptions } from './format.ts'
import { detectFileKind } from './sniff.ts'
import type { FileSource } from './source.ts'
import { inspectXlsx } from './xlsx/file.ts'
import { readEntries } from './zip.ts'

/** Detects what the options do not say. Reads only the beginning of the file where that is enough. */
export async function inspectFile(file: FileSource, options: FormatOptions = {}): Promise<FileFormat> {
  if ((await detectFileKind(file)) === 'csv') return inspectCsv(file, options)
  const entries = await readEntries(file)
  return isArchiveOfTables(entries.map(({ name }) => name))
    ? inspectArchive(file, entries, options)
    : inspectXlsx(file, options)
}

/**
 * Reads the rows below the header batch by batch, without empty rows. Memory holds one batch, however long the file is.
 * With the position of a batch, another call goes on behind it.
 */
export const readRows = (
  file: FileSource,
  format: FileFormat,
  from: RowPosition = { ...format.body, isAfterEmptyRow: false },
): AsyncGenerator<RowBatch> =>
  format.kind === 'archive' ? readArchiveRows(file, format, from) : readTableRows(file, format, from)
