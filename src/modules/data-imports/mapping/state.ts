import { asc, eq, getTableColumns } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import type { Database } from '../../../db/database.ts'
import { importColumns, importConstants } from '../../../db/schema/data-imports.ts'
import { editions } from '../../../db/schema/editions.ts'
import { select } from '../../../db/select.ts'
import { type ColumnSummary, type ImportOptions, noProducts } from '../../../domain/data-imports/data-imports.ts'
import type { ImportKind } from '../../../domain/data-imports/import-kinds.ts'
import {
  type ColumnStatistics,
  isTotalHeader,
  prepareMappings,
  type PreparedMappings,
  findTargetField,
  type RowGrouping,
  type TargetMapping,
  type Transform,
} from '../../../domain/data-imports/mapping/index.ts'
import { listConsentsInEdition } from '../../consents/index.ts'
import type { ImportRow, ImportChanges } from '../background/steps.ts'
import type { LoadedImport } from '../queries.ts'

export type ColumnRow = typeof importColumns.$inferSelect
export const columnFields = getTableColumns(importColumns)
export type ConstantRow = typeof importConstants.$inferSelect
export type EditionConsent = Awaited<ReturnType<typeof listConsentsInEdition>>[number]

export interface ReadingPlace {
  organization_id: string
  edition_id: string
  edition_timezone: string
  edition_country_code: string
  edition_language: string
  kind: ImportKind
}

export interface MappingState {
  columns: readonly ColumnRow[]
  constants: readonly ConstantRow[]
  consents: readonly EditionConsent[]
  options: ImportOptions
  place: ReadingPlace
}

export const loadReadingPlace = async (
  db: Database,
  row: Pick<ImportRow, 'edition_id' | 'kind'>,
): Promise<ReadingPlace> => {
  const place = await db.first(
    select({
      organization_id: editions.organization_id,
      edition_id: editions.id,
      edition_timezone: editions.timezone,
      edition_country_code: editions.default_country_code,
      edition_language: editions.default_language,
    })
      .from(editions)
      .where(eq(editions.id, row.edition_id)),
  )
  if (!place) throw new Error('The edition of an import is missing.')
  return { ...place, kind: row.kind }
}

export async function loadMapping(
  db: Database,
  id: string,
  place: ReadingPlace,
  options: ImportOptions,
): Promise<MappingState> {
  const [columns, constants] = await db.batch([
    select(columnFields)
      .from(importColumns)
      .where(eq(importColumns.import_id, id))
      .orderBy(asc(importColumns.source_index)),
    select(getTableColumns(importConstants))
      .from(importConstants)
      .where(eq(importConstants.import_id, id))
      .orderBy(asc(importConstants.target_field)),
  ])
  const consents = await listConsentsInEdition(db, { id: place.edition_id, organization_id: place.organization_id })
  return { columns, constants, consents, options, place }
}

/** Chooses the transform of a column. What the column does not set, the options of the import decide. */
function decideTransform(column: ColumnRow, { options, consents }: MappingState): Transform {
  const { transform } = column
  const type = column.target_field === null ? null : findTargetField(column.target_field, consents)?.type
  const isNumber = type === 'money' || type === 'quantity'
  if (isNumber && transform.type !== 'number' && options.decimal_separator !== 'auto')
    return { type: 'number', decimal: options.decimal_separator }
  if (transform.type === 'number' && !transform.decimal && options.decimal_separator !== 'auto')
    return { ...transform, decimal: options.decimal_separator }
  const order = options.date_format === 'auto' ? undefined : options.date_format
  if (order && transform.type === 'date') return { ...transform, order: transform.order ?? order }
  return order && type === 'instant' ? { type: 'date', order } : transform
}

/** Columns of each target, in the order in which the target takes them. */
export function groupColumns(columns: readonly ColumnRow[]): Map<string, ColumnRow[]> {
  const mappedColumns = columns.filter(({ target_field }) => target_field !== null)
  const sortedColumns = mappedColumns.toSorted(
    (a, b) => a.target_position - b.target_position || a.source_index - b.source_index,
  )
  return Map.groupBy(sortedColumns, ({ target_field }) => target_field ?? '')
}

