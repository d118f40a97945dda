import { is, SQL, sql } from 'drizzle-orm'
import { written } from '../../edition-counts.ts'
import { and } from '../order-keys.ts'
import type { Counting } from '../page-by-number.ts'
import { readBy } from '../page-statement.ts'
import {
  haveParts,
  idsOf,
  longest,
  type NumberedRows,
  queryOf,
  rowsBeforePart,
  rowsOf,
  scopedBy,
  type SpanScopes,
  wholeSpans,
} from './rows-of-spans.ts'
import { bitsOfParts } from './span-parts.ts'
import {
  type Facets,
  hasScope,
  inRangesOf,
  isNamedOfOwners,
  longBits,
  type SpannedList,
  sumOf,
  untilOf,
} from './spanned-list.ts'

/** The rows of a list that are counted. */
export interface SpannedRows {
  /** Of a list that is settled by a sweep there is one. */
  scopes: SpanScopes
  /** Whether there is at most one of them. */
  isOneScope?: boolean | undefined
  /** One of these is matched. */
  facets: readonly Facets[]
  /** Conditions that say the same of a row. */
  where: readonly SQL[]
  /** The index that has the rows of these conditions in the order of the moments, where SQLite would choose another. */
  index?: SQL | undefined
  /**
   * The same conditions, by which few rows are read in the order of their key alone. Left out where `index` reads no more of
   * them.
   */
  byKey?: readonly SQL[] | undefined
  /** The first moment, and the first one behind the last. Milliseconds UTC. */
  from?: number | undefined
  until?: number | undefined
}

/** Whether each of these is written as values of facets are. Others may not be what no row has, but are found by rows. */
export const areCountable = (facets: Facets): boolean =>
  facets.every((value) => value === undefined || /^\w[\w.-]*$/.test(value))

/** A count of a row of `table` by its name, in text of SQL. */
const countAt = (table: SQL, name: SQL): SQL => sql`coalesce(${table}.counts ->> ('$."' || ${name} || '"'), 0)`

/** A sum whose expression is as deep as it needs to be: SQLite takes a hundred levels. */
export function sumOfAll(terms: readonly SQL[]): SQL {
  if (terms.length === 0) return sql`0`
  if (terms.length <= 2) return sql`(${sql.join([...terms], sql` + `)})`
  const middle = Math.ceil(terms.length / 2)
  return sql`(${sumOfAll(terms.slice(0, middle))} + ${sumOfAll(terms.slice(middle))})`
}

/** More make a statement too long. */
const mostNames = 64

/** As facets. A value may be an expression that answers one. */
type AskedFacets = readonly (Facets[number] | SQL)[]

/** The names of the counts of a filter. Null where they are too many, or where code does not know all values of a facet. */
function namesOf(list: SpannedList, asked: AskedFacets): readonly SQL[] | null {
  const { facets, owners } = list
  const isOwned = owners !== undefined && isNamedOfOwners(list, asked)
  const words = facets.map(({ values = [] }, index): readonly SQL[] => {
    const value = asked[index]
    if (is(value, SQL)) return [value]
    // Words of the domain are written out, because a statement has at most a hundred bound values.
    if (value !== undefined) return [values.includes(value) ? sql.raw(`'${value}'`) : sql`${value}`]
    return isOwned ? [sql`''`] : values.map((one) => sql.raw(`'${one}'`))
  })
  const [first = [], ...rest] = owners ? [owners.map((owner) => sql.raw(`'${owner}'`)), ...words] : words
  const between = owners ? sql`','` : sql`' '`
  const names = rest.reduce(
    (begun, next) => begun.flatMap((name) => next.map((value) => sql`${name} || ${between} || ${value}`)),
    first,
  )
  return names.length > 0 && names.length <= mostNames ? names : null
}

/** The sum of all combinations that match one of some facets. Each value of a JSON is a row read. */
function sumOfMatches(facets: readonly Facets[], table: SQL): SQL {
  const patterns = facets.map((one) => one.map((value) => value ?? '*').join(' '))
  const isOf =
    patterns.length === 1
      ? sql`facet.key glob ${patterns[0]}`
      : sql`exists (select 1 from json_each(${JSON.stringify(patterns)}) as pattern where facet.key glob pattern.value)`
  return sql`(select coalesce(sum(facet.value), 0) from json_each(${table}.counts) as facet where ${isOf})`
}

/** The name of a number in text of SQL. Words are written out, because a statement has at most a hundred bound values. */
const quoted = (name: string): SQL => (/^[\w.,*/ -]+$/.test(name) ? sql.raw(`'${name}'`) : sql`${name}`)

