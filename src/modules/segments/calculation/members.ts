import { sql } from 'drizzle-orm'
import { inList } from '../../../db/conditions.ts'
import type { Database, Statement } from '../../../db/database.ts'
import { type CampaignStatus, runningStatuses } from '../../../domain/campaigns/lifecycle.ts'
import type { ExclusionReason, SegmentStatus } from '../../../domain/segments.ts'
import { hourMs } from '../../../domain/time/instants.ts'

export interface SegmentMember {
  user_seq: number
  id: string
  email: string | null
  phone_number: string | null
  first_name: string
  last_name: string
  locale: string
  /** Null for a member; otherwise why the person was excluded. */
  excluded_for: ExclusionReason | null
}

/** A set of members stays readable for this time after another one took its place. */
export const leftoverAfterMs = hourMs

export interface MemberSet {
  segmentSeq: number
  epoch: number
}

/** True if a set that was just read is not yet being deleted, so that the page is complete. */
export async function isReadable(db: Database, { segmentSeq, epoch }: MemberSet, now: number): Promise<boolean> {
  const row = await db.first(sql`select 1 from segments where seq = ${segmentSeq} and members_epoch = ${epoch}
    union all select 1 from segment_leftovers where segment_seq = ${segmentSeq} and epoch = ${epoch}
      and left_at > ${now - leftoverAfterMs}`)
  return row !== undefined
}

/** Lists the next people of a set by `user_seq`, including excluded people. */
export const listSegmentMembers = (
  db: Database,
  memberSet: MemberSet,
  afterUserSeq: number,
  limit: number,
): Promise<SegmentMember[]> =>
  db.all(
    sql<SegmentMember>`select m.user_seq, u.id, u.email, u.phone_number, u.first_name, u.last_name, u.locale, m.excluded_for
      from segment_members m cross join users u on u.seq = m.user_seq
      where m.segment_seq = ${memberSet.segmentSeq} and m.epoch = ${memberSet.epoch} and m.user_seq > ${afterUserSeq}
      order by m.user_seq limit ${limit}`,
  )

const currentEpochs = sql`(s.members_epoch, s.epoch)`

/** True if a running campaign of the organisation sends, or may send, to the person in a row of `users`. */
export const isInRunningAudience = (user: ReturnType<typeof sql>) =>
  sql`exists (select 1 from campaigns c join segments s on s.id = c.segment_id
    where c.organization_id = ${user}.organization_id and ${inList(sql`c.status`, runningStatuses)}
      and ((${'calculating' satisfies CampaignStatus & SegmentStatus} in (c.status, s.status) and (s.edition_id is null
          or exists (select 1 from edition_customers where edition_id = s.edition_id and user_seq = ${user}.seq)))
        or exists (select 1 from segment_members m where m.segment_seq = s.seq
        and m.user_seq = ${user}.seq and (m.epoch in ${currentEpochs}
          or m.epoch in (select l.epoch from segment_leftovers l where l.segment_seq = s.seq)))))`

/** Removes people who are about to be deleted from every set, because a later row can get the same `seq`. */
export function removeFromSegments(organizationId: string, userSeqs: readonly number[]): Statement[] {
  if (userSeqs.length === 0) return []
  const people = inList(sql`m.user_seq`, userSeqs)
  const inSet = (epoch: string) =>
    sql`from segment_members m where m.segment_seq = segments.seq and m.epoch = ${sql.raw(`segments.${epoch}`)} and ${people}`
  const isAffected = sql`(exists (select 1 ${inSet('members_epoch')}) or exists (select 1 ${inSet('epoch')}))`
  return [
    sql`update segments set
        user_count = user_count - (select count(*) ${inSet('members_epoch')} and m.excluded_for is null),
        excluded = json_patch(excluded, (select json_group_object(value, coalesce(segments.excluded ->> value, 0)
            - (select count(*) ${inSet('members_epoch')} and m.excluded_for = value))
          from (select distinct m.excluded_for as value ${inSet('members_epoch')} and m.excluded_for is not null))),
        matched_count = matched_count - (select count(*) ${inSet('epoch')}), version = version + 1
      where organization_id = ${organizationId} and ${isAffected}`,
    sql`delete from segment_members where (segment_seq, epoch, user_seq) in (
      select m.segment_seq, m.epoch, m.user_seq
      from json_each(${JSON.stringify(userSeqs)}) as person
      cross join (select seq as segment_seq, members_epoch as epoch from segments where organization_id = ${organizationId}
          union select seq, epoch from segments where organization_id = ${organizationId}
          union select l.segment_seq, l.epoch from segments s join segment_leftovers l on l.segment_seq = s.seq
            where s.organization_id = ${organizationId}) as sets
      cross join segment_members m on m.segment_seq = sets.segment_seq and m.epoch = sets.epoch and m.user_seq = person.value)`,
  ]
}
