import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import type { Statement } from '../../../db/database.ts'
import { importColumns, importConstants } from '../../../db/schema/data-imports.ts'
import { pickChanges, insert, isEmpty, update } from '../../../db/write.ts'
import {
  decideRow,
  prepareMappings,
  findTargetField,
  findTargetOfKind,
  listFixedFields,
  type Transform,
} from '../../../domain/data-imports/mapping/index.ts'
import { suggestValueMap } from '../../../domain/data-imports/mapping/values/value-maps.ts'
import { type FieldError, fieldError, invalid } from '../../../domain/errors.ts'
import { findNearestName } from '../../../domain/text/nearest.ts'
import { checkAction, commitResult } from '../begin.ts'
import {
  buildMappingChanges,
  type ColumnRow,
  type ConstantRow,
  decideGrouping,
  type MappingState,
  getStatistics,
} from '../mapping/state.ts'
import type { ColumnChange, UpdateColumnMappingsInput } from './column-contract.ts'
import { type ColumnView, buildColumnView } from './columns.ts'
import { loadColumnExtras, type ColumnsWithExtras } from './present-columns.ts'

type ColumnPath = readonly (string | number)[]

function buildUnknownTargetError({ place }: MappingState, path: ColumnPath, target: string): FieldError {
  const nearest = findNearestName(
    target,
    listFixedFields(place.kind).map(({ key }) => key),
  )
  const hint =
    nearest === null ? 'This target does not exist.' : `This target does not exist. Did you mean \`${nearest}\`?`
  return fieldError(path, 'unknown_target_field', hint)
}

function findColumn({ columns }: MappingState, change: ColumnChange, path: ColumnPath): ColumnRow | FieldError {
  const { id, source_index, source_column } = change
  if (id === undefined && source_index === undefined && source_column === undefined)
    return fieldError([...path, 'id'], 'required', 'Name the column by id, source_index or source_column.')
  const matches = columns.filter(
    (one) =>
      (id === undefined || one.id === id) &&
      (source_index === undefined || one.source_index === source_index) &&
      (source_column === undefined || one.source_column === source_column),
  )
  const field = id !== undefined ? 'id' : source_index !== undefined ? 'source_index' : 'source_column'
  const [only, ...others] = matches
  if (!only) return fieldError([...path, field], 'does_not_exist', 'The file does not have this column.')
  if (others.length === 0) return only
  const detail = `${matches.length} columns have this header. Name one by its source_index.`
  return fieldError([...path, field], 'invalid_choice', detail)
}

const toStoredTransform = ({ type, args }: NonNullable<ColumnChange['transform']>): Transform => ({ type, ...args })

/** A new target resets the settings of the earlier one. */
function changeColumn(column: ColumnRow, change: ColumnChange, state: MappingState): ColumnRow {
  const target_field = change.is_ignored
    ? null
    : change.target_field === undefined
      ? column.target_field
      : change.target_field
  const hasNewTarget = target_field !== column.target_field
  const type = target_field === null ? undefined : findTargetField(target_field, state.consents)?.type
  const statistics = getStatistics(column)
  const suggestedMap = hasNewTarget && type && statistics ? suggestValueMap(type, statistics) : null
  const resetSettings = hasNewTarget
    ? { transform: { type: 'none' } as const, value_map: suggestedMap, default_value: null }
    : {}
  return {
    ...column,
    ...resetSettings,
    target_field,
    target_position: change.target_position ?? (hasNewTarget ? 0 : column.target_position),
    is_ignored: change.is_ignored ?? (target_field === null && column.is_ignored),
    is_suggested: false,
    question: null,
    suggested_by: null,
    confidence: target_field === null ? 0 : 1,
    ...(change.default_value === undefined ? {} : { default_value: change.default_value }),
    ...(change.transform === undefined ? {} : { transform: toStoredTransform(change.transform) }),
    ...(change.value_map === undefined ? {} : { value_map: change.value_map }),
  }
}

const twiceMapped =
  'Another entry changes this column too, and a column has one target. If its people are buyers and ticket holders, ' +
  'map it to the buyer: another person in a later row of the order becomes the holder of that ticket.'