/** The number of rows of a span that match some facets, by the sums that it has. */
function sumOfSums(list: SpannedList, facets: readonly Facets[], table: SQL): SQL {
  const namesOfSums = facets.map((one) => (one.includes(undefined) ? sumOf(one) : one.join(' ')))
  // The version before, which runs until the deployment, adds rows to no sum: here all combinations are read.
  const everything = countAt(table, sql`${sumOf(list.facets.map(() => undefined))}`)
  const ofFacets = sumOfAll(namesOfSums.map((name) => countAt(table, quoted(name))))
  return sql`iif(${everything} = ${table}.total, ${ofFacets}, ${sumOfMatches(facets, table)})`
}

/** The number of rows that match one of some facets, which are no rows of another, of a row of spans or of parts. */
export function numberOfMatches(list: SpannedList, facets: readonly Facets[], table: SQL): SQL {
  if (!list.owners && facets.some((one) => one.every((value) => value === undefined))) return sql`${table}.total`
  const [first] = facets
  const names = facets.length === 1 && first ? namesOf(list, first) : null
  if (names) return sumOfAll(names.map((name) => countAt(table, name)))
  return list.hasSums && facets.length <= mostNames ? sumOfSums(list, facets, table) : sumOfMatches(facets, table)
}

/** As `numberOfMatches`, of a list with few combinations that all have a name. */
export function numberOfNamed(list: SpannedList, facets: AskedFacets, table: SQL): SQL {
  const names = namesOf(list, facets)
  if (!names) throw new Error(`Spans of ${list.name} do not name all that is counted.`)
  return sumOfAll(names.map((name) => countAt(table, name)))
}

/** The query `name` of the shortest part that has a moment: from the longest span there on, with the rows before each. */
function walkTo(list: SpannedList, rows: NumberedRows, name: SQL, moment: number): SQL {
  const [bits, shorter, lo] = [sql`${name}.bits`, sql`${name}.shorter`, sql`${name}.lo`]
  const own = (length: SQL): SQL => sql`(${written(moment)} >> ${length})`
  const first = sql`(${lo} << (${bits} - ${shorter}))`
  const [isLong, before] = [sql`${bits} = ${written(longBits)}`, rowsOf(list, rows)(shorter, first, own(shorter))]
  const isParted = haveParts(list, rows.ids, { bits, lo })
  // Whether these parts are there, their own rows say.
  const [passed, isDivided] = list.isSettled
    ? [sql`iif(${isLong}, ${rowsBeforePart(list, rows, lo, own(shorter))}, ${before})`, sql`(${isLong} or ${isParted})`]
    : [before, isParted]
  return sql`${name} (bits, shorter, lo, ahead) as (
    select ${longest(list)}, ${bitsOfParts(longest(list))}, ${own(longest(list))}, 0
    union all
    select ${shorter}, ${bitsOfParts(shorter)}, ${own(shorter)}, ahead + ${passed}
      from ${name} where ahead is not null and ${isDivided})`
}

/** Rows of a list that are read: all of them through an index, or few of them by their key. */
function reading(list: SpannedList, { scopes, where, index, byKey }: SpannedRows, ids: SQL) {
  const { table, scope } = list
  const isOfThese = typeof scopes === 'string' ? hasScope(list, sql`(${ids})`) : sql`${scope} in (${ids})`
  const ofScopes = [isOfThese, ...inRangesOf(list)]
  const all = (...more: SQL[]): SQL =>
    sql`(select count(*) from ${readBy({ from: table, index })} where ${and([...ofScopes, ...where, ...more])})`
  const few = (...more: SQL[]): SQL =>
    sql`(select count(*) from ${table} where ${and([...ofScopes, ...(byKey ?? []), ...more])})`
  return { all, few: byKey ? few : all }
}

/** The number of rows that are not counted yet, of those in a range of time. */
export function youngRows(list: SpannedList, counted: SpannedRows, ids: SQL): SQL {
  const { key, keyAt } = list
  const { from, until } = counted
  const { all, few } = reading(list, counted, ids)
  const isYoung = [
    sql`${key} >= ${untilOf(list, sql`(${ids})`)}`,
    ...(from === undefined ? [] : [sql`${key} >= ${keyAt(from)}`]),
  ]
  return until === undefined ? all(...isYoung) : few(...isYoung, sql`${key} < ${keyAt(until)}`)
}

export const numbered = (list: SpannedList, { isOneScope, facets, where }: SpannedRows, ids: SQL): NumberedRows => ({
  ids,
  numberIn: (spans) => numberOfMatches(list, facets, spans),
  where,
  isOneScope,
})

