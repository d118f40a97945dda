import { type FileFormat, type FileSource, type FormatOptions, inspectFile, TableError } from '@ecms/table-reader'
import type { IndexedRow } from '../../src/domain/data-imports/files/canonical.ts'
import { readCanonicalChunks } from '../../src/domain/data-imports/files/copy.ts'
import { describeFileFault, type FileFault, FileError } from '../../src/domain/data-imports/files/faults.ts'

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

/** Returns the fault with which an import fails. */
export async function catchFault(reading: Promise<unknown>): Promise<FileFault> {
  try {
    await reading
  } catch (error) {
    if (error instanceof TableError || error instanceof FileError) return describeFileFault(error)
    throw error
  }
  throw new Error('The file was read without a fault.')
}
