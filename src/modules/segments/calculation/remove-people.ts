import { sql } from 'drizzle-orm'
import type { Statement } from '../../../db/database.ts'
import { inList } from '../../../db/visibility.ts'
import { runningStatuses } from '../../../domain/campaigns/lifecycle.ts'
import type { SegmentStatus } from '../../../domain/segments.ts'

const epochsOf = sql`(s.members_epoch, s.epoch)`

/** True where a running campaign of the organisation sends to this person, or may. `user` is a row of `users`. */
export const isInRunningAudience = (user: ReturnType<typeof sql>) =>
  sql`exists (select 1 from campaigns c join segments s on s.id = c.segment_id
    where c.organization_id = ${user}.organization_id and ${inList(sql`c.status`, runningStatuses)}
      and (s.status = ${'calculating' satisfies SegmentStatus} or exists (select 1 from segment_members m where m.segment_seq = s.seq
        and m.user_seq = ${user}.seq and (m.epoch in ${epochsOf}
          or m.epoch in (select l.epoch from segment_leftovers l where l.segment_seq = s.seq)))))`

/**
 * Takes people who are about to be deleted out of every set: a later row may get the same number.
 * The counts follow.
 */
export function removedFromSegments(organizationId: string, userSeqs: readonly number[]): Statement[] {
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
      from (select seq as segment_seq, members_epoch as epoch from segments where organization_id = ${organizationId}
          union select seq, epoch from segments where organization_id = ${organizationId}
          union select l.segment_seq, l.epoch from segments s join segment_leftovers l on l.segment_seq = s.seq
            where s.organization_id = ${organizationId}) as sets
      cross join json_each(${JSON.stringify(userSeqs)}) as person
      join segment_members m on m.segment_seq = sets.segment_seq and m.epoch = sets.epoch and m.user_seq = person.value)`,
  ]
}
