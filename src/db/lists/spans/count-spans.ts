import { is, SQL, sql } from 'drizzle-orm'
import { written } from '../../edition-counts.ts'
import { and } from '../order-keys.ts'
import type { Counting } from '../page-by-number.ts'
import { readBy } from '../page-statement.ts'
import {
  haveParts,
  fromScopes,
  longest,
  type NumberedRows,
  oneOf,
  type OneScope,
  queryOf,
  rowsOfParts,
  scopedBy,
  spansOf,
  type SpanScopes,
  wholeSpans,
} from './rows-of-spans.ts'
import { bitsOfParts } from './span-parts.ts'
import { type Facets, hasScope, inRangesOf, longBits, type SpannedList, sumOf, untilOf } from './spanned-list.ts'

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

/** A count of a row of `table` by its name, which is known or text of SQL. */
const countAt = (table: SQL, name: string | SQL): SQL =>
  is(name, SQL)
    ? sql`ifnull(${table}.counts ->> ('$."' || ${name} || '"'), 0)`
    : sql`ifnull(${table}.counts ->> ${sql.raw(`'$."${name}"'`)}, 0)`

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

function joined(name: string | SQL, value: string | SQL): string | SQL {
  if (!is(name, SQL) && !is(value, SQL)) return `${name} ${value}`
  const [begun, more] = [name, value].map((one) => (is(one, SQL) ? one : sql.raw(`'${one}'`)))
  return sql`${begun} || ' ' || ${more}`
}