function changeColumns(state: MappingState, { mappings }: UpdateColumnMappingsInput): ColumnRow[] {
  const errors: FieldError[] = []
  const changedColumns = new Map<number, ColumnRow>()
  for (const [index, change] of mappings.entries()) {
    const path = ['mappings', index]
    const { target_field } = change
    if (target_field && !findTargetOfKind(state.place.kind, target_field, state.consents))
      errors.push(buildUnknownTargetError(state, [...path, 'target_field'], target_field))
    const column = findColumn(state, change, path)
    if (!('source_index' in column)) errors.push(column)
    else if (changedColumns.has(column.source_index)) errors.push(fieldError(path, 'repeated', twiceMapped))
    else changedColumns.set(column.source_index, changeColumn(column, change, state))
  }
  if (errors.length) throw invalid(...errors)
  const columns = state.columns.map((column) => changedColumns.get(column.source_index) ?? column)
  checkMapSizes(state.columns, columns, [...changedColumns.values()])
  return columns
}

const maxMapsLength = 200_000

const measureMap = ({ value_map }: ColumnRow): number => (value_map === null ? 0 : JSON.stringify(value_map).length)

const measureMaps = (columns: readonly ColumnRow[]): number =>
  columns.reduce((sum, column) => sum + measureMap(column), 0)

/**
 * Every list of columns answers all value maps, so they are bounded together. `changed` has the column of each entry of
 * the request. The error names the entry with the longest map.
 */
function checkMapSizes(
  before: readonly ColumnRow[],
  after: readonly ColumnRow[],
  changedImport: readonly ColumnRow[],
): void {
  const length = measureMaps(after)
  if (length <= Math.max(maxMapsLength, measureMaps(before))) return
  const lengths = changedImport.map(measureMap)
  const detail = `The value maps of an import have at most ${maxMapsLength} characters of JSON together, and these have ${length}.`
  throw invalid(fieldError(['mappings', lengths.indexOf(Math.max(...lengths)), 'value_map'], 'max_length', detail))
}

/** Reads a constant like a cell. Returns why it cannot be read, or null. */
function findConstantProblem(ctx: Ctx, state: MappingState, target: string, value: string): string | null {
  const { readers } = prepareMappings({
    mappings: [{ target, columns: [], constant: value }],
    statistics: [],
    consents: state.consents,
    kind: state.place.kind,
    group_by: decideGrouping(state),
    time_zone: state.options.timezone ?? state.place.edition_timezone,
    country_code: state.place.edition_country_code,
    now: ctx.now(),
  })
  return decideRow(readers, []).errors[0]?.message ?? null
}

function changeConstants(ctx: Ctx, state: MappingState, id: string, input: UpdateColumnMappingsInput): ConstantRow[] {
  const errors: FieldError[] = []
  const next = new Map(state.constants.map((one) => [one.target_field, one]))
  for (const [index, { target_field, value }] of input.constants.entries()) {
    const path = ['constants', index]
    if (!findTargetOfKind(state.place.kind, target_field, state.consents)) {
      if (value !== null || !next.has(target_field))
        errors.push(buildUnknownTargetError(state, [...path, 'target_field'], target_field))
      else next.delete(target_field)
      continue
    }
    const problem = value === null ? null : findConstantProblem(ctx, state, target_field, value)
    if (problem !== null) errors.push(fieldError([...path, 'value'], 'invalid_choice', problem))
    if (value === null) next.delete(target_field)
    else next.set(target_field, { import_id: id, target_field, value, suggested_by: null })
  }
  if (errors.length) throw invalid(...errors)
  return [...next.values()]
}

function buildStatements(id: string, before: MappingState, after: MappingState): Statement[] {
  const columns = after.columns.flatMap((column, index) => {
    const columnBefore = before.columns[index]
    const changes = columnBefore ? pickChanges(columnBefore, column) : {}
    return isEmpty(changes)
      ? []
      : [update(importColumns, changes, sql`import_id = ${id} and source_index = ${column.source_index}`)]
  })
  if (JSON.stringify(before.constants) === JSON.stringify(after.constants)) return columns
  return [
    ...columns,
    sql`delete from import_constants where import_id = ${id}`,
    ...after.constants.map((row) => insert(importConstants, row)),
  ]
}

/** Changes all of the columns or none. The rows have to be staged again. */
export async function updateColumnMappings(
  ctx: Ctx,
  view: ColumnView,
  input: UpdateColumnMappingsInput,
): Promise<ColumnsWithExtras> {
  const { row, state } = view
  checkAction(ctx, row, 'update_column_mappings', 'mapped')
  const next: MappingState = {
    ...state,
    columns: changeColumns(state, input),
    constants: changeConstants(ctx, state, row.id, input),
  }
  const statements = buildStatements(row.id, state, next)
  const changes = await buildMappingChanges(ctx, row, { options: state.options, state: next })
  return commitResult(ctx, row, { changes, statements }, async (changedImport) => {
    const after = buildColumnView(ctx, changedImport, next)
    return { view: after, extras: await loadColumnExtras(ctx, after) }
  })
}
