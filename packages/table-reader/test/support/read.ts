import {
  cleanCell,
  type FileFormat,
  type FileSource,
  type FormatOptions,
  inspectFile,
  readRows,
  TableError,
  type TableRow,
} from '../../src/index.ts'

const lastFilled = (cells: readonly string[]): number => cells.findLastIndex((cell) => cell !== '') + 1

/** Returns the cleaned cells, without empty ones at the end. */
export const cleanCells = (cells: readonly string[]): string[] => {
  const clean = cells.map(cleanCell)
  return clean.slice(0, lastFilled(clean))
}

export async function readAll(file: FileSource, format: FileFormat): Promise<TableRow[]> {
  const rows: TableRow[] = []
  for await (const batch of readRows(file, format)) rows.push(...batch.rows)
  return rows
}

export async function inspectAndRead(file: FileSource, options: FormatOptions = {}) {
  const format = await inspectFile(file, options)
  return { format, rows: await readAll(file, format) }
}

/** Returns the fault that ends the reading. */
export async function catchFault(reading: Promise<unknown>): Promise<TableError> {
  try {
    await reading
  } catch (error) {
    if (error instanceof TableError) return error
    throw error
  }
  throw new Error('The file was read without a fault.')
}