/** The names of the counts of a filter. Null where they are too many, or where code does not know all values of a facet. */
function namesOf({ facets }: SpannedList, asked: AskedFacets): readonly (string | SQL)[] | null {
  const [first = [], ...rest] = facets.map(({ values = [] }, index): readonly (string | SQL)[] => {
    const value = asked[index]
    // Words of the domain are written out, because a statement has at most a hundred bound values.
    if (value === undefined) return values
    return [is(value, SQL) || values.includes(value) ? value : sql`${value}`]
  })
  const names = rest.reduce(
    (begun, values) => begun.flatMap((name) => values.map((value) => joined(name, value))),
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

/** The name of a number. Words are written out, because a statement has at most a hundred bound values. */
const writtenName = (name: string): string | SQL => (/^[\w.,*/ -]+$/.test(name) ? name : sql`${name}`)

/** The number of rows of a span that match some facets, by the sums that it has. */
function sumOfSums(list: SpannedList, facets: readonly Facets[], table: SQL): SQL {
  const namesOfSums = facets.map((one) => (one.includes(undefined) ? sumOf(one) : one.join(' ')))
  // The version before, which runs until the deployment, adds rows to no sum: here all combinations are read.
  const everything = countAt(table, sumOf(list.facets.map(() => undefined)))
  const ofFacets = sumOfAll(namesOfSums.map((name) => countAt(table, writtenName(name))))
  return sql`iif(${everything} = ${table}.total, ${ofFacets}, ${sumOfMatches(facets, table)})`
}

/** The number of rows that match one of some facets, which are no rows of another, of a row of spans or of parts. */
export function numberOfMatches(list: SpannedList, facets: readonly Facets[], table: SQL): SQL {
  if (facets.some((one) => one.every((value) => value === undefined))) return sql`${table}.total`
  const [first] = facets
  const names = facets.length === 1 && first ? namesOf(list, first) : null
  if (names) return sumOfAll(names.map((name) => countAt(table, name)))
  return list.hasSums && facets.length <= mostNames ? sumOfSums(list, facets, table) : sumOfMatches(facets, table)
}

/** Whether a moment is in the second half of its span of a length: 1 or 0. */
const isInSecondHalf = (moment: number, bits: SQL): SQL => sql`(${written(moment)} >> (${bits} - 1) & 1)`

/**
 * The query `name` of the spans and parts that have a moment, from the longest span there on. `read` is how many rows stand
 * before each, and how many it has, where the moment is in its second half: the rows before a part of this half are those of
 * the whole less those from the part on. Null where the spans above have no such parts.
 */
function walkTo(list: SpannedList, rows: NumberedRows, name: SQL, moment: number): SQL {
  const [bits, shorter, lo] = [sql`${name}.bits`, sql`${name}.shorter`, sql`${name}.lo`]
  const own = (length: SQL): SQL => sql`(${written(moment)} >> ${length})`
  const first = sql`(${lo} << (${bits} - ${shorter}))`
  const isPartLate = isInSecondHalf(moment, shorter)
  const isLate = isInSecondHalf(moment, bits)
  const parts = spansOf(list, rows)(
    shorter,
    sql`iif(${isLate}, ${own(shorter)}, ${first})`,
    sql`iif(${isLate}, ((${lo} + 1) << (${bits} - ${shorter})), ${own(shorter)} + ${isPartLate})`,
  )
  const has = sql`coalesce(sum(iif(span = ${own(shorter)}, n, 0)), 0)`
  const read = sql`(select json_array(
    (read ->> 0) + iif(${isLate}, (read ->> 1) - coalesce(sum(n), 0), coalesce(sum(iif(span < ${own(shorter)}, n, 0)), 0)), ${has})
    from (${parts}))`
  const isParted = haveParts(list, rows.one, { bits, lo })
  const longestOne = longestOf(list, moment)
  const whole = rowsOfWhole(list, rows, { from: longestOne, before: sql`${longestOne} + 1` })
  // Whether these parts are there, their own rows say.
  const [passed, isDivided] = list.isSettled
    ? [
        sql`iif(${bits} = ${written(longBits)}, ${rowsOfParts(list, rows, { span: lo, part: own(shorter), before: sql`(read ->> 0)` })}, ${read})`,
        sql`(${bits} = ${written(longBits)} or ${isParted})`,
      ]
    : [read, isParted]
  return sql`${name} (bits, shorter, lo, read) as (
    select ${longest(list)}, ${bitsOfParts(longest(list))}, ${longestOne},
      json_array(0, iif(${isInSecondHalf(moment, longest(list))}, ${whole}, 0))
    union all
    select ${shorter}, ${bitsOfParts(shorter)}, ${own(shorter)}, ${passed}
      from ${name} where read is not null and ${isDivided})`
}

/** Rows of a list that are read: all of them through an index, or few of them by their key. */
function reading(list: SpannedList, { where, index, byKey }: SpannedRows, one: OneScope) {
  const { table, scope } = list
  const scoped = one ? sql`` : sql`scoped cross join`
  const ofScopes = [one ? hasScope(list, one) : sql`${scope} = scoped.id`, ...inRangesOf(list)]
  const all = (...more: SQL[]): SQL =>
    sql`(select count(*) from ${scoped} ${readBy({ from: table, index })} where ${and([...ofScopes, ...where, ...more])})`
  const few = (...more: SQL[]): SQL =>
    sql`(select count(*) from ${scoped} ${table} where ${and([...ofScopes, ...(byKey ?? []), ...more])})`
  return { all, few: byKey ? few : all }
}

/** The number of rows that are not counted yet, of those in a range of time. */
export function youngRows(list: SpannedList, counted: SpannedRows): SQL {
  const one = oneOf(counted.scopes)
  const { key, keyAt } = list
  const { from, until } = counted
  const { all, few } = reading(list, counted, one)
  const isYoung = [
    sql`${key} >= ${untilOf(list, one ?? sql`(select id from scoped)`)}`,
    ...(from === undefined ? [] : [sql`${key} >= ${keyAt(from)}`]),
  ]
  return until === undefined ? all(...isYoung) : few(...isYoung, sql`${key} < ${keyAt(until)}`)
}

export const numbered = (list: SpannedList, { scopes, isOneScope, facets, where }: SpannedRows): NumberedRows => ({
  one: oneOf(scopes),
  numberIn: (spans) => numberOfMatches(list, facets, spans),
  where,
  isOneScope,
})

/** The queries of the number `n` of counted rows up to the ends of a range of time. */
export const countedEnds = { from: sql`counted_from`, until: sql`counted_until` }

/** The query `name`: the number `n` of counted rows between the edge of the longest span of a moment and the moment. */
function rowsUpTo(list: SpannedList, counted: SpannedRows, name: SQL, moment: number): SQL {
  const { key, keyAt, keyOf, isSettled } = list
  const one = oneOf(counted.scopes)
  const rows = numbered(list, counted)
  const { few } = reading(list, counted, one)
  const settled = isSettled ? [sql`${key} < ${untilOf(list, one ?? sql`(select id from scoped)`)}`] : []
  const walk = sql`${name}_walk`
  const [begin, behind] = [keyOf(sql`(lo << bits)`), keyOf(sql`((lo + 1) << bits)`)]
  const [before, since] = [sql`${key} < ${keyAt(moment)}`, sql`${key} >= ${keyAt(moment)}`]
  return sql`${walkTo(list, rows, walk, moment)},
    ${name} (n) as materialized (
      select (read ->> 0) + iif(${isInSecondHalf(moment, sql`bits`)},
        (read ->> 1) - ${few(since, sql`${key} < ${behind}`, ...settled)},
        ${few(sql`${key} >= ${begin}`, before, ...settled)})
      from (select min(bits) as bits, lo, read from ${walk} where read is not null))`
}

/** The number of rows in all spans, or in those of the longest from the first on and before the last. */
function rowsOfWhole(
  list: SpannedList,
  { one, numberIn }: Pick<NumberedRows, 'one' | 'numberIn'>,
  { from, before }: { from?: SQL; before?: SQL },
): SQL {
  const { table: spans, areThese } = wholeSpans(list)
  return sql`(select coalesce(sum(${numberIn(spans)}), 0) from ${fromScopes(list, one, spans)} and ${areThese}
    ${from ? sql`and ${spans}.span >= ${from}` : sql``} ${before ? sql`and ${spans}.span < ${before}` : sql``})`
}

/** The longest span of a moment. */
export const longestOf = (list: SpannedList, moment: number): SQL => sql`(${written(moment)} >> ${longest(list)})`

/** Whether a range of time ends before it begins, so that no row is in it. */
export const isEmptyRange = ({ from, until }: Pick<SpannedRows, 'from' | 'until'>): boolean =>
  from !== undefined && until !== undefined && from >= until

/**
 * The number of rows of a list: adds the longest spans, at each end of a range of time the parts that lead to it, and the rows
 * between the end and the nearest edge of the shortest part. Rows that are not counted yet are read. `n` names what `ends` define.
 * `known` is what the longest spans have from that of the first moment on and before that of the last.
 */
export function countInSpans(list: SpannedList, counted: SpannedRows, known?: SQL): { ends: readonly SQL[]; n: SQL } {
  const { from, until } = counted
  if (isEmptyRange(counted)) return { ends: [], n: sql`0` }
  const ends = [
    ...(from === undefined ? [] : [rowsUpTo(list, counted, countedEnds.from, from)]),
    ...(until === undefined ? [] : [rowsUpTo(list, counted, countedEnds.until, until)]),
  ]
  const added =
    known ??
    rowsOfWhole(list, numbered(list, counted), {
      ...(from === undefined ? {} : { from: longestOf(list, from) }),
      ...(until === undefined ? {} : { before: longestOf(list, until) }),
    })
  const n = sql`${added} ${from === undefined ? sql`` : sql`- (select n from ${countedEnds.from})`}
    ${until === undefined ? sql`` : sql`+ (select n from ${countedEnds.until})`}
    ${list.isSettled ? sql`+ ${youngRows(list, counted)}` : sql``}`
  return { ends, n }
}

/** Counts a list. */
export function countOfSpans(list: SpannedList, counted: SpannedRows): Counting {
  const { ends, n } = countInSpans(list, counted)
  const scoped = scopedBy(counted.scopes, { isReadOnce: ends.length === 0 })
  return { statement: sql`with recursive ${sql.join([scoped, ...ends], sql`, `)} select ${n} as n` }
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
