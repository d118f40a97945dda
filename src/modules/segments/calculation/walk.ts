import { type SQL, sql } from 'drizzle-orm'
import { customerRanges } from '../../../db/lists/customer-ranges.ts'
import { and } from '../../../db/lists/order-keys.ts'
import { inAnyRange, united } from '../../../db/lists/ranges.ts'
import { shortId } from '../../../db/short-ids.ts'
import { type PeopleSql, peopleOf, type SegmentTenant } from './audience.ts'

/** A step of a walk, as a statement that updates its row of `segments` knows it. */
interface WalkStep {
  after: string
  /** The last position of the walk. */
  until: string
  /** How many people the step is to have, and `mostInStep` at most. */
  size: number
  /** How many people the walk has, and how many of them it has passed, as far as that is known. */
  total: SQL
  walked: SQL
}

/** A step may have some people more than it is to have, so that it can end at a moment. */
export const mostInStep = (size: number): number => size + Math.floor(size / 8)

/** An order in which an index has people, with positions in it as texts. */
interface Walk {
  /** A query of the position before everybody. */
  start: SQL
  /** A query of the last position. */
  last: SQL
  /** Queries of the `position` at which a step ends, null for `until`, and of how many `people` it passes. The first row counts. */
  ends: (step: WalkStep) => SQL[]
  /** The people behind a position, up to the one that a query finds. */
  part: (after: string, until: SQL) => PeopleSql
}

/** The keys of people, in the order in which one column has them. */
interface WalkKeys {
  from: SQL
  key: SQL
  where: SQL
}

/** A walk through people by `keys`. `key` of `people` is the same column; a position as text becomes one by `read`. */
function byKey({ from, key, where }: WalkKeys, people: PeopleSql & { key: SQL }, read: (position: SQL) => SQL): Walk {
  const within = (column: SQL, after: string, until: SQL) =>
    sql`${column} > ${read(sql`${after}`)} and ${column} <= ${read(until)}`
  const position = sql`cast(${key} as text)`
  return {
    start: sql`select ''`,
    last: sql`select ${position} from ${from} where ${where} order by ${key} desc limit 1`,
    ends: ({ after, until, size }) => [
      sql`select (select ${position} from ${from} where ${where} and ${within(key, after, sql`${until}`)}
        order by ${key} limit 1 offset ${size - 1}), ${size}`,
    ],
    part: (after, until) => ({
      from: people.from,
      where: sql`${people.where} and ${within(people.key, after, sql`(${until})`)}`,
    }),
  }
}

/** People of an edition by their numbers. */
const bySeq = (tenant: SegmentTenant, editionId: string): Walk =>
  byKey(
    { from: sql`edition_customers`, key: sql`user_seq`, where: sql`edition_short_id = ${shortId(editionId)}` },
    { ...peopleOf(tenant), key: sql`e.user_seq` },
    (position) => sql`cast(${position} as integer)`,
  )

/** Stands behind the number of each customer. As text it is a whole number, which a bound one is not. */
const behindAll = Number.MAX_SAFE_INTEGER
const behindAllText = sql.raw(String(behindAll))

/** The moment and the number of a position. */
const readMoment = (position: string): [moment: number, number: number] => {
  const [moment = 0, number = 0] = position.slice(1, -1).split(',').map(Number)
  return [moment, number]
}

/**
 * People of an organisation in the order in which they joined, which a list of them needs an index for anyway. The index has
 * four ranges of them. To merge these takes twice as long as to count them. So a step ends at the moment at which it would
 * have enough people if all who are left had joined evenly, and only where it does not is the end found by merging.
 */
function byTime(tenant: SegmentTenant): Walk {
  const [from, where] = [sql`users`, sql`organization_short_id = ${shortId(tenant.organization_id)}`]
  const people = peopleOf(tenant)
  const areAll = (table: SQL) => inAnyRange(customerRanges(table).all)
  /** SQLite compares a rowid through an index with nothing that might have another collation. */
  const written = ([moment, number]: readonly [number, number]): SQL => sql`(${moment}, ${number} collate binary)`
  const isBehind = (table: SQL, after: string): SQL => {
    const place = readMoment(after)
    const [moment, number] = place
    // One value is compared faster than two.
    if (number === behindAll) return sql`${table}.created_at > ${moment}`
    return sql`(${table}.created_at, ${table}.seq) > ${written(place)}`
  }
  const inOrder = (columns: SQL, more: readonly SQL[], order: SQL, limit: SQL): SQL => {
    const inRange = (range: readonly SQL[]) =>
      sql`select created_at, seq from ${from} where ${and([...range, where, ...more])}`
    return sql`select ${columns} from (${united(customerRanges(sql`users`).all, inRange, order)} ${limit})`
  }
  const place = sql`json_array(created_at, seq)`
  const beforeFirst = sql`json_array(created_at - 1, ${behindAllText})`
  /** None where people did not join so evenly that the moment has about as many before it as the step is to have. */
  const evenEnd = ({ after, until, size, total, walked }: WalkStep): SQL => {
    const [[begin], [end]] = [readMoment(after), readMoment(until)]
    const most = mostInStep(size)
    return sql`with guessed as materialized (
        select cast(${begin} + ${(end - begin) * size} / (${total} - ${walked}) as integer) as moment where ${total} > ${walked}
      ), counted as materialized (
        select moment, (select count(*) from (select 1 from ${from} where ${areAll(sql`users`)} and ${where}
          and ${isBehind(sql`users`, after)} and created_at <= moment limit ${most + 1})) as people
        from guessed
      )
      select json_array(moment, ${behindAllText}), people from counted where people between ${Math.ceil(size / 2)} and ${most}`
  }
  const exactEnd = ({ after, until, size }: WalkStep): SQL => {
    const rows = [isBehind(sql`users`, after), sql`(created_at, seq) <= ${written(readMoment(until))}`]
    const end = inOrder(place, rows, sql`created_at, seq`, sql`limit 1 offset ${size - 1}`)
    return sql`select (${end}), ${size}`
  }
  return {
    start: sql`select coalesce((${inOrder(beforeFirst, [], sql`created_at, seq`, sql`limit 1`)}), '[0,0]')`,
    last: inOrder(place, [], sql`created_at desc, seq desc`, sql`limit 1`),
    ends: (step) => [evenEnd(step), exactEnd(step)],
    part: (after, until) => ({
      // A query with a limit is read once, and not for each person.
      from: sql`(select position ->> 0 as created_at, position ->> 1 as seq from (${until}) limit 1) as until
        cross join ${people.from}`,
      where: sql`${people.where} and ${areAll(sql`u`)} and ${isBehind(sql`u`, after)}
        and (u.created_at, u.seq) <= (until.created_at, until.seq collate binary)`,
    }),
  }
}

/** The walk of a calculation through its people. */
export const walkOf = (tenant: SegmentTenant): Walk =>
  tenant.edition_id === null ? byTime(tenant) : bySeq(tenant, tenant.edition_id)
