import { type SQL, sql } from 'drizzle-orm'
import { idPrefixes } from '../../../domain/ids.ts'
import { idsOf, peopleOf, type SegmentTenant } from './audience.ts'

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
 * its last position. One that the version before began goes by ids, as all walks did then.
 */
export function walkOf(tenant: SegmentTenant, last: string | null) {
  const [ids, people] = [idsOf(tenant), peopleOf(tenant)]
  const isByTime = tenant.edition_id === null && !last?.startsWith(`${idPrefixes.user}_`)
  return {
    keys: { ...ids, walk: isByTime ? byTime(sql`created_at`, sql`seq`) : byId(ids.id) },
    people: { ...people, walk: isByTime ? byTime(sql`u.created_at`, sql`u.seq`) : byId(people.id) },
  }
}
