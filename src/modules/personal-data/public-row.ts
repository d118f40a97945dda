import { toMajor } from '../../domain/money.ts'
import { toIso } from '../../domain/time/instants.ts'

export type ExportedRow = Record<string, unknown>

/** Columns whose field in the API has another name than the column without its suffix. */
const publicNames: Readonly<Record<string, string>> = {
  created_at: 'created',
  modified_at: 'modified',
  last_seen_at: 'last_seen',
  joined_at: 'date_joined',
}

const isTime = (name: string): boolean => name.endsWith('_at') || name === 'valid_until'
const isFlag = (name: string): boolean => name.startsWith('is_') || name.startsWith('has_')

/** Presents a column by its name: JSON, amounts in major units, times as ISO 8601, and true and false. */
function presentColumn(name: string, value: unknown): [string, unknown] {
  if (name.endsWith('_json'))
    return [name.slice(0, -'_json'.length), typeof value === 'string' ? (JSON.parse(value) as unknown) : null]
  if (name.endsWith('_minor'))
    return [name.slice(0, -'_minor'.length), typeof value === 'number' ? toMajor(value) : null]
  if (isTime(name)) return [publicNames[name] ?? name, typeof value === 'number' ? toIso(value) : value]
  return [name, isFlag(name) && typeof value === 'number' ? value === 1 : value]
}

/** Presents a stored row as the API does everywhere. */
export const presentExportedRow = (row: ExportedRow): ExportedRow =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => presentColumn(name, value)))
