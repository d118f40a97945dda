import { and, eq, lt, lte, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { campaigns } from '../../../db/schema/messaging/campaigns.ts'
import { inWords } from '../../../db/visibility.ts'
import { update } from '../../../db/write.ts'
import { type CampaignStatus, runningStatuses } from '../../../domain/campaigns/lifecycle.ts'
import { lateAfterMs, missedSchedule } from '../../../domain/campaigns/schedule.ts'
import { type CampaignRow, readCampaign } from './campaign-row.ts'
import { currentSegment } from './segment-snapshot.ts'

/** Starts a campaign that is due, or fails one that is long overdue. A second call changes nothing. */
export async function startDue(job: JobCtx, id: string): Promise<CampaignRow | null> {
  const now = job.now()
  const { scheduled_at } = campaigns
  const due = and(eq(campaigns.id, id), eq(campaigns.status, 'scheduled'), lte(scheduled_at, now))
  const change = { segment_snapshot: currentSegment, version: sql`${campaigns.version} + 1`, modified_at: now }
  const missed = { ...change, status: 'failed' as const, error_message: missedSchedule, completed_at: now }
  const begun = { ...change, status: 'calculating' as const, run: sql`${campaigns.run} + 1`, heartbeat_at: now }
  await job.db.batch([
    update(campaigns, missed, and(due, lt(scheduled_at, now - lateAfterMs))),
    update(campaigns, { ...begun, error_message: '', completed_at: null }, due),
  ])
  return readCampaign(job, id)
}

const isScheduled = inWords(sql`status`, ['scheduled'] satisfies CampaignStatus[])

/** Campaigns that are due, and running ones whose object has not updated their row for `quietMs`; each kind has an index. */
export function findUnattended({ db, now }: JobCtx, quietMs: number, limit: number): Promise<{ id: string }[]> {
  return db.all(
    sql<{ id: string }>`select id from campaigns where ${isScheduled} and scheduled_at <= ${now()}
      union all select id from campaigns where ${inWords(sql`status`, runningStatuses)}
        and coalesce(heartbeat_at, 0) <= ${now() - quietMs} limit ${limit}`,
  )
}
