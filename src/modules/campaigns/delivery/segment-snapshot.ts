import { eq, type SQL, sql } from 'drizzle-orm'
import { campaigns } from '../../../db/schema/messaging/campaigns.ts'
import type { Statement } from '../../../db/database.ts'
import { inList } from '../../../db/visibility.ts'
import { update } from '../../../db/write.ts'
import { runningStatuses } from '../../../domain/campaigns/lifecycle.ts'

/**
 * The value of `segment_snapshot` in an update of `campaigns`. Recipients of an earlier start stay listed, so a campaign
 * that was started with a segment of another edition counts as one of the whole organisation from then on.
 */
export const currentSegment: SQL = sql`(select json_object('edition_id', iif(campaigns.segment_snapshot is null
      or campaigns.segment_snapshot ->> '$.edition_id' is segments.edition_id, segments.edition_id, null),
    'name', segments.name, 'communication_type', segments.communication_type,
    'communication_channel', segments.communication_channel, 'status', segments.status,
    'user_count', segments.user_count)
  from segments where segments.id = campaigns.segment_id)`

/** In the transaction that starts or ends the campaign. */
export const keepSegment = (campaignId: string): Statement =>
  update(campaigns, { segment_snapshot: currentSegment }, eq(campaigns.id, campaignId))

/** Once the segment has been calculated for a run, unless it changed since. */
export const keepCalculated = ({ id, run }: { id: string; run: number }, epoch: number): Statement =>
  update(
    campaigns,
    { segment_snapshot: currentSegment },
    sql`id = ${id} and run = ${run} and ${inList(sql`status`, runningStatuses)}
      and exists (select 1 from segments where id = campaigns.segment_id and members_epoch = ${epoch})`,
  )
