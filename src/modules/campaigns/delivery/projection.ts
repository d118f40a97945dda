import { eq, type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { abortUnless, commitPart, retryLostRaces } from '../../../db/commit.ts'
import { inList } from '../../../db/conditions.ts'
import { recordLastSeen, selectPresentId } from '../../../db/customers.ts'
import type { Statement } from '../../../db/database.ts'
import { campaigns } from '../../../db/schema/campaigns.ts'
import { select } from '../../../db/select.ts'
import { update } from '../../../db/write.ts'
import { runningStatuses } from '../../../domain/campaigns/lifecycle.ts'
import { quietMs } from '../../../domain/campaigns/schedule.ts'
import type { CampaignSnapshot, RecipientEngagement } from '../../../domain/campaigns/sender.ts'
import { pickWindowWait } from '../../../domain/campaigns/waits.ts'
import { toIso } from '../../../domain/time/instants.ts'
import { pickWait } from '../../../domain/waiting.ts'
import { type Announcement, commitAnnounced } from '../../webhooks/index.ts'

/** Holds for a row that has not seen the run of its object, because the database was restored to an earlier time. */
const isBeforeRun = (run: number): SQL => sql`run < ${run}`

/**
 * Builds the update that copies a snapshot to the campaign's row. An outdated snapshot changes nothing. A campaign that
 * waits for its send window gives no sign of life until it opens. Some columns are set only while the row is running,
 * because the campaign may have been rescheduled or cancelled since, or when the database was restored.
 */
export function buildProjection(snapshot: CampaignSnapshot, now: number): SQL {
  const isBefore = isBeforeRun(snapshot.run)
  const setWhileRunning = (column: SQL, value: string | number | null) =>
    sql`${column} = iif(${inList(sql`status`, runningStatuses)} or ${isBefore}, ${value}, ${column})`
  return sql`update campaigns set ${setWhileRunning(sql`status`, snapshot.status)}, total_recipients = ${snapshot.total},
      sent_count = ${snapshot.sent}, failed_count = ${snapshot.failed},
      rejected_count = ${snapshot.rejected}, unreachable_count = ${snapshot.unreachable},
      rate_limited_count = ${snapshot.rate_limited}, unknown_count = ${snapshot.unknown}, skipped_count = ${snapshot.skipped},
      delivered_count = ${snapshot.delivered}, opened_count = ${snapshot.opened}, clicked_count = ${snapshot.clicked},
      bounced_count = ${snapshot.bounced}, unsubscribed_count = ${snapshot.unsubscribed},
      user_count = ${snapshot.user_count}, ${setWhileRunning(sql`error_message`, snapshot.error_message)},
      waiting_reason = ${snapshot.waiting_reason}, waiting_since = ${snapshot.waiting_since},
      next_attempt_at = ${snapshot.next_attempt_at}, ${setWhileRunning(sql`paused_at`, snapshot.paused_at)},
      ${setWhileRunning(sql`send_window`, snapshot.send_window && JSON.stringify(snapshot.send_window))},
      window_waiting_since = ${snapshot.window_waiting_since}, window_opens_at = ${snapshot.window_opens_at}, started_at = ${snapshot.started_at}, ${setWhileRunning(sql`completed_at`, snapshot.completed_at)},
      run = ${snapshot.run}, revision = ${snapshot.revision},
      heartbeat_at = ${Math.max(now, (snapshot.window_opens_at ?? 0) - quietMs)}, version = version + 1, modified_at = ${now}
    where id = ${snapshot.campaign_id}
      and (run = ${snapshot.run} and revision < ${snapshot.revision} or ${isBefore})`
}

/** Applies a snapshot to a campaign that was running when it was read, as `buildProjection` does. */
export const applySnapshot = <Row extends typeof campaigns.$inferSelect>(
  row: Row,
  snapshot: CampaignSnapshot,
  now: number,
): Row => ({
  ...row,
  status: snapshot.status,
  total_recipients: snapshot.total,
  sent_count: snapshot.sent,
  failed_count: snapshot.failed,
  rejected_count: snapshot.rejected,
  unreachable_count: snapshot.unreachable,
  rate_limited_count: snapshot.rate_limited,
  unknown_count: snapshot.unknown,
  skipped_count: snapshot.skipped,
  user_count: snapshot.user_count,
  error_message: snapshot.error_message,
  ...pickWait(snapshot),
  paused_at: snapshot.paused_at,
  send_window: snapshot.send_window,
  ...pickWindowWait(snapshot),
  started_at: snapshot.started_at,
  completed_at: snapshot.completed_at,
  modified_at: now,
  version: row.version + 1,
})

/** Holds for a running campaign that the snapshot ends. */
const isEndedBy = ({ campaign_id, run, revision }: CampaignSnapshot): SQL =>
  sql`id = ${campaign_id} and run = ${run} and revision < ${revision} and ${inList(sql`status`, runningStatuses)}`

/**
 * Builds the event of a campaign that the snapshot ends as sent. A retry ends it again and is not announced. Returns null
 * when the row does not become `sent`.
 */
async function buildSentAnnouncement(job: JobCtx, snapshot: CampaignSnapshot): Promise<Announcement | null> {
  if (snapshot.status !== 'sent') return null
  const campaign = await job.db.first(
    select({
      organization_id: campaigns.organization_id,
      edition_id: campaigns.edition_id,
      channel: campaigns.channel,
    })
      .from(campaigns)
      .where(isEndedBy(snapshot)),
  )
  if (!campaign) return null
  const { campaign_id, total, sent, failed, skipped, completed_at } = snapshot
  const { organization_id, edition_id, channel } = campaign
  const counts = { total_recipients: total, sent_count: sent, failed_count: failed, skipped_count: skipped }
  return {
    kind: 'campaign.sent',
    organization_id,
    edition_id,
    data: { campaign: { id: campaign_id, channel, ...counts }, occurred_at: toIso(completed_at ?? job.now()) },
    dedup_key: `campaign.sent:${campaign_id}`,
  }
}

export const projectSnapshot = (job: JobCtx, snapshot: CampaignSnapshot): Promise<void> =>
  retryLostRaces(async () => {
    const announcement = await buildSentAnnouncement(job, snapshot)
    const projection = buildProjection(snapshot, job.now())
    if (!announcement) return commitPart(job, [projection])
    const isStillEnded = abortUnless(sql`exists (select 1 from campaigns where ${isEndedBy(snapshot)})`)
    return commitAnnounced(job, [isStillEnded, projection], [announcement])
  })

/** Lists the latest open or click of each recipient. Machines have other columns. A provider's clock may be ahead. */
const listVisits = (rows: readonly RecipientEngagement[], now: number): { user_id: string; at: number }[] =>
  rows.flatMap(({ user_id, opened_at, clicked_at }) => {
    const latestVisit = Math.max(opened_at ?? 0, clicked_at ?? 0)
    return latestVisit === 0 ? [] : [{ user_id, at: Math.min(latestVisit, now) }]
  })

/**
 * A customer into whom another recipient of the campaign was merged has the first times and the links of both, and got
 * the message if one of them did.
 */
export const combineEngagement = sql.join(
  [
    ...['received_at', 'delivered_at', 'opened_at', 'clicked_at', 'bounced_at', 'complained_at', 'unsubscribed_at'].map(
      (name) => {
        const [before, after] = [sql.raw(`campaign_receipts.${name}`), sql.raw(`excluded.${name}`)]
        return sql`${sql.raw(name)} = coalesce(min(${before}, ${after}), ${before}, ${after})`
      },
    ),
    sql`state = iif(campaign_receipts.state = 'sent', 'sent', excluded.state)`,
    sql`reason = iif(campaign_receipts.state = 'sent', null, excluded.reason)`,
    sql`missed_at = iif('sent' in (campaign_receipts.state, excluded.state), null,
      coalesce(campaign_receipts.missed_at, excluded.missed_at))`,
    sql`clicked_links = iif(campaign_receipts.clicked_links is null or excluded.clicked_links is null,
      coalesce(campaign_receipts.clicked_links, excluded.clicked_links),
      (select json_group_array(value order by value) from (select value from json_each(campaign_receipts.clicked_links)
        union select value from json_each(excluded.clicked_links))))`,
  ],
  sql`, `,
)

/**
 * Stores what became of a campaign for each recipient, for the conditions of segments and the messages of people, and
 * when people were last seen. Recipients who are pending again keep their earlier row.
 */
export async function projectEngagement(
  job: JobCtx,
  campaignId: string,
  rows: readonly RecipientEngagement[],
): Promise<void> {
  const endedRows = rows.filter(({ state }) => state !== 'pending')
  if (endedRows.length === 0) return
  const now = job.now()
  const sentRows = endedRows.filter(({ state }) => state === 'sent')
  const values = endedRows.map((row) => [
    row.user_id,
    row.state,
    row.reason,
    row.state === 'sent' ? null : now,
    row.state === 'sent' ? row.sent_at : null,
    row.delivered_at,
    row.opened_at,
    row.clicked_at,
    row.bounced_at,
    row.complained_at,
    row.unsubscribed_at,
    row.clicked_links,
  ])
  await job.db.batch([
    sql`insert into campaign_receipts (organization_id, user_id, campaign_id, state, reason, missed_at, received_at,
        delivered_at, opened_at, clicked_at, bounced_at, complained_at, unsubscribed_at, clicked_links)
      select campaigns.organization_id, users.id, campaigns.id, value ->> 1, value ->> 2, value ->> 3, value ->> 4,
        value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11
      from campaigns cross join json_each(${JSON.stringify(values)}) cross join users
        on users.id = ${selectPresentId(sql`value ->> 0`)}
      where campaigns.id = ${campaignId}
      on conflict (user_id, campaign_id) do update set ${combineEngagement}`,
    ...recordLastSeen(listVisits(sentRows, now)),
  ])
}

/**
 * The value of `segment_snapshot` in an update of `campaigns`. Recipients of earlier runs stay listed, so a campaign
 * that was started with segments of several editions belongs to the whole organisation from then on.
 */
export const segmentSnapshotValue: SQL = sql`(select json_object('edition_id', iif(campaigns.segment_snapshot is null
      or campaigns.segment_snapshot ->> '$.edition_id' is segments.edition_id, segments.edition_id, null),
    'name', segments.name, 'communication_type', segments.communication_type,
    'communication_channel', segments.communication_channel, 'status', segments.status,
    'user_count', segments.user_count)
  from segments where segments.id = campaigns.segment_id)`

/** Stores the segment's current data with the campaign. */
export const snapshotSegment = (campaignId: string): Statement =>
  update(campaigns, { segment_snapshot: segmentSnapshotValue }, eq(campaigns.id, campaignId))

/** Stores the segment's data after it was calculated for a run, unless it was calculated again since. */
export const snapshotCalculatedSegment = ({ id, run }: { id: string; run: number }, epoch: number): Statement =>
  update(
    campaigns,
    { segment_snapshot: segmentSnapshotValue },
    sql`id = ${id} and run = ${run} and ${inList(sql`status`, runningStatuses)}
      and exists (select 1 from segments where id = campaigns.segment_id and members_epoch = ${epoch})`,
  )
