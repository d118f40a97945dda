import { type SQL, sql } from 'drizzle-orm'
import { customerRanges } from '../../../db/lists/customer-ranges.ts'
import { and } from '../../../db/lists/order-keys.ts'
import { inAnyRange, united } from '../../../db/lists/ranges.ts'
import { idPrefixes } from '../../../domain/ids.ts'
import { shortId } from '../../../db/short-ids.ts'
import { type PeopleSql, peopleOf, type SegmentTenant } from './audience.ts'

/** An order in which an index has people, with positions in it as texts. */
interface Walk {
  /** The position before everybody. */
  start: string
  /** A query of the last position. */
  last: SQL
  /** A query of the position so many people behind one position, up to another; of none where there are fewer. */
  step: (after: string, until: string, size: number) => SQL
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
    start: '',
    last: sql`select ${position} from ${from} where ${where} order by ${key} desc limit 1`,
    step: (after, until, size) =>
      sql`select ${position} from ${from} where ${where} and ${within(key, after, sql`${until}`)}
        order by ${key} limit 1 offset ${size - 1}`,
    part: (after, until) => ({
      from: people.from,
      where: sql`${people.where} and ${within(people.key, after, sql`(${until})`)}`,
    }),
  }
}

/** As all walks were once. */
function byId(tenant: SegmentTenant): Walk {
  const people = { ...peopleOf(tenant), key: sql`u.id` }
  return byKey(people, people, (position) => position)
}

/** People of an edition by their numbers. */
const bySeq = (tenant: SegmentTenant, editionId: string): Walk =>
  byKey(
    { from: sql`edition_customers`, key: sql`user_seq`, where: sql`edition_short_id = ${shortId(editionId)}` },
    { ...peopleOf(tenant), key: sql`e.user_seq` },
    (position) => sql`cast(${position} as integer)`,
  )

/** People of an organisation in the order in which they joined, which a list of them needs an index for anyway. */
function byTime(tenant: SegmentTenant): Walk {
  const [from, where] = [sql`users`, sql`organization_short_id = ${shortId(tenant.organization_id)}`]
  const people = peopleOf(tenant)
  const own = sql`(created_at, seq)`
  /** SQLite compares a rowid through an index with nothing that might have another collation. */
  const written = (position: string): SQL => {
    const [moment, number] = position.slice(1, -1).split(',').map(Number)
    return sql`(${moment}, ${number} collate binary)`
  }
  const position = (more: readonly SQL[], order: SQL, limit: SQL): SQL => {
    const inRange = (range: readonly SQL[]) =>
      sql`select created_at, seq from ${from} where ${and([...range, where, ...more])}`
    const ordered = united(customerRanges(sql`users`).all, inRange, order)
    return sql`select json_array(created_at, seq) from (${ordered} ${limit})`
  }
  return {
    start: `[${Number.MIN_SAFE_INTEGER},0]`,
    last: position([], sql`created_at desc, seq desc`, sql`limit 1`),
    step: (after, until, size) =>
      position(
        [sql`${own} > ${written(after)}`, sql`${own} <= ${written(until)}`],
        sql`created_at, seq`,
        sql`limit 1 offset ${size - 1}`,
      ),
    part: (after, until) => ({
      // A query with a limit is read once, and not for each person.
      from: sql`(select position ->> 0 as created_at, position ->> 1 as seq from (${until}) limit 1) as until
        cross join ${people.from}`,
      where: sql`${people.where} and ${inAnyRange(customerRanges(sql`u`).all)}
        and (u.created_at, u.seq) > ${written(after)} and (u.created_at, u.seq) <= (until.created_at, until.seq collate binary)`,
    }),
  }
}

/**
 * The walk of a calculation through its people. `last` is its last position. One that an earlier version began goes by ids,
 * as it did then.
 */
export function walkOf(tenant: SegmentTenant, last: string | null): Walk {
  if (last?.startsWith(`${idPrefixes.user}_`)) return byId(tenant)
  return tenant.edition_id === null ? byTime(tenant) : bySeq(tenant, tenant.edition_id)
}
