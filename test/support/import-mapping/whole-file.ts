import { openBytes } from '../../../src/domain/data-imports/files/source.ts'
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
import { brief, consents, keyOf, now, withDate } from './read-file.ts'

export interface WholeFile {
  /** The system that the file is an export of. */
  source: string | null
  group_by: Grouping
  /** Each column with what is suggested for it. */
  columns: string[]
  /** What is asked before rows can be read: targets without a column, columns that can be read in two ways. */
  missing: string[]
  ambiguous: string[]
  unmapped_values: Record<string, readonly string[]>
  /** What the user answers; it wins over the suggestions. */
  answers: TargetMapping[]
  /** Null where the import cannot begin even then. */
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
      !answers.some((one) => one.target === target || one.columns.some((column) => columns.includes(column))),
  ),
  ...answers,
]

/** All that becomes of a file in an edition of Copenhagen with Danish crowns, up to its orders. */
export async function wholeFile(bytes: Uint8Array, answers: TargetMapping[]): Promise<WholeFile> {
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
  const asked = prepareMappings({ ...setting, mappings })
  const prepared = prepareMappings({ ...setting, mappings: withDate(all) })
  const isOpen = prepared.missing_required.length > 0 || prepared.ambiguous.length > 0
  const decided = rows
    .filter(({ kind }) => kind === 'data')
    .map(({ cells, line, fault, filled }) => ({ ...decideRow(prepared.readers, cells, null, filled), line, fault }))
    .filter(({ is_ignored }) => !is_ignored)
  const groups = Map.groupBy(decided, (row) => keyOf(row, group_by))
  const orders = [...groups.values()].map((ofOrder) => {
    const faults = ofOrder.flatMap(({ fault, line }) => (fault ? [`${line} ${fault.code}`] : []))
    const options = {
      group_by,
      default_currency: 'dkk',
      default_status: 'completed',
      row_key: `imp-${ofOrder[0]?.line}`,
    } as const
    const { order, errors, warnings } = mapOrder(ofOrder, options)
    const said = errors.map((error) => `${error.row} ${error.target_field} ${error.code}: ${error.message}`)
    const warned = warnings.map((one) => `${one.row} ${one.code}: ${one.message}`)
    if (faults.length > 0) return { errors: faults }
    return order ? { ...brief(order), ...(warned.length > 0 ? { warnings: warned } : {}) } : { errors: said }
  })
  return {
    source: detected_source?.source ?? null,
    group_by,
    columns: aboutColumn(format.names, mappings),
    missing: [...asked.missing_required],
    ambiguous: asked.ambiguous.map(({ target }) => target),
    unmapped_values: { ...asked.unmapped_values },
    answers,
    orders: isOpen ? null : orders,
  }
}
