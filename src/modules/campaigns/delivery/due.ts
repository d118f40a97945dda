import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { inList } from '../../../db/visibility.ts'
import { runningStatuses } from '../../../domain/campaigns/lifecycle.ts'
import { lateAfterMs, missedSchedule } from '../../../domain/campaigns/schedule.ts'
import { type CampaignRow, readCampaign } from './campaign-row.ts'
import { currentSegment } from './segment-snapshot.ts'

/** Starts a campaign that is due, or fails one that is long overdue. A second call changes nothing. */
export async function startDue(job: JobCtx, id: string): Promise<CampaignRow | null> {
  const now = job.now()
  const due = sql`id = ${id} and status = 'scheduled' and scheduled_at <= ${now}`
  await job.db.batch([
    sql`update campaigns set status = 'failed', error_message = ${missedSchedule}, completed_at = ${now},
      segment_snapshot = ${currentSegment}, version = version + 1, modified_at = ${now} where ${due} and scheduled_at < ${now - lateAfterMs}`,
    sql`update campaigns set status = 'calculating', run = run + 1, heartbeat_at = ${now}, error_message = '',
      completed_at = null, segment_snapshot = ${currentSegment}, version = version + 1, modified_at = ${now}
      where ${due}`,
  ])
  return readCampaign(job, id)
}

/** Campaigns that are due, and running ones whose object has not updated their row for `quietMs`. */
export function findUnattended({ db, now }: JobCtx, quietMs: number, limit: number): Promise<{ id: string }[]> {
  return db.all(
    sql<{ id: string }>`select id from campaigns where status = 'scheduled' and scheduled_at <= ${now()}
      union all select id from campaigns where ${inList(sql`status`, runningStatuses)}
        and status in ('calculating', 'sending') and coalesce(heartbeat_at, 0) <= ${now() - quietMs} limit ${limit}`,
  )
}
