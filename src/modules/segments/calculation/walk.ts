import { type SQL, sql } from 'drizzle-orm'
import { idPrefixes } from '../../../domain/ids.ts'
import { editionMark } from '../../../db/edition-marks.ts'
import { peopleOf, type SegmentTenant } from './audience.ts'

/** An order in which an index has people, with positions in it as texts. */
interface Walk {
  /** Before everybody. */
  start: string
  /** The position of a person. */
  position: SQL
  order: SQL
  backwards: SQL
  isBeyond: (position: SQL) => SQL
  isUpTo: (position: SQL) => SQL
}

const byId = (id: SQL): Walk => ({
  start: '',
  position: id,
  order: id,
  backwards: sql`${id} desc`,
  isBeyond: (position) => sql`${id} > ${position}`,
  isUpTo: (position) => sql`${id} <= ${position}`,
})

/** People of an edition by their numbers. */
const bySeq = (seq: SQL): Walk => ({
  start: '0',
  position: sql`cast(${seq} as text)`,
  order: seq,
  backwards: sql`${seq} desc`,
  isBeyond: (position) => sql`${seq} > cast(${position} as integer)`,
  isUpTo: (position) => sql`${seq} <= cast(${position} as integer)`,
})

/** People of an organisation in the order in which they joined, which a list of them needs an index for anyway. */
function byTime(created: SQL, seq: SQL): Walk {
  // The rowid has no collation of its own. Without one SQLite compares no key of an index with it.
  const keys = (position: SQL) => sql`(${position} ->> 0, ${position} ->> 1 collate binary)`
  return {
    start: `[${Number.MIN_SAFE_INTEGER},0]`,
    position: sql`json_array(${created}, ${seq})`,
    order: sql`${created}, ${seq}`,
    backwards: sql`${created} desc, ${seq} desc`,
    isBeyond: (position) => sql`(${created}, ${seq}) > ${keys(position)}`,
    isUpTo: (position) => sql`(${created}, ${seq}) <= ${keys(position)}`,
  }
}

/**
 * The walk of a calculation through its people: by keys of an index alone, and with their rows as `users u`. `last` is
 * its last position. One that the version before began for an edition goes by ids, as it did then.
 */
export function walkOf(tenant: SegmentTenant, last: string | null) {
  const { organization_id, edition_id } = tenant
  const people = peopleOf(tenant)
  if (last?.startsWith(`${idPrefixes.user}_`)) {
    const walked = { ...people, walk: byId(sql`u.id`) }
    return { keys: walked, people: walked }
  }
  if (edition_id !== null)
    return {
      keys: {
        from: sql`edition_customers`,
        where: sql`edition_mark = ${editionMark(edition_id)}`,
        walk: bySeq(sql`user_seq`),
      },
      people: { ...people, walk: bySeq(sql`e.user_seq`) },
    }
  return {
    keys: {
      from: sql`users`,
      where: sql`organization_id = ${organization_id}`,
      walk: byTime(sql`created_at`, sql`seq`),
    },
    people: { ...people, walk: byTime(sql`u.created_at`, sql`u.seq`) },
  }
}
