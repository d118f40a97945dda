import { findIdPrefix } from '../../src/domain/ids.ts'
import type { DocumentedFilter } from './schema.ts'

export type ListedRow = Record<string, unknown>

/** Tells whether a row has the value of a filter, or returns null when the row does not show it. */
type Comparison = (row: ListedRow, value: string) => boolean | null

const has = (name: string): Comparison => {
  return (row, value) =>
    JSON.stringify(row[name] ?? '')
      .toLowerCase()
      .includes(value.toLowerCase())
}
const unseen: Comparison = () => null

/** Filters whose name is neither the field they compare nor the id in it. */
const comparisons: Record<string, Comparison> = {
  created_after: ({ created }, value) => Date.parse(String(created)) >= Date.parse(value),
  created_before: ({ created }, value) => Date.parse(String(created)) < Date.parse(value),
  order_number: has('order_number'),
  customer_email: has('customer_email'),
  is_retried: ({ retried_at }, value) => String(retried_at !== null) === value,
  has_errors: ({ errors }, value) => String((errors as unknown[]).length > 0) === value,
}

/** Filters of single lists. */
const ofLists: Record<string, Record<string, Comparison>> = {
  // An archived edition is left out unless the request asks for it.
  listEditions: { is_archived: unseen },
  // Messages of the platform are included.
  listEmailMessages: { organization_id: unseen },
  // Consents of the organisation that count in the edition are included.
  listUserConsents: { edition_id: unseen },
}

function readShown(row: ListedRow, name: string): unknown {
  if (row[name] !== undefined) return row[name]
  const named = row[name.replace(/_id$/, '')] as { id?: string; api_id?: string } | null | undefined
  return name.endsWith('_id') && named ? (named.id ?? named.api_id) : undefined
}

function byField(row: ListedRow, name: string, value: string): boolean | null {
  const shownValue = readShown(row, name)
  if (shownValue === undefined) return null
  return typeof shownValue === 'string'
    ? shownValue.toLowerCase() === value.toLowerCase()
    : JSON.stringify(shownValue) === value
}

export const matches = (list: string, name: string): Comparison =>
  ofLists[list]?.[name] ?? comparisons[name] ?? ((row, value) => byField(row, name, value))

/** The most words of a filter, and the most values of rows, that a test tries. */
const most = { words: 3, shown: 2 }

function nothingHas(name: string): string {
  if (name === 'created_before') return '1990-01-01T00:00:00Z'
  if (name === 'created_after') return '2990-01-01T00:00:00Z'
  return `${findIdPrefix(name) ?? 'no'}_has_this`
}

/** Lists values for a filter: those in the rows, and one that no row has. */
export function valuesOf({ name, words }: DocumentedFilter, rows: readonly ListedRow[]): string[] {
  const at = name.startsWith('created_') ? 'created' : name
  const shownValues = new Set(
    rows.flatMap((row) => {
      const value = readShown(row, at)
      return typeof value === 'string' || typeof value === 'boolean' ? [String(value)] : []
    }),
  )
  const candidates = [...shownValues]
  if (words.length > 0)
    return [...new Set([...candidates.filter((candidate) => words.includes(candidate)), ...words])].slice(0, most.words)
  const middle = Math.floor(candidates.length / 2)
  return [...candidates.slice(middle, middle + most.shown), nothingHas(name)]
}
