import { type SQL, sql } from 'drizzle-orm'
import { buildPeople, type PeopleSql, type SegmentTenant } from './audience.ts'

interface WalkStep {
  after: string
  /** The last position of the walk. */
  until: string
  /** The number of people. */
  size: number
}

/** Walks the people of a segment in the order in which they joined. Positions are texts. */
interface Walk {
  /** Selects a position before the first person. */
  start: SQL
  /** Selects the last position. */
  last: SQL
  /** Selects the position at which a step ends; no row when fewer than `size` people are left. */
  end: (step: WalkStep) => SQL
  /** Selects the people after a position, up to the position that the query `until` selects. */
  peopleBetween: (after: string, until: SQL) => PeopleSql
}

/** Without a collation SQLite does not compare a rowid with a key of an index. */
const buildKey = (position: SQL): SQL => sql`(${position} ->> 0, (${position} ->> 1) collate binary)`

/** A position is `created_at` and `seq` as JSON, because the index of lists has this order. */
export function buildWalk(tenant: SegmentTenant): Walk {
  const { edition_id, organization_id } = tenant
  const people = buildPeople(tenant)
  const [table, alias, where] =
    edition_id === null
      ? [sql`users indexed by users_by_joining`, sql`u`, sql`organization_id = ${organization_id}`]
      : [sql`edition_customers indexed by edition_customers_by_joining`, sql`e`, sql`edition_id = ${edition_id}`]
  const position = sql`json_array(created_at, seq)`
  return {
    start: sql`select json_array(${-Number.MAX_SAFE_INTEGER}, 0)`,
    last: sql`select ${position} from ${table} where ${where} order by created_at desc, seq desc limit 1`,
    end: ({ after, until, size }) => sql`select ${position} from ${table} where ${where}
      and (created_at, seq) > ${buildKey(sql`${after}`)} and (created_at, seq) <= ${buildKey(sql`${until}`)}
      order by created_at, seq limit 1 offset ${size - 1}`,
    peopleBetween: (after, until) => ({
      // `limit 1` makes SQLite run the query once instead of once per person.
      from: sql`(select position from (${until}) limit 1) as until cross join ${people.from}`,
      where: sql`${people.where} and (${alias}.created_at, ${alias}.seq) > ${buildKey(sql`${after}`)}
        and (${alias}.created_at, ${alias}.seq) <= ${buildKey(sql`until.position`)}`,
    }),
  }
}
