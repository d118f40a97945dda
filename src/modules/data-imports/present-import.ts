import type { ArchiveFormat, CsvFormat } from '@ecms/table-reader'
import type { z } from '@hono/zod-openapi'
import type { Ctx } from '../../context.ts'
import {
  listImportActions,
  type DataImportStatus,
  endedStatuses,
  getImportProgress,
  readOptions,
} from '../../domain/data-imports/data-imports.ts'
import type { StoredFormat } from '../../domain/data-imports/files/format.ts'
import { toIso, toIsoOrNull } from '../../domain/time/instants.ts'
import { presentEditionSummary } from '../editions/index.ts'
import { presentOrganizationSummary } from '../organizations/index.ts'
import type { DataImport, FormatWarning } from './import-contract.ts'
import { type ImportDetailRow, mayReadFile } from './queries.ts'

const endedStatusSet: ReadonlySet<DataImportStatus> = new Set(endedStatuses)

const hasReport = (row: ImportDetailRow): boolean =>
  endedStatusSet.has(row.status) &&
  row.file_id !== null &&
  row.files_deleted_at === null &&
  row.invalid_rows + row.failed_orders > 0

const countNames = [
  'total_rows',
  'valid_rows',
  'invalid_rows',
  'processed_rows',
  'total_orders',
  'created_orders',
  'updated_orders',
  'skipped_orders',
  'failed_orders',
  'undone_orders',
  'kept_orders',
  'shared_customer_orders',
] as const

const pickCounts = (row: ImportDetailRow) =>
  Object.fromEntries(countNames.map((name) => [name, row[name]])) as Record<(typeof countNames)[number], number>

const delimiterNames = { ',': ',', ';': ';', '\t': 'tab', '|': 'pipe' } as const

const countRows = (count: number, singular: string, plural: string): string =>
  count === 1 ? `1 row ${singular}` : `${count} rows ${plural}`

/** Lists what a workbook shows differently from how it was read. */
function listSheetWarnings({
  sheetName,
  sheetNames,
  hiddenRows = 0,
  filledRows = 0,
}: Extract<StoredFormat, { kind: 'xlsx' }>): FormatWarning[] {
  const warnings: FormatWarning[] = []
  if (hiddenRows > 0) {
    const hiddenText = `${countRows(hiddenRows, 'is', 'are')} hidden in the sheet, by hand or by a filter, and read like the others.`
    const message = `${hiddenText} Delete them from the sheet if they are not to be imported.`
    warnings.push({ code: 'hidden_rows', message })
  }
  if (filledRows > 0) {
    const message = `${countRows(filledRows, 'takes', 'take')} values of merged cells above. Check them in the preview.`
    warnings.push({ code: 'merged_cells', message })
  }
  if (sheetNames.some((name) => name !== sheetName)) {
    const message = `Only the sheet "${sheetName}" is read. To read another one, set the option sheet.`
    warnings.push({ code: 'other_sheets', message })
  }
  return warnings
}

function listTextWarnings({
  encoding,
  doubtfulTexts = [],
}: Pick<CsvFormat, 'encoding' | 'doubtfulTexts'>): FormatWarning[] {
  if (doubtfulTexts.length === 0) return []
  const texts = doubtfulTexts.map((text) => `"${text}"`).join(', ')
  const message =
    `The encoding ${encoding} is a guess, and another one is nearly as likely. The file is read as: ${texts}. If these ` +
    'texts are wrong, set the option encoding.'
  return [{ code: 'doubtful_encoding', message }]
}

const noFormat = { encoding: null, delimiter: null, quotes: null, sheet: null, sheets: [], files: [] }

function listArchiveWarnings({ files, ignoredNames }: ArchiveFormat): FormatWarning[] {
  const textWarnings = files.flatMap(({ entry, format }) =>
    listTextWarnings(format).map((warning) => ({ ...warning, message: `${entry.name}: ${warning.message}` })),
  )
  if (ignoredNames.length === 0) return textWarnings
  const names = ignoredNames.map((name) => `"${name}"`).join(', ')
  const message = `These files of the archive are empty or no tables, and are not read: ${names}.`
  return [{ code: 'ignored_files', message }, ...textWarnings]
}

function presentFormat(format: StoredFormat): z.input<typeof DataImport>['file_format'] {
  const header_line = format.header?.line ?? null
  switch (format.kind) {
    case 'xlsx':
      return {
        ...noFormat,
        type: 'xlsx',
        sheet: format.sheetName,
        sheets: [...format.sheetNames],
        header_line,
        warnings: listSheetWarnings(format),
      }
    case 'archive':
      return {
        ...noFormat,
        type: 'zip',
        files: format.files.map(({ entry, firstLine }) => ({ name: entry.name, first_line: firstLine })),
        header_line,
        warnings: listArchiveWarnings(format),
      }
    case 'csv':
      return {
        ...noFormat,
        type: 'csv',
        encoding: format.encoding,
        delimiter: delimiterNames[format.delimiter],
        quotes: format.quotes ? (format.marks ?? 'double') : 'none',
        header_line,
        warnings: listTextWarnings(format),
      }
  }
}

export function presentDataImport(row: ImportDetailRow, ctx: Ctx): z.input<typeof DataImport> {
  const columns = row.column_summary
  const options = readOptions(row.options)
  return {
    id: row.id,
    name: row.name,
    source: row.source,
    kind: row.kind,
    external_source: row.external_source,
    source_suggested_by: row.source_suggested_by,
    detected_source: row.detected_source,
    status: row.status,
    organization: presentOrganizationSummary(row, ctx),
    edition: presentEditionSummary(row),
    file:
      row.file_id === null || !mayReadFile(ctx, row)
        ? null
        : { id: row.file_id, name: row.file_name ?? '', size: row.file_size ?? 0 },
    file_format: row.format && presentFormat(row.format),
    emit_webhooks: options.emit_webhooks,
    options,
    remembered_options: [...(row.remembered_options ?? [])],
    ...pickCounts(row),
    progress: getImportProgress(row),
    column_summary: { ...columns, missing_required: [...columns.missing_required] },
    product_summary: row.product_summary,
    error_code: row.error_code,
    error_message: row.error_message,
    error_report_url: hasReport(row) ? `${ctx.config.publicUrl}/v1/data-imports/${row.id}/error-report` : null,
    allowed_actions: listImportActions(row, ctx.now()),
    created_by: row.account_id,
    started_at: toIsoOrNull(row.started_at),
    completed_at: toIsoOrNull(row.completed_at),
    undo_until: toIsoOrNull(row.undo_until),
    files_deleted_at: toIsoOrNull(row.files_deleted_at),
    rows_deleted_at: toIsoOrNull(row.rows_deleted_at),
    created: toIso(row.created_at),
    modified: toIso(row.modified_at),
  }
}
