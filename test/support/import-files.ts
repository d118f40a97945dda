import { cleanCell } from '../../src/domain/data-imports/import-cells.ts'
import { ReadError, type ReadFault } from '../../src/domain/data-imports/files/faults.ts'
import type { IndexedRow } from '../../src/domain/data-imports/files/canonical.ts'
import type { FileFormat, FormatOptions } from '../../src/domain/data-imports/files/format.ts'
import { readCanonicalChunks, inspectFile } from '../../src/domain/data-imports/files/read.ts'
import type { FileSource } from '../../src/domain/data-imports/files/source.ts'

const lastFilled = (cells: readonly string[]): number => cells.findLastIndex((cell) => cell !== '') + 1

/** Returns the cleaned cells, without empty ones at the end. */
export const cleanCells = (cells: readonly string[]): string[] => {
  const clean = cells.map(cleanCell)
  return clean.slice(0, lastFilled(clean))
}

export async function readAll(file: FileSource, format: FileFormat): Promise<{ rows: IndexedRow[]; copy: Uint8Array }> {
  const rows: IndexedRow[] = []
  const parts: Uint8Array[] = []
  for await (const chunk of readCanonicalChunks(file, format)) {
    rows.push(...chunk.rows)
    parts.push(chunk.bytes)
  }
  return { rows, copy: new Uint8Array(await new Blob(parts).arrayBuffer()) }
}

export async function inspectAndRead(file: FileSource, options: FormatOptions = {}) {
  const format = await inspectFile(file, options)
  return { format, ...(await readAll(file, format)) }
}

/** Returns the fault that ends the reading. */
export async function catchFault(reading: Promise<unknown>): Promise<ReadFault> {
  try {
    await reading
  } catch (error) {
    if (error instanceof ReadError) return error.fault
    throw error
  }
  throw new Error('The file was read without a fault.')
}
