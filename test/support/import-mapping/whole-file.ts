import { openBytes } from '@ecms/table-reader'
import {
  decideRow,
  type Grouping,
  prepareMappings,
  countCells,
  suggestImport,
  type SuggestedMapping,
  type TargetMapping,
  mapOrder,
} from '../../../src/domain/data-imports/mapping/index.ts'
import { inspectAndRead } from '../import-files.ts'
import { summarise, consents, buildKey, now, addDate } from './read-file.ts'

export interface WholeFile {
  /** The system that exported the file. */
  source: string | null
  group_by: Grouping
  /** Each column with its suggestion. */
  columns: string[]
  /** Questions before rows can be read: targets without a column, and columns that can be read in two ways. */
  missing: string[]
  ambiguous: string[]
  unmapped_values: Record<string, readonly string[]>
  /** The user's answers, which win over the suggestions. */
  answers: TargetMapping[]
  /** Null when the import cannot begin even with the answers. */
  orders: unknown[] | null
}

const aboutColumn = (names: readonly string[], mappings: readonly SuggestedMapping[]): string[] =>
  names.map((name, index) => {
    const mapping = mappings.find(({ columns }) => columns.includes(index))
    const part = mapping && mapping.columns.length > 1 ? ` ${mapping.columns.indexOf(index) + 1}` : ''
    const map = mapping?.value_map ? ` ${JSON.stringify(mapping.value_map)}` : ''
    return mapping
      ? `${name} = ${mapping.target}${part}, ${mapping.confidence} by ${mapping.reason}${map}`
      : `${name} = nothing`
  })

const overridden = (mappings: readonly TargetMapping[], answers: readonly TargetMapping[]): TargetMapping[] => [
  ...mappings.filter(
    ({ target, columns }) =>
      !answers.some((answer) => answer.target === target || answer.columns.some((column) => columns.includes(column))),
  ),
  ...answers,
]

/** Reads a file as an edition of Copenhagen with Danish crowns does, up to its orders. */
export async function readWholeFile(bytes: Uint8Array, answers: TargetMapping[]): Promise<WholeFile> {
  const { format, rows } = await inspectAndRead(openBytes(bytes, 7))
  const read = rows.filter(({ kind, fault }) => kind === 'data' && !fault)
  const statistics = format.names.map((_, index) =>
    countCells(
      read.map(({ cells }) => cells[index] ?? ''),
      format.kind === 'xlsx',
    ),
  )
  const columns = format.names.map((header, index) => ({ header, statistics: statistics[index] ?? null }))
  const { mappings, detected_source, group_by: suggested } = suggestImport({ columns, consents, now })
  const all = overridden(mappings, answers)
  const hasId = all.some(({ target }) => target === 'order.external_id')
  const group_by = suggested ?? (hasId ? 'external_id' : 'row')
  const setting = { statistics, consents, group_by, time_zone: 'Europe/Copenhagen', country_code: '+45', now }
  const preparedMappings = prepareMappings({ ...setting, mappings })
  const prepared = prepareMappings({ ...setting, mappings: addDate(all) })
  const isOpen = prepared.missing_required.length > 0 || prepared.ambiguous.length > 0
  const decided = rows
    .filter(({ kind }) => kind === 'data')
    .map(({ cells, line, fault, filledColumns }) => ({
      ...decideRow(prepared.readers, cells, null, filledColumns),
      line,
      fault,
    }))
    .filter(({ is_ignored }) => !is_ignored)
  const groups = Map.groupBy(decided, (row) => buildKey(row, group_by))
  const orders = [...groups.values()].map((ofOrder) => {
    const faults = ofOrder.flatMap(({ fault, line }) => (fault ? [`${line} ${fault.code}`] : []))
    const options = {
      group_by,
      default_currency: 'dkk',
      default_status: 'completed',
      row_key: `imp-${ofOrder[0]?.line}`,
    } as const
    const { order, errors, warnings } = mapOrder(ofOrder, options)
    const errorTexts = errors.map((error) => `${error.row} ${error.target_field} ${error.code}: ${error.message}`)
    const warned = warnings.map((warning) => `${warning.row} ${warning.code}: ${warning.message}`)
    if (faults.length > 0) return { errors: faults }
    return order ? { ...summarise(order), ...(warned.length > 0 ? { warnings: warned } : {}) } : { errors: errorTexts }
  })
  return {
    source: detected_source?.source ?? null,
    group_by,
    columns: aboutColumn(format.names, mappings),
    missing: [...preparedMappings.missing_required],
    ambiguous: preparedMappings.ambiguous.map(({ target }) => target),
    unmapped_values: { ...preparedMappings.unmapped_values },
    answers,
    orders: isOpen ? null : orders,
  }
}
