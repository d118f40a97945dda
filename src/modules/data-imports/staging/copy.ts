import type { FileFormat, FileSource, XlsxFormat } from '@ecms/table-reader'
import { asc, eq, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import type { Statement } from '../../../db/database.ts'
import { importColumns } from '../../../db/schema/data-imports.ts'
import { select } from '../../../db/select.ts'
import { splitIntoParameters } from '../../../db/write.ts'
import { type CanonicalChunk, readCanonicalChunks, type CopyPosition } from '../../../domain/data-imports/files/copy.ts'
import { buildSheetHint, FileError } from '../../../domain/data-imports/files/faults.ts'
import type { CopySegment, StoredFormat } from '../../../domain/data-imports/files/format.ts'
import type { CopyStagePosition } from '../../../domain/data-imports/import-position.ts'
import { ColumnCounter, type ColumnStatistics, mergeStatistics } from '../../../domain/data-imports/mapping/index.ts'
import { countBytes } from '../../files/index.ts'
import { commitStep, type ImportRow } from '../background/steps.ts'
import { getFormat, storeSegment } from '../mapping/source.ts'
import { getStatistics } from '../mapping/state.ts'

/** A part of this size is stored: it is in memory, and is read again after a crash. */
const segmentBytes = 1_048_576
/**
 * A step lasts this long from the first row that it adds. A step on a workbook or an archive lasts longer, because it
 * has to read all earlier rows first.
 */
const copyMs = { csv: 8_000, xlsx: 20_000, archive: 20_000 }

/** The bytes that a step has copied so far. */
interface CopyState {
  file: FileSource
  /** The statistics of each column. Null: its cells were not counted yet. */
  statistics: (ColumnStatistics | null)[]
  segments: readonly CopySegment[]
}

/** A segment of the copy that is being built. It counts cells at once, so only their bytes stay in memory. */
class SegmentBuilder {
  readonly bytes: Uint8Array<ArrayBuffer>[] = []
  readonly #counters: ColumnCounter[]
  size = 0

  constructor({ names, kind }: FileFormat) {
    this.#counters = names.map(() => new ColumnCounter(kind === 'xlsx'))
  }

  add({ bytes, rows }: CanonicalChunk): void {
    this.bytes.push(bytes)
    this.size += bytes.byteLength
    for (const { cells, kind, fault } of rows) {
      if (kind !== 'data' || fault) continue
      for (const [index, counter] of this.#counters.entries()) counter.add(cells[index] ?? '')
    }
  }

  get statistics(): ColumnStatistics[] {
    return this.#counters.map((counter) => counter.statistics)
  }
}

const buildStatisticsStatements = (id: string, statistics: readonly ColumnStatistics[]): Statement[] =>
  splitIntoParameters(
    statistics.map((one, index) => JSON.stringify([id, index, JSON.stringify(one), JSON.stringify(one.samples)])),
  ).map(
    (part) => sql`update import_columns set statistics = part.statistics, sample_values = part.samples
      from (select value ->> 0 as import_id, value ->> 1 as source_index, value ->> 2 as statistics, value ->> 3 as samples
        from json_each(${`[${part.join(',')}]`})) as part
      where import_columns.import_id = part.import_id and import_columns.source_index = part.source_index`,
  )

async function loadStatistics(job: JobCtx, { id }: ImportRow): Promise<CopyState['statistics']> {
  const rows = await job.db.all(
    select({ statistics: importColumns.statistics })
      .from(importColumns)
      .where(eq(importColumns.import_id, id))
      .orderBy(asc(importColumns.source_index)),
  )
  return rows.map(getStatistics)
}

function getCopyProgress({ source }: CopyPosition, format: FileFormat, file: FileSource): number {
  const { size } = format.kind === 'archive' ? format : file
  return size === 0 ? 0 : Math.min(0.99, source.offset / size)
}

function buildEmptyFileError(format: FileFormat): FileError {
  const [subject, hint] =
    format.kind === 'xlsx'
      ? [`The sheet "${format.sheetName}"`, buildSheetHint(listOtherSheets(format))]
      : ['The file', '']
  return new FileError(
    'empty_file',
    `${subject} has a header but no rows.${hint || ' Choose the file with the orders.'}`,
  )
}

const listOtherSheets = ({ sheetName, sheetNames }: XlsxFormat): string[] =>
  sheetNames.filter((name) => name !== sheetName)

const completeFormat = (
  format: FileFormat,
  { hiddenRows, filledRows }: CopyPosition,
  segments: readonly CopySegment[],
): StoredFormat => ({ ...format, ...(format.kind === 'xlsx' ? { hiddenRows, filledRows } : {}), segments })

/** Stores the segment and commits the position behind it. Returns null when another consumer was faster. */
async function commitCopy(
  job: JobCtx,
  row: ImportRow,
  { part, next: position, isLast }: { part: SegmentBuilder; next: CopyPosition; isLast: boolean },
  state: CopyState,
): Promise<ImportRow | null> {
  const isEmpty = part.size === 0
  if (isLast && isEmpty && state.segments.length === 0) throw buildEmptyFileError(getFormat(row))
  const segment: CopySegment | null = isEmpty ? null : await storeSegment(job, row.id, part.bytes)
  const segments = segment ? [...state.segments, segment] : state.segments
  const format = getFormat(row)
  const statistics = part.statistics.map((one, index) => {
    const before = state.statistics[index]
    return before ? mergeStatistics(before, one) : one
  })
  state.statistics = statistics
  state.segments = segments
  const size = segments.reduce((sum, one) => sum + one.size, 0)
  const after = await commitStep(job, row, {
    position: isLast
      ? { stage: 'suggest', progress: 0.99 }
      : { stage: 'copy', copy: position, segments, progress: getCopyProgress(position, format, state.file) },
    changes: {
      total_rows: position.rowCount,
      canonical_size: size,
      ...(isLast ? { format: completeFormat(format, position, segments) } : {}),
    },
    statements: [
      ...buildStatisticsStatements(row.id, statistics),
      ...(segment ? [countBytes(row.organization_id, segment.size)] : []),
    ],
  })
  if (after === null && segment) await job.files.delete([segment.key])
  return after
}

export async function copyStep(
  job: JobCtx,
  row: ImportRow,
  { copy, segments }: CopyStagePosition,
  file: FileSource,
): Promise<ImportRow | null> {
  const format = getFormat(row)
  let endsAt: number | null = null
  const state: CopyState = { statistics: await loadStatistics(job, row), segments, file }
  let currentRow: ImportRow = row
  let part = new SegmentBuilder(format)
  for await (const chunk of readCanonicalChunks(file, format, copy)) {
    endsAt ??= job.now() + copyMs[format.kind]
    part.add(chunk)
    const { next, isLast } = chunk
    if (part.size < segmentBytes && !isLast) continue
    const after = await commitCopy(job, currentRow, { part, next, isLast }, state)
    if (after === null || isLast || job.now() >= endsAt) return after
    currentRow = after
    part = new SegmentBuilder(format)
  }
  throw new Error('The copy of a file ended without its last part.')
}
