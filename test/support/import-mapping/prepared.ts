import {
  decideRow,
  type Grouping,
  prepareMappings,
  countCells,
  type TargetMapping,
} from '../../../src/domain/data-imports/mapping/index.ts'
import { consents, now } from './read-file.ts'

export const prepare = (
  mappings: readonly TargetMapping[],
  rows: readonly (readonly string[])[],
  group_by: Grouping = 'row',
) =>
  prepareMappings({
    mappings,
    statistics: (rows[0] ?? []).map((_, index) => countCells(rows.map((row) => row[index] ?? ''))),
    consents,
    group_by,
    time_zone: 'Europe/Copenhagen',
    country_code: '+45',
    now,
  })

export const decide = (
  mapping: TargetMapping,
  cells: readonly string[],
  column: readonly (readonly string[])[] = [cells],
) => decideRow(prepare([mapping], column).readers, cells)

export const readValue = (mapping: TargetMapping, ...cells: string[]) => {
  const { values, errors, is_ignored } = decide(mapping, cells)
  return is_ignored ? 'ignored' : (errors[0]?.code ?? values[mapping.target] ?? null)
}

export const mapTarget = (target: string, more: Partial<TargetMapping> = {}): TargetMapping => ({
  target,
  columns: [0],
  ...more,
})
