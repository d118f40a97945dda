import type { RoleCode } from '../../../src/domain/accounts/access.ts'
import type { Caller } from './callers.ts'

type SortValue = string | number | null

/** A row as a role of the organisation sees it, with what the world knows about it. */
export interface Row {
  id: string
  organization: string
  /** The editions that have the row: one, none for a row of the organisation, and several for a customer. */
  editions: readonly string[]
  customer?: string
  // Lists have rows of many shapes, so descriptions read them freely.
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
  /** The customer as the caller sees it. */
  contact: Contact
  /** The contact data by which searches find the customer. */
  contacts: readonly Contact[]
}

export interface Filter {
  /** Values that find a row. */
  values: (row: SeenRow) => readonly string[]
  /** Values that may find others, or no row. */
  others: readonly string[]
  /** The value is a part of one of these texts. */
  isText?: boolean
  matches: (row: SeenRow, value: string) => boolean
}

interface Ordering {
  /** A key for sorting; null comes last in both directions. */
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
  id: string
  path: (parent: Parent | null) => string
  /** The list is read for each of these resources. */
  parents?: readonly Parent[]
  roles: readonly RoleCode[]
  /** A request needs one of these filters, or the organisation; the superuser needs none. */
  requires?: readonly string[]
  /** The scopes that a request may name. */
  scopes: readonly ('organization_id' | 'edition_id')[]
  /** A page size that cannot be changed. */
  fixedSize?: number
  /** Null when the documentation names none. */
  defaultOrdering: string | null
  orderings: Record<string, Ordering>
  filters: Record<string, Filter>
  rows: (parent: Parent | null) => readonly Row[]
  /** Fields of each row that are compared for a caller, besides its place. */
  seen?: (row: SeenRow) => object
}

export interface Query {
  scope: { organization_id?: string; edition_id?: string }
  filters: Record<string, string>
  ordering: readonly string[]
  size: number
}

/** One request for a list by a caller. */
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

/** The keys of an ordering. A key that appears again in the other direction has no effect. */
export const sortKeys = (list: LongList, ordering: readonly string[]): SortKey[] =>
  (ordering.length > 0 ? ordering : list.defaultOrdering === null ? [] : [list.defaultOrdering]).map((part) => {
    const name = part.replace(/^-/, '')
    const orderingKey = list.orderings[name]
    if (!orderingKey) throw new Error(`${list.id} has no ordering ${name}`)
    return { name, by: orderingKey.by, desc: part.startsWith('-') }
  })

export function compareRows(keys: readonly SortKey[], one: SeenRow, other: SeenRow): number {
  for (const { by, desc } of keys) {
    const difference = compareValues(by(one), by(other), desc)
    if (difference !== 0) return difference
  }
  return 0
}