function buildTargetMappings(state: MappingState): TargetMapping[] {
  const byTarget = groupColumns(state.columns)
  const constants = new Map(state.constants.map(({ target_field, value }) => [target_field, value]))
  const columnMappings = [...byTarget].map(([target, columns]): TargetMapping => {
    const [first] = columns
    return {
      target,
      columns: columns.map(({ source_index }) => source_index),
      default_value: columns.find(({ default_value }) => default_value !== null)?.default_value ?? null,
      constant: constants.get(target) ?? null,
      ...(first ? { transform: decideTransform(first, state), value_map: first.value_map } : {}),
    }
  })
  const onlyConstants = state.constants.filter(({ target_field }) => !byTarget.has(target_field))
  return [
    ...columnMappings,
    ...onlyConstants.map(({ target_field, value }) => ({ target: target_field, columns: [], constant: value })),
  ]
}

/** Finds the column with the totals of orders if no source of them is mapped. */
export function findUnmappedTotal<Column extends Pick<ColumnRow, 'source_column' | 'target_field'>>(
  columns: readonly Column[],
  constants: readonly Pick<ConstantRow, 'target_field'>[],
): Column | null {
  const isMapped = [...columns, ...constants].some(({ target_field }) => target_field === 'order.amount')
  if (isMapped) return null
  return columns.find((column) => column.target_field === null && isTotalHeader(column.source_column)) ?? null
}

function buildUnmappedTotal(state: MappingState): TargetMapping | null {
  const column = findUnmappedTotal(state.columns, state.constants)
  if (!column) return null
  const target = 'order.amount'
  return {
    target,
    columns: [column.source_index],
    transform: decideTransform({ ...column, target_field: target }, state),
  }
}

/** The user's choice wins. Otherwise orders have an id if a column or a constant has it. */
export const decideGrouping = ({ options, columns, constants, place }: MappingState): RowGrouping => {
  if (place.kind === 'customers') return 'contact'
  if (options.group_by !== null) return options.group_by
  const hasId = [...columns, ...constants].some(({ target_field }) => target_field === 'order.external_id')
  return hasId ? 'external_id' : 'row'
}

export const getStatistics = ({ statistics }: Pick<ColumnRow, 'statistics'>): ColumnStatistics | null =>
  statistics.filled_cells === undefined ? null : statistics

export const prepareState = (state: MappingState, now: number): PreparedMappings =>
  prepareMappings({
    mappings: buildTargetMappings(state),
    unmapped_total: state.place.kind === 'orders' ? buildUnmappedTotal(state) : null,
    statistics: state.columns.map(getStatistics),
    consents: state.consents,
    kind: state.place.kind,
    group_by: decideGrouping(state),
    time_zone: state.options.timezone ?? state.place.edition_timezone,
    country_code: state.place.edition_country_code,
    now,
  })

export const summarizeColumns = ({ columns }: MappingState, preparedMappings: PreparedMappings): ColumnSummary => ({
  total: columns.length,
  mapped: columns.filter(({ target_field }) => target_field !== null).length,
  ignored: columns.filter(({ is_ignored }) => is_ignored).length,
  missing_required: preparedMappings.missing_required,
})

export const emptyStaging = {
  valid_rows: 0,
  invalid_rows: 0,
  processed_rows: 0,
  total_orders: 0,
  row_counts: {},
  product_summary: noProducts,
  error_code: null,
  error_message: null,
} satisfies ImportChanges

export const loadMappingState = (
  ctx: Pick<Ctx, 'db'>,
  row: LoadedImport,
  options: ImportOptions,
): Promise<MappingState> => loadMapping(ctx.db, row.id, row, options)

export async function buildMappingChanges(
  ctx: Ctx,
  row: LoadedImport,
  next: { options: ImportOptions; state?: MappingState },
): Promise<ImportChanges & { status: 'mapping_columns' }> {
  const state = next.state ?? (await loadMappingState(ctx, row, next.options))
  const summary = summarizeColumns(state, prepareState(state, ctx.now()))
  return { ...emptyStaging, status: 'mapping_columns', column_summary: summary }
}
