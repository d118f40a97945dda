import { is, SQL, sql } from 'drizzle-orm'
import { written } from '../../edition-counts.ts'
import { and } from '../order-keys.ts'
import type { Counting } from '../page-by-number.ts'
import { readBy } from '../page-statement.ts'
import { haveParts, longest, type NumberedRows, rowsOf, scopes, wholeSpans } from './rows-of-spans.ts'
import { bitsOfParts } from './span-parts.ts'
import { type Facets, hasScope, inRangesOf, type SpannedList, sumOf, untilOf } from './spanned-list.ts'

/** The rows of a list that are counted. */
export interface SpannedRows {
  /** A query of the ids of their scopes. Of a list that is settled by a sweep there is one. */
  scopes: SQL
  /** Whether there is at most one of them. */
  isOneScope?: boolean | undefined
  /** One of these is matched. */
  facets: readonly Facets[]
  /** Conditions that say the same of a row. */
  where: readonly SQL[]
  /** The index that has the rows of these conditions in the order of the moments, where SQLite would choose another. */
  index?: SQL | undefined
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
function namesOf({ facets }: SpannedList, asked: AskedFacets): readonly SQL[] | null {
  const [first = [], ...rest] = facets.map(({ values }, index): readonly SQL[] => {
    const value = asked[index]
    if (is(value, SQL)) return [value]
    // Words of the domain are written out, because a statement has at most a hundred bound values.
    if (value !== undefined) return [values?.includes(value) ? sql.raw(`'${value}'`) : sql`${value}`]
    return (values ?? []).map((one) => sql.raw(`'${one}'`))
  })
  const names = rest.reduce(
    (begun, values) => begun.flatMap((name) => values.map((value) => sql`${name} || ' ' || ${value}`)),
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
const quoted = (name: string): SQL => (/^[\w.,* -]+$/.test(name) ? sql.raw(`'${name}'`) : sql`${name}`)

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
  if (facets.some((one) => one.every((value) => value === undefined))) return sql`${table}.total`
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
const walkTo = (list: SpannedList, rows: NumberedRows, name: SQL, moment: number): SQL => {
  const [bits, shorter, lo] = [sql`${name}.bits`, sql`${name}.shorter`, sql`${name}.lo`]
  const own = (length: SQL): SQL => sql`(${written(moment)} >> ${length})`
  const first = sql`(${lo} << (${bits} - ${shorter}))`
  return sql`${name} (bits, shorter, lo, ahead) as (
    select ${longest(list)}, ${bitsOfParts(longest(list))}, ${own(longest(list))}, 0
    union all
    select ${shorter}, ${bitsOfParts(shorter)}, ${own(shorter)}, ahead + ${rowsOf(list, rows)(shorter, first, own(shorter))}
      from ${name} where ${haveParts(list, { bits, lo })})`
}

/** A number of rows: common queries that it names, beside `scoped`, and an expression. */
interface CountInSpans {
  ctes: readonly SQL[]
  n: SQL
}

/**
 * Adds the longest spans, at each end of a range of time the parts that lead to it, and the rows between the end and the nearest
 * edge of the shortest part. Rows that are not counted yet are read. `ids` is a query of the scopes.
 */
export function countInSpans(list: SpannedList, counted: SpannedRows, ids: SQL = scopes): CountInSpans {
  const { table, scope, key, keyAt, keyOf, isSettled } = list
  const { isOneScope, facets, where, index, from, until } = counted
  if (from !== undefined && until !== undefined && from >= until) return { ctes: [], n: sql`0` }
  const numbered = { numberIn: (spans: SQL): SQL => numberOfMatches(list, facets, spans), where, isOneScope }
  const conditions = (...more: SQL[]): SQL => and([sql`${scope} in (${ids})`, ...inRangesOf(list), ...where, ...more])
  const rows = (...more: SQL[]): SQL =>
    sql`(select count(*) from ${readBy({ from: table, index })} where ${conditions(...more)})`
  const end = untilOf(list, sql`(${ids})`)
  const settled = isSettled ? [sql`${key} < ${end}`] : []
  const since = (moment: number): SQL => sql`${key} >= ${keyAt(moment)}`
  const before = (moment: number): SQL => sql`${key} < ${keyAt(moment)}`
  /** The query `name`: the number `n` of settled rows between the edge of the longest span of a moment and the moment. */
  const aheadOf = (name: SQL, moment: number): SQL => {
    const walk = sql`${name}_walk`
    // Parts have columns of these names.
    const [bits, lo] = [sql`reached.bits`, sql`reached.lo`]
    const [begin, behind] = [keyOf(sql`(${lo} << ${bits})`), keyOf(sql`((${lo} + 1) << ${bits})`)]
    return sql`${walkTo(list, numbered, walk, moment)},
      ${name} (n) as materialized (
        select ahead + iif(${written(moment)} - (${lo} << ${bits}) <= (1 << ${bits}) / 2,
          ${rows(sql`${key} >= ${begin}`, before(moment), ...settled)},
          ${rowsOf(list, numbered)(bits, lo, sql`${lo} + 1`)} - ${rows(since(moment), sql`${key} < ${behind}`, ...settled)})
        from (select * from ${walk} order by bits limit 1) as reached)`
  }
  const { table: spans, areThese } = wholeSpans(list)
  const edgeOf = (moment: number): SQL => sql`(${written(moment)} >> ${longest(list)})`
  const added = sql`(select coalesce(sum(${numbered.numberIn(spans)}), 0) from ${spans}
    where ${spans}.list = ${list.name} and ${spans}.scope in (${ids}) and ${areThese}
    ${from === undefined ? sql`` : sql`and ${spans}.span >= ${edgeOf(from)}`}
    ${until === undefined ? sql`` : sql`and ${spans}.span < ${edgeOf(until)}`})`
  const bounds = [...(from === undefined ? [] : [since(from)]), ...(until === undefined ? [] : [before(until)])]
  return {
    ctes: [
      ...(from === undefined ? [] : [aheadOf(sql`counted_from`, from)]),
      ...(until === undefined ? [] : [aheadOf(sql`counted_until`, until)]),
    ],
    n: sql`(${added} ${from === undefined ? sql`` : sql`- (select n from counted_from)`}
      ${until === undefined ? sql`` : sql`+ (select n from counted_until)`}
      ${isSettled ? sql`+ ${rows(sql`${key} >= ${end}`, ...bounds)}` : sql``})`,
  }
}

/** Whether there are such rows, as a value. Of one scope that a sweep counts. Where a span has one, no more is read. */
export function areThere(list: SpannedList, { scopes: scope, facets, where }: SpannedRows): SQL {
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

/** Counts a list. */
export function countOfSpans(list: SpannedList, counted: SpannedRows): Counting {
  // Read where it is needed once: each row of a common query is one more.
  if (counted.from === undefined && counted.until === undefined)
    return { statement: sql`select ${countInSpans(list, counted, counted.scopes).n} as n` }
  const { ctes, n } = countInSpans(list, counted)
  const named = [sql`scoped (id) as materialized (${counted.scopes})`, ...ctes]
  return { statement: sql`with recursive ${sql.join(named, sql`, `)} select ${n} as n` }
}
