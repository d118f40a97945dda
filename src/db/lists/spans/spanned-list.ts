import { type SQL, sql } from 'drizzle-orm'
import { and } from '../order-keys.ts'
import { inAnyRange, type Ranges } from '../ranges.ts'

/** Spans of `list_spans` are `moment >> longBits`, of milliseconds: 3.1 days. */
export const longBits = 28
export const spanBits = sql.raw(String(longBits))
export const spanMs = 2 ** longBits

/** Some lists have the sums of eight spans, 25 days, and of eight of these, 199 days, beside the parts of spans. Triggers keep them. */
export const sumBits = [31, 34] as const
export const longestSumBits = sumBits[1]

/** What the rows of a list are counted by: values without spaces and commas. `values` are all of them, where code knows these. */
interface Facet {
  column: SQL
  values?: readonly string[]
}

/** A list that `list_spans` counts. */
export interface SpannedList {
  name:
    | 'audit_log'
    | 'audit_log_resources'
    | 'files'
    | 'organization_refund_requests'
    | 'refund_requests'
    | 'users'
    | 'webhook_deliveries'
  table: SQL
  /** What the facets need beside it. */
  joins: SQL
  /** The column of the organisation, endpoint or edition. */
  scope: SQL
  /** The condition of the rows of a scope, where `scope` is no column of an index. */
  ofScope?: (scope: SQL) => SQL
  /** The ranges in which an index has the rows of a scope, where it has them in several. */
  ranges?: Ranges
  /** What an index has behind the scope, in the order of the moments. Milliseconds UTC are the moment of a key. */
  key: SQL
  momentOf: (key: SQL) => SQL
  /** The first key that a row of a moment may have. */
  keyAt: (moment: number) => string | number
  keyOf: (moment: SQL) => SQL
  /** What `counts` distinguishes. */
  facets: readonly Facet[]
  /** `counts` also has the sum for each filter by some facets, so that no filter reads all combinations of their values. */
  hasSums: boolean
  /** Its spans are added up in rows of each of `sumBits`. */
  hasLongSums?: boolean
  /** Rows are counted by a sweep, up to `settled_lists.until`. Otherwise triggers count all of them at once. */
  isSettled: boolean
  /** A span or a part with more rows is divided into parts. */
  mostUndivided: number
  /** Scopes with few rows are never counted. Nights look at counted spans alone. */
  hasSmallScopes?: boolean
}

/** A row of `list_spans`. */
export interface ListSpan {
  scope: string
  span: number
}

/** Condition of the rows of one scope in a range of an index. */
export const hasScope = (list: SpannedList, scope: SQL): SQL =>
  list.ofScope ? list.ofScope(scope) : sql`${list.scope} = ${scope}`

/** Condition of the rows of one scope. */
export const isOfScope = (list: SpannedList, scope: SQL): SQL => and([hasScope(list, scope), ...inRangesOf(list)])

/** Leads an index to the rows of some scopes. */
export const inRangesOf = ({ ranges }: SpannedList): SQL[] => (ranges ? [inAnyRange(ranges)] : [])

/** A value of each facet; undefined for any. */
export type Facets = readonly (string | undefined)[]

/** Of a list whose key is the moment. */
export const byMoment = {
  momentOf: (key: SQL) => key,
  keyAt: (moment: number) => moment,
  keyOf: (moment: SQL) => moment,
}

const facetColumn = (index: number): SQL => sql.raw(`facet${index}`)

/** Names of sums have commas, names of combinations have spaces: a sum matches no pattern of combinations. */
export const sumOf = (facets: Facets): string => facets.map((value) => value ?? '*').join(',')

/**
 * A query of `facets`, as `counts` names them, and of their number `n` among the rows that meet a condition. `by` are the
 * columns that are grouped by before.
 */
export function countedFacets(list: SpannedList, where: SQL, by: { scope: SQL; bits?: SQL; span: SQL }): SQL {
  const bits = by.bits ?? spanBits
  const columns = list.facets.map((_, index) => facetColumn(index))
  const named = list.facets.map(({ column }, index) => sql`${column} as ${columns[index]}`)
  const combinations = sql`select ${by.scope} as scope, ${bits} as bits, ${by.span} as span, ${sql.join(named, sql`, `)},
      count(*) as n
    from ${list.table} ${list.joins} where ${where} group by 1, 2, 3, ${sql.join(columns, sql`, `)}`
  const whole = sql.join(columns, sql` || ' ' || `)
  if (!list.hasSums) return sql`select scope, bits, span, ${whole} as facets, n from (${combinations})`
  const all = 2 ** columns.length - 1
  const shown = columns.map((column, index) => sql`iif(shown.value & ${sql.raw(String(2 ** index))}, ${column}, '*')`)
  const facets = sql`iif(shown.value = ${sql.raw(String(all))}, ${whole}, ${sql.join(shown, sql` || ',' || `)})`
  const filters = sql.raw(JSON.stringify(Array.from({ length: all + 1 }, (_, filter) => filter)))
  return sql`select scope, bits, span, ${facets} as facets, sum(n) as n
    from (${combinations}) cross join json_each('${filters}') as shown group by 1, 2, 3, 4`
}

/** How many rows a name of `counts` adds to their total. Sums add none. */
export const totalOf = (facets: SQL, n: SQL): SQL => sql`coalesce(sum(iif(instr(${facets}, ','), 0, ${n})), 0)`

/** The key of the first row that is not counted yet. It sorts before every key where none is. */
export const untilOf = ({ name }: SpannedList, scope: SQL): SQL =>
  sql`coalesce((select until from settled_lists where list = ${name} and scope = ${scope}), 0)`

/** Where rows begin that are younger than this, none is counted yet: no request and no job takes so long. */
export const settledAfterMs = 900_000
