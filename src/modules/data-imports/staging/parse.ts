import {
  type Encoding,
  type FileFormat,
  type FileSource,
  type FormatOptions,
  inspectFile,
  TableError,
} from '@ecms/table-reader'
import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import type { Statement } from '../../../db/database.ts'
import { importColumns } from '../../../db/schema/data-imports.ts'
import { insertAll } from '../../../db/write.ts'
import { type ImportOptions, readOptions } from '../../../domain/data-imports/data-imports.ts'
import { getCopyStart } from '../../../domain/data-imports/files/copy.ts'
import { describeFileFault, FileError } from '../../../domain/data-imports/files/faults.ts'
import { AppError } from '../../../domain/errors.ts'
import {
  commitStep,
  failPhase,
  type ImportRow,
  loadActiveImport,
  type PhaseFault,
  type PhaseStep,
} from '../background/steps.ts'
import { suggestMapping } from '../columns/suggest.ts'
import { LostObject, openOriginal } from '../mapping/source.ts'
import { loadReadingPlace, type ReadingPlace } from '../mapping/state.ts'
import { buildCopyRemoval } from '../retention/files.ts'
import { copyStep } from './copy.ts'

const delimiters = { ',': ',', ';': ';', tab: '\t', pipe: '|' } as const

/** Old Polish programs write windows-1250, Western ones windows-1252. */
const listLikelyEncodings = ({ edition_language, edition_country_code }: ReadingPlace): readonly Encoding[] =>
  edition_language === 'pl' || edition_country_code === '+48' ? ['windows-1250', 'iso-8859-2'] : ['windows-1252']

function buildFormatOptions(options: ImportOptions, place: ReadingPlace): FormatOptions {
  const { encoding, delimiter, quotes, has_header, sheet } = options
  return {
    ...(encoding === 'auto' || encoding === 'utf-16' ? {} : { encoding }),
    ...(delimiter === 'auto' ? {} : { delimiter: delimiters[delimiter] }),
    ...(quotes === 'auto' ? {} : { quotes: quotes === 'double' }),
    ...(has_header === null ? {} : { hasHeader: has_header }),
    ...(sheet === null ? {} : { sheet }),
    likelyEncodings: listLikelyEncodings(place),
  }
}

/** The option `utf-16` does not say the byte order, so it is detected from the file. */
async function inspect(file: FileSource, options: ImportOptions, place: ReadingPlace): Promise<FileFormat> {
  const format = await inspectFile(file, buildFormatOptions(options, place))
  const isUndetected = options.encoding === 'utf-16' && format.kind === 'csv' && !format.encoding.startsWith('utf-16')
  return isUndetected ? inspectFile(file, { ...buildFormatOptions(options, place), encoding: 'utf-16le' }) : format
}

/** The user's decision about a column stays while the column has the same name at the same position. */
function buildColumnStatements(job: JobCtx, { id }: ImportRow, names: readonly string[]): Statement[] {
  const isOther = sql`import_columns.source_column <> excluded.source_column or import_columns.is_suggested = 1`
  const keepUnlessOther = (column: string, otherwise: string) =>
    sql`${sql.raw(column)} = case when ${isOther} then ${sql.raw(otherwise)} else import_columns.${sql.raw(column)} end`
  const sets = sql.join(
    [
      keepUnlessOther('target_field', 'null'),
      keepUnlessOther('target_position', '0'),
      keepUnlessOther('is_ignored', '0'),
      keepUnlessOther('confidence', '0'),
      keepUnlessOther('suggested_by', 'null'),
      keepUnlessOther('default_value', 'null'),
      keepUnlessOther('transform', `'{"type":"none"}'`),
      keepUnlessOther('value_map', 'null'),
    ],
    sql`, `,
  )
  const rows = names.map((source_column, source_index) => ({
    import_id: id,
    source_index,
    id: job.newId('import_column'),
    source_column,
  }))
  return [
    sql`delete from import_columns where import_id = ${id} and source_index >= ${names.length}`,
    ...insertAll(importColumns, rows).map(
      (insert) => sql`${insert} on conflict (import_id, source_index) do update set ${sets},
        is_suggested = case when ${isOther} then 0 else import_columns.is_suggested end,
        statistics = '{}', sample_values = '[]', source_column = excluded.source_column`,
    ),
  ]
}

async function inspectStep(job: JobCtx, row: ImportRow, file: FileSource): Promise<ImportRow | null> {
  const place = await loadReadingPlace(job.db, row)
  const format = await inspect(file, readOptions(row.options), place)
  return commitStep(job, row, {
    position: { stage: 'copy', copy: getCopyStart(format), segments: [], progress: 0 },
    changes: { format },
    statements: [
      ...buildColumnStatements(job, row, format.names),
      ...(row.canonical_size === null ? [] : await buildCopyRemoval(job, row.id)),
    ],
  })
}

export const parseStep: PhaseStep = async (job, row) => {
  const { position } = row
  if (position.stage === 'suggest') return suggestMapping(job, row)
  const file = await openOriginal(job, row)
  if (!file) return failReading(job, row, missingFault)
  try {
    return position.stage === 'copy' ? await copyStep(job, row, position, file) : await inspectStep(job, row, file)
  } catch (error) {
    const fault = findFault(error)
    if (!fault) throw error
    return failReading(job, row, fault)
  }
}

/** The step may have stored segments before its fault, so the row is read again. */
async function failReading(job: JobCtx, row: ImportRow, fault: PhaseFault): Promise<null> {
  const presentRow = await loadActiveImport(job, row)
  return presentRow && failPhase(job, presentRow, fault, await buildCopyRemoval(job, row.id))
}

const missingFault = { code: 'unreadable_file', message: 'The file is missing. Upload it again.' }

const storageFault = {
  code: 'storage_full',
  message: 'The storage of the organisation is full. Delete files that you do not need, and read the file again.',
}

/** Returns what stays wrong however often the file is read, or null for an error that may pass. */
function findFault(error: unknown): PhaseFault | null {
  if (error instanceof TableError || error instanceof FileError) return describeFileFault(error)
  if (error instanceof LostObject) return missingFault
  return error instanceof AppError && error.code === 'storage_full' ? storageFault : null
}
