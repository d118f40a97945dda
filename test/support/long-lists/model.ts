import type { RoleCode } from '../../../src/domain/accounts/access.ts'
import type { Caller } from './callers.ts'

type SortValue = string | number | null

/** What a role of the organisation sees of a row, and what else the world knows of it. */
export interface Row {
  id: string
  organization: string
  /** The editions that have it: one, none for a row of the organisation itself, and several for a customer. */
  editions: readonly string[]
  /** The id of its customer. */
  customer?: string
  /** As the API shows it. */
  // Lists show rows of many shapes; descriptions read them freely.
  // oxlint-disable-next-line typescript/no-explicit-any -- see above
  shown: any
}

export interface Contact {
  email: string | null
  phone_number: string | null
  first_name: string
  last_name: string
}

/** A row as one caller sees it. */
export interface SeenRow extends Row {
  /** What is shown of its customer. */
  contact: Contact
  /** What its customer is found by. */
  contacts: readonly Contact[]
}

export interface Filter {
  /** Values by which a row is found. */
  values: (row: SeenRow) => readonly string[]
  /** Values that may find others, or nothing. */
  others: readonly string[]
  /** The value is a part of one of these texts. */
  isText?: boolean
  matches: (row: SeenRow, value: string) => boolean
}

interface Ordering {
  /** What rows are compared by; null stands last in both directions. */
  by: (row: SeenRow) => SortValue
  roles?: 'organization'
}

/** A resource that a list belongs to, such as the endpoint of deliveries. */
export interface Parent {
  id: string
  organization: string
  edition: string | null
}

/** A list of the API as its documentation describes it. */
export interface LongList {
  /** The id of its operation. */
  id: string
  path: (parent: Parent | null) => string
  /** Lists under another resource are read for each of these. */
  parents?: readonly Parent[]
  roles: readonly RoleCode[]
  /** A filter that a request needs: one of these, or the organisation for everybody but the superuser. */
  requires?: readonly string[]
  /** The scopes by which it can be asked for. */
  scopes: readonly ('organization_id' | 'edition_id')[]
  /** The page size that cannot be changed. */
  fixedSize?: number
  /** Null where the documentation names none. */
  defaultOrdering: string | null
  orderings: Record<string, Ordering>
  filters: Record<string, Filter>
  rows: (parent: Parent | null) => readonly Row[]
  /** What is compared of each row that a caller is shown, beside its place. */
  seen?: (row: SeenRow) => object
}

export interface Query {
  scope: { organization_id?: string; edition_id?: string }
  filters: Record<string, string>
  ordering: readonly string[]
  size: number
}

/** One list, as one caller asks for it. */
export interface Request extends Query {
  list: LongList
  parent: Parent | null
  caller: Caller
}

const codePoints = (text: string): number[] => [...text].map((letter) => letter.codePointAt(0) ?? 0)

function compareTexts(one: string, other: string): number {
  const [left, right] = [codePoints(one), codePoints(other)]
  const at = left.findIndex((point, index) => point !== right[index])
  if (at < 0) return left.length - right.length
  return (left[at] ?? 0) - (right[at] ?? -1)
}

function compareValues(one: SortValue, other: SortValue, desc: boolean): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null)
  const difference =
    typeof one === 'number' && typeof other === 'number' ? one - other : compareTexts(String(one), String(other))
  return desc ? -difference : difference
}

export interface SortKey {
  name: string
  by: Ordering['by']
  desc: boolean
}

/** The keys of an ordering. A key that is named again in the other direction decides nothing. */
export const sortKeys = (list: LongList, ordering: readonly string[]): SortKey[] =>
  (ordering.length > 0 ? ordering : list.defaultOrdering === null ? [] : [list.defaultOrdering]).map((part) => {
    const name = part.replace(/^-/, '')
    const known = list.orderings[name]
    if (!known) throw new Error(`${list.id} has no ordering ${name}`)
    return { name, by: known.by, desc: part.startsWith('-') }
  })

export function compareRows(keys: readonly SortKey[], one: SeenRow, other: SeenRow): number {
  for (const { by, desc } of keys) {
    const difference = compareValues(by(one), by(other), desc)
    if (difference !== 0) return difference
  }
  return 0
}
