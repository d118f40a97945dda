/** The value of a sort key, as SQLite stores it. */
export type KeyValue = string | number | null

export interface PageRequest {
  page: number
  size: number
  /** The sort keys of the row before this page, if the request has a cursor. */
  after: readonly KeyValue[] | null
}

export interface Page<Row> {
  rows: Row[]
  count: number
  page: number
  size: number
  /** The sort keys of the last row, which the cursor of the next page carries. Null on the last page. */
  after: KeyValue[] | null
  /** False on the first page, and if the previous page is too deep for `page`. */
  hasPrevious?: boolean
}

/** A requested sort key. A leading minus in the request makes it descending. */
export interface OrderBy<Name extends string> {
  name: Name
  desc: boolean
}
