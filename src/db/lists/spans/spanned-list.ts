import { type SQL, sql } from 'drizzle-orm'

/** Spans of `list_spans` are `at >> spanBits`, of milliseconds: 3.1 days. */
export const spanBits = sql.raw('28')
export const spanMs = 2 ** 28

/** A list that `list_spans` counts. */
export interface SpannedList {
  name: 'audit_log' | 'refund_requests' | 'webhook_deliveries'
  table: SQL
  /** What the facets need beside it. */
  joins: SQL
  /** The column of the organisation, endpoint or edition. */
  scope: SQL
  /** The moment of a row, in milliseconds UTC. */
  at: SQL
  /** What an index has behind the scope, in the order of the moments; and the first that a row of a moment may have. */
  key: SQL
  keyAt: (moment: number) => string | number
  /** As `keyAt`, of the begin of a span. */
  keyOfSpan: (span: SQL) => SQL
  /** What `counts` distinguishes. Values have no spaces. */
  facets: readonly SQL[]
  /** Rows are counted by a sweep, up to `settled_lists.until`. Otherwise triggers count all of them at once. */
  isSettled: boolean
}

/** A value of each facet; undefined for any. */
export type Facets = readonly (string | undefined)[]

/** `keyOfSpan` of a list whose key is the moment. */
export const momentOfSpan = (span: SQL): SQL => sql`(${span} << ${spanBits})`

/** The facets of a row, as `counts` names them. */
export const facetsOf = ({ facets }: SpannedList): SQL => sql.join([...facets], sql` || ' ' || `)

/** The key of the first row that is not counted yet. It sorts before every key where none is. */
export const untilOf = ({ name }: SpannedList, scope: SQL): SQL =>
  sql`coalesce((select until from settled_lists where list = ${name} and scope = ${scope}), 0)`

/** Where rows begin that are younger than this, none is counted yet: no request and no job takes so long. */
export const settledAfterMs = 900_000
