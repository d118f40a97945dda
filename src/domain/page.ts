/** The value of a sort key, as SQLite stores it. */
export type KeyValue = string | number | null

export interface PageRequest {
  page: number
  size: number
  /** Sort keys of the row before this page, when the link that was followed carries them. */
  after: readonly KeyValue[] | null
}

export interface Page<Row> {
  rows: Row[]
  count: number
  page: number
  size: number
  /** Sort keys of the last row: the next page begins after it. Null on the last page. */
  after: KeyValue[] | null
  /** False on the first page, and where the page before is too far for its number. */
  hasPrevious?: boolean
}

/** One key of a requested order: `desc` for a leading minus. */
export interface OrderBy<Name extends string> {
  name: Name
  desc: boolean
}

/** The keys of an order, or of the group's own order (`-created`) when none was requested. */
export function sortBy<Name extends string, By>(
  asked: readonly OrderBy<Name>[],
  otherwise: Name | `-${Name}`,
  keys: Record<Name, By>,
): { by: By; desc: boolean }[] {
  const own = { name: otherwise.replace(/^-/, '') as Name, desc: otherwise.startsWith('-') }
  return (asked.length ? asked : [own]).map(({ name, desc }) => ({ by: keys[name], desc }))
}
