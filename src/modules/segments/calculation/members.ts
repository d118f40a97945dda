import { sql } from 'drizzle-orm'
import type { Database } from '../../../db/database.ts'
import type { ExclusionReason } from '../../../domain/segments.ts'

export interface Member {
  user_seq: number
  id: string
  email: string | null
  phone_number: string | null
  first_name: string
  last_name: string
  locale: string
  /** Why this person was left out when the set was calculated; null for a member. */
  excluded_for: ExclusionReason | null
}

/** For readers of a set that was replaced. */
export const leftoverAfterMs = 3_600_000

export interface MemberSet {
  segmentSeq: number
  epoch: number
}

/** Whether a page of a set was read whole: a set that was replaced is deleted some time later. */
export async function isWhole(db: Database, { segmentSeq, epoch }: MemberSet, now: number): Promise<boolean> {
  const found = await db.first(sql`select 1 from segments where seq = ${segmentSeq} and members_epoch = ${epoch}
    union all select 1 from segment_leftovers where segment_seq = ${segmentSeq} and epoch = ${epoch}
      and left_at > ${now - leftoverAfterMs}`)
  return found !== undefined
}

/**
 * The next people of one calculated set in the order of `user_seq`, whole and unchanged for an hour after another set
 * took its place. Excluded people are among them.
 */
export const membersAfter = (db: Database, set: MemberSet, afterUserSeq: number, limit: number): Promise<Member[]> =>
  db.all(
    sql<Member>`select m.user_seq, u.id, u.email, u.phone_number, u.first_name, u.last_name, u.locale, m.excluded_for
      from segment_members m cross join users u on u.seq = m.user_seq
      where m.segment_seq = ${set.segmentSeq} and m.epoch = ${set.epoch} and m.user_seq > ${afterUserSeq}
      order by m.user_seq limit ${limit}`,
  )
