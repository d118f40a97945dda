import { type FileSource, readBytes } from '@ecms/table-reader'
import { and, asc, eq, getTableColumns, gt, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { importRows } from '../../../db/schema/data-imports.ts'
import { select } from '../../../db/select.ts'
import { type CanonicalRow, readCanonical } from '../../../domain/data-imports/files/canonical.ts'
import { writeReportHeader, writeReportRow } from '../../../domain/data-imports/files/report.ts'
import { AppError } from '../../../domain/errors.ts'
import type { StagedRow } from '../background/staged.ts'
import { openCanonical, getFormat, openOriginal } from '../mapping/source.ts'
import { type LoadedImport, buildDeletedError } from '../queries.ts'
import { toProblems } from './rows.ts'

const rowsPerPage = 200
/** Ranges within this length are read together. A longer row is read alone. */
const windowBytes = 1_048_576

interface ByteRange {
  offset: number
  length: number
}

/** Reads ranges, which are in ascending order. Ranges that are near each other are read together. */
async function readRanges(source: FileSource, ranges: readonly ByteRange[]): Promise<Uint8Array<ArrayBuffer>[]> {
  const parts: Uint8Array<ArrayBuffer>[] = []
  let window = { offset: 0, bytes: new Uint8Array() }
  for (const [index, { offset, length }] of ranges.entries()) {
    const isInWindow = offset >= window.offset && offset + length <= window.offset + window.bytes.length
    if (!isInWindow) {
      const lastNear = ranges.slice(index).findLast((other) => other.offset + other.length <= offset + windowBytes)
      const end = Math.max(offset + length, lastNear ? lastNear.offset + lastNear.length : 0)
      window = { offset, bytes: await readBytes(source, offset, end - offset) }
    }
    parts.push(window.bytes.subarray(offset - window.offset, offset - window.offset + length))
  }
  return parts
}

const selectFaultyRows = (id: string, after: number) =>
  select(getTableColumns(importRows))
    .from(importRows)
    .where(and(eq(importRows.import_id, id), gt(importRows.row_number, after), sql`errors <> '[]'`))
    .orderBy(asc(importRows.row_number))
    .limit(rowsPerPage)

async function readCanonicalRows(source: FileSource, rows: readonly StagedRow[]): Promise<CanonicalRow[]> {
  const ranges = rows.map(({ byte_offset, byte_length }) => ({ offset: byte_offset, length: byte_length }))
  const bytes = await readRanges(source, ranges)
  return bytes.flatMap((part, index) => readCanonical(part, ranges[index]?.offset ?? 0, true).slice(0, 1))
}

async function* streamReport(ctx: Ctx, row: LoadedImport): AsyncGenerator<Uint8Array, void> {
  const format = getFormat(row)
  const [canonical, original] = [openCanonical(ctx, format), await openOriginal(ctx, row)]
  const isText = format.kind === 'csv' && original !== null
  const { header } = format
  yield writeReportHeader(format, isText && header ? await readBytes(original, header.offset, header.length) : null)
  for (let after = 0; ;) {
    const rows = await ctx.db.all(selectFaultyRows(row.id, after))
    const last = rows.at(-1)
    if (!last) return
    const cells = await readCanonicalRows(canonical, rows)
    const ranges = cells.map(({ sourceOffset, sourceLength }) => ({ offset: sourceOffset, length: sourceLength }))
    const raw = isText ? await readRanges(original, ranges) : []
    for (const [index, { file_line, errors }] of rows.entries())
      yield writeReportRow(format, {
        line: file_line,
        errors: toProblems(errors, file_line).map(({ message }) => message),
        cells: cells[index]?.cells ?? [],
        raw: raw[index] ?? null,
        fault: cells[index]?.fault ?? null,
      })
    after = last.row_number
  }
}

export function downloadErrorReport(ctx: Ctx, row: LoadedImport) {
  if (row.files_deleted_at !== null || row.rows_deleted_at !== null)
    throw buildDeletedError('The file of this import was deleted.')
  if (row.format === null) throw new AppError('invalid_transition', 'The file of this import has not been read yet.')
  const format = getFormat(row)
  const charset = format.kind === 'csv' ? format.encoding : 'utf-8'
  return {
    name: `${row.id}-errors.csv`,
    headers: { 'content-type': `text/csv; charset=${charset}` },
    open: async () => streamReport(ctx, row),
  }
}
