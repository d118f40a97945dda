import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { inList } from '../../../db/visibility.ts'
import { runningStatuses } from '../../../domain/campaigns/lifecycle.ts'
import type { CampaignSnapshot, RecipientEngagement } from '../../../domain/campaigns/sender.ts'

/** Only while the row is running: it may have been scheduled again or cancelled since the object's run ended. */
const whileRunning = (column: SQL, value: string | number | null): SQL =>
  sql`${column} = iif(${inList(sql`status`, runningStatuses)}, ${value}, ${column})`

/** Writes the object's snapshot into the campaign's row. A snapshot older than the row's changes nothing. */
export const projection = (snapshot: CampaignSnapshot, now: number): SQL =>
  sql`update campaigns set ${whileRunning(sql`status`, snapshot.status)}, total_recipients = ${snapshot.total},
      sent_count = ${snapshot.sent}, failed_count = ${snapshot.failed}, skipped_count = ${snapshot.skipped},
      delivered_count = ${snapshot.delivered}, opened_count = ${snapshot.opened}, clicked_count = ${snapshot.clicked},
      bounced_count = ${snapshot.bounced}, unsubscribed_count = ${snapshot.unsubscribed},
      user_count = ${snapshot.user_count}, ${whileRunning(sql`error_message`, snapshot.error_message)},
      started_at = ${snapshot.started_at}, ${whileRunning(sql`completed_at`, snapshot.completed_at)},
      revision = ${snapshot.revision},
      heartbeat_at = ${now}, version = version + 1, modified_at = ${now}
    where id = ${snapshot.campaign_id} and run = ${snapshot.run} and revision < ${snapshot.revision}`

export const project = async (job: JobCtx, snapshot: CampaignSnapshot): Promise<void> => {
  await job.db.batch([projection(snapshot, job.now())])
}

/** Writes who received a campaign, opened it and clicked in it, for the conditions of segments. */
export async function projectEngagement(
  job: JobCtx,
  campaignId: string,
  rows: readonly RecipientEngagement[],
): Promise<void> {
  const sent = rows.filter(({ state }) => state === 'sent')
  if (sent.length === 0) return
  const values = sent.map((row) => [row.user_id, row.sent_at, row.opened_at, row.clicked_at])
  await job.db.batch([
    sql`insert into campaign_receipts (organization_id, user_id, campaign_id, received_at, opened_at, clicked_at)
      select campaigns.organization_id, users.id, campaigns.id, value ->> 1, value ->> 2, value ->> 3
      from campaigns cross join json_each(${JSON.stringify(values)}) cross join users on users.id = value ->> 0
      where campaigns.id = ${campaignId}
      on conflict (user_id, campaign_id) do update set opened_at = excluded.opened_at, clicked_at = excluded.clicked_at`,
  ])
}
