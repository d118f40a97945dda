import { findIdPrefix } from '../../src/domain/ids.ts'
import type { DocumentedFilter } from './schema.ts'

export type ListedRow = Record<string, unknown>

/** Whether a row has the value of a filter; null where the row does not show it. */
type Comparison = (row: ListedRow, value: string) => boolean | null

const has = (name: string): Comparison => {
  return (row, value) =>
    JSON.stringify(row[name] ?? '')
      .toLowerCase()
      .includes(value.toLowerCase())
}
const unseen: Comparison = () => null

/** Filters that are compared otherwise than by the field of their name, or by the id of what it names. */
const comparisons: Record<string, Comparison> = {
  created_after: ({ created }, value) => Date.parse(String(created)) >= Date.parse(value),
  created_before: ({ created }, value) => Date.parse(String(created)) < Date.parse(value),
  order_number: has('order_number'),
  customer_email: has('customer_email'),
  has_errors: ({ errors }, value) => String((errors as unknown[]).length > 0) === value,
}

/** What a list has of its own. */
const ofLists: Record<string, Record<string, Comparison>> = {
  // An archived edition is left out unless it is asked for.
  listEditions: { is_archived: unseen },
  // Those of the whole platform, too.
  listEmailMessages: { organization_id: unseen },
  // Those of the organisation that count in the edition, too.
  listUserConsents: { edition_id: unseen },
}

function shownOf(row: ListedRow, name: string): unknown {
  if (row[name] !== undefined) return row[name]
  const named = row[name.replace(/_id$/, '')] as { id?: string; api_id?: string } | null | undefined
  return name.endsWith('_id') && named ? (named.id ?? named.api_id) : undefined
}

function byField(row: ListedRow, name: string, value: string): boolean | null {
  const shown = shownOf(row, name)
  if (shown === undefined) return null
  return typeof shown === 'string' ? shown.toLowerCase() === value.toLowerCase() : JSON.stringify(shown) === value
}

export const matches = (list: string, name: string): Comparison =>
  ofLists[list]?.[name] ?? comparisons[name] ?? ((row, value) => byField(row, name, value))

/** At most so many words of a filter, and so many values that rows show. */
const most = { words: 3, shown: 2 }

function nothingHas(name: string): string {
  if (name === 'created_before') return '1990-01-01T00:00:00Z'
  if (name === 'created_after') return '2990-01-01T00:00:00Z'
  return `${findIdPrefix(name) ?? 'no'}_has_this`
}

/** Values of a filter: those that rows show, and one that nothing has. */
export function valuesOf({ name, words }: DocumentedFilter, rows: readonly ListedRow[]): string[] {
  const at = name.startsWith('created_') ? 'created' : name
  const shown = new Set(
    rows.flatMap((row) => {
      const value = shownOf(row, at)
      return typeof value === 'string' || typeof value === 'boolean' ? [String(value)] : []
    }),
  )
  const known = [...shown]
  if (words.length > 0)
    return [...new Set([...known.filter((one) => words.includes(one)), ...words])].slice(0, most.words)
  const middle = Math.floor(known.length / 2)
  return [...known.slice(middle, middle + most.shown), nothingHas(name)]
}