/** The query `name`: the number `n` of counted rows between the edge of the longest span of a moment and the moment. */
export function rowsUpTo(list: SpannedList, counted: SpannedRows, name: SQL, moment: number): SQL {
  const { key, keyAt, keyOf, isSettled } = list
  const ids = idsOf(counted.scopes)
  const rows = numbered(list, counted, ids)
  const { few } = reading(list, counted, ids)
  const settled = isSettled ? [sql`${key} < ${untilOf(list, sql`(${ids})`)}`] : []
  const walk = sql`${name}_walk`
  // Parts have columns of these names.
  const [bits, lo] = [sql`reached.bits`, sql`reached.lo`]
  const [begin, behind] = [keyOf(sql`(${lo} << ${bits})`), keyOf(sql`((${lo} + 1) << ${bits})`)]
  const [before, since] = [sql`${key} < ${keyAt(moment)}`, sql`${key} >= ${keyAt(moment)}`]
  return sql`${walkTo(list, rows, walk, moment)},
    ${name} (n) as materialized (
      select ahead + iif(${written(moment)} - (${lo} << ${bits}) <= (1 << ${bits}) / 2,
        ${few(sql`${key} >= ${begin}`, before, ...settled)},
        ${rowsOf(list, rows)(bits, lo, sql`${lo} + 1`)} - ${few(since, sql`${key} < ${behind}`, ...settled)})
      from (select * from ${walk} where ahead is not null order by bits limit 1) as reached)`
}

/** The number of rows in all spans, or in those of the longest from the first on and before the last. */
export function rowsOfWhole(
  list: SpannedList,
  counted: SpannedRows,
  ids: SQL,
  { from, before }: { from?: SQL; before?: SQL },
): SQL {
  const { table: spans, areThese } = wholeSpans(list)
  return sql`(select coalesce(sum(${numbered(list, counted, ids).numberIn(spans)}), 0) from ${spans}
    where ${spans}.list = ${list.name} and ${spans}.scope in (${ids}) and ${areThese}
    ${from ? sql`and ${spans}.span >= ${from}` : sql``} ${before ? sql`and ${spans}.span < ${before}` : sql``})`
}

/** The longest span of a moment. */
export const longestOf = (list: SpannedList, moment: number): SQL => sql`(${written(moment)} >> ${longest(list)})`

/**
 * Counts a list: adds the longest spans, at each end of a range of time the parts that lead to it, and the rows between the end
 * and the nearest edge of the shortest part. Rows that are not counted yet are read.
 */
export function countOfSpans(list: SpannedList, counted: SpannedRows): Counting {
  const { scopes, from, until } = counted
  if (from !== undefined && until !== undefined && from >= until) return { statement: sql`select 0 as n` }
  const isWhole = from === undefined && until === undefined
  // Read where it is needed once: each row of a common query is one more.
  const ids = isWhole ? queryOf(scopes) : idsOf(scopes)
  const ends = [
    ...(from === undefined ? [] : [rowsUpTo(list, counted, sql`counted_from`, from)]),
    ...(until === undefined ? [] : [rowsUpTo(list, counted, sql`counted_until`, until)]),
  ]
  const added = rowsOfWhole(list, counted, ids, {
    ...(from === undefined ? {} : { from: longestOf(list, from) }),
    ...(until === undefined ? {} : { before: longestOf(list, until) }),
  })
  const n = sql`${added} ${from === undefined ? sql`` : sql`- (select n from counted_from)`}
    ${until === undefined ? sql`` : sql`+ (select n from counted_until)`}
    ${list.isSettled ? sql`+ ${youngRows(list, counted, ids)}` : sql``}`
  const named = sql.join([scopedBy(scopes), ...ends], sql`, `)
  return { statement: sql`${isWhole ? sql`` : sql`with recursive ${named}`} select ${n} as n` }
}

/** Whether there are such rows, as a value. Of one scope that a sweep counts. Where a span has one, no more is read. */
export function areThere(list: SpannedList, { scopes, facets, where }: SpannedRows): SQL {
  const scope = queryOf(scopes)
  const { table: spans, areThese } = wholeSpans(list)
  const areCounted = sql`select 1 from ${spans} where ${spans}.list = ${list.name} and ${spans}.scope = (${scope}) and ${areThese}
    and ${numberOfMatches(list, facets, spans)} > 0`
  const areYoung = and([
    hasScope(list, sql`(${scope})`),
    ...inRangesOf(list),
    sql`${list.key} >= ${untilOf(list, sql`(${scope})`)}`,
    ...where,
  ])
  return sql`case when exists (${areCounted}) then 1 else exists (select 1 from ${list.table} where ${areYoung}) end`
}
