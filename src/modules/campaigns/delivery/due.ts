import { and, eq, isNull, lt, lte, type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { inWords } from '../../../db/conditions.ts'
import type { OutageRow } from '../../../db/outages.ts'
import { campaigns } from '../../../db/schema/campaigns.ts'
import { editions } from '../../../db/schema/editions.ts'
import { type RowOf, select } from '../../../db/select.ts'
import { selectWork, type WorkCount } from '../../../db/work-counts.ts'
import { update } from '../../../db/write.ts'
import { type CampaignStatus, runningStatuses } from '../../../domain/campaigns/lifecycle.ts'
import { lateAfterMs, missedSchedule, quietMs } from '../../../domain/campaigns/schedule.ts'
import { heldReason } from '../../../domain/waiting.ts'
import { segmentSnapshotValue } from './projection.ts'

const requestedRunFields = {
  id: campaigns.id,
  channel: campaigns.channel,
  status: campaigns.status,
  run: campaigns.run,
  revision: campaigns.revision,
  scheduled_at: campaigns.scheduled_at,
  paused_at: campaigns.paused_at,
  send_window: campaigns.send_window,
  timezone: editions.timezone,
}
export type RequestedRun = RowOf<typeof requestedRunFields>

/** Reads which run a campaign's row requests. A campaign that is due is started first. */
export async function startAndReadRequestedRun(job: JobCtx, id: string): Promise<RequestedRun | null> {
  const readRun = () =>
    job.db.first(
      select(requestedRunFields)
        .from(campaigns)
        .innerJoin(editions, eq(editions.id, campaigns.edition_id))
        .where(eq(campaigns.id, id)),
    )
  const request = await readRun()
  const isStarting = request?.status === 'scheduled' && request.paused_at === null
  if (!isStarting || (request.scheduled_at ?? 0) > job.now()) return request ?? null
  await startDueCampaign(job, id)
  return (await readRun()) ?? null
}

/** Starts a campaign that is due, or fails it when it is long overdue. A second call changes nothing. */
async function startDueCampaign(job: JobCtx, id: string): Promise<void> {
  const now = job.now()
  const { scheduled_at } = campaigns
  const isDue = and(
    eq(campaigns.id, id),
    eq(campaigns.status, 'scheduled'),
    isNull(campaigns.paused_at),
    lte(scheduled_at, now),
  )
  const sharedColumns = {
    segment_snapshot: segmentSnapshotValue,
    version: sql`${campaigns.version} + 1`,
    modified_at: now,
  }
  const failedColumns = {
    ...sharedColumns,
    status: 'failed' as const,
    error_message: missedSchedule,
    completed_at: now,
  }
  const startedColumns = {
    ...sharedColumns,
    status: 'calculating' as const,
    run: sql`${campaigns.run} + 1`,
    heartbeat_at: now,
  }
  await job.db.batch([
    update(campaigns, failedColumns, and(isDue, lt(scheduled_at, now - lateAfterMs))),
    update(campaigns, { ...startedColumns, error_message: '', completed_at: null }, isDue),
  ])
}

/** A paused campaign waits for its end of the pause, so neither its schedule nor its heartbeat is late. */
const isScheduled = sql`${inWords(sql`status`, ['scheduled'] satisfies CampaignStatus[])} and paused_at is null`
const isAtWork = sql`${inWords(sql`status`, runningStatuses)} and paused_at is null`

/** Starts campaigns that are scheduled up to a time as if it had come, each at its own time. */
export async function startCampaignsUntil(job: JobCtx, until: number): Promise<void> {
  const scheduledCampaigns = await job.db.all(
    sql<{ id: string; scheduled_at: number }>`select id, scheduled_at from campaigns
      where ${isScheduled} and scheduled_at > ${job.now()} and scheduled_at <= ${until} order by scheduled_at`,
  )
  for (const { id, scheduled_at } of scheduledCampaigns) {
    await startDueCampaign({ ...job, now: () => scheduled_at }, id)
    await job.senders.get(id).wake(id)
  }
}

export const selectScheduledWork = (now: number): SQL<WorkCount> =>
  selectWork(now, {
    kind: 'scheduled_campaigns',
    from: sql`campaigns indexed by campaigns_due`,
    where: isScheduled,
    dueAt: sql`scheduled_at`,
  })

export const selectRunningWork = (now: number): SQL<WorkCount> =>
  selectWork(now - quietMs, {
    kind: 'running_campaigns',
    from: sql`campaigns indexed by campaigns_running`,
    where: isAtWork,
    dueAt: sql`heartbeat_at`,
  })

/** Lists campaigns that are due, and running ones whose row was not updated for `quietMs`. Each part uses an index. */
export function listUnattended({ db, now }: JobCtx, limit: number): Promise<{ id: string }[]> {
  return db.all(
    sql<{ id: string }>`select id from campaigns where ${isScheduled} and scheduled_at <= ${now()}
      union all select id from campaigns where ${isAtWork}
        and coalesce(heartbeat_at, 0) <= ${now() - quietMs} limit ${limit}`,
  )
}

/** Selects the campaign of each channel that has waited for its provider longest. */
export const selectCampaignWaits: SQL<OutageRow> = sql`select channel as service, '' as resource_id,
    waiting_reason as reason, min(waiting_since) as since, next_attempt_at
  from campaigns where ${isAtWork} and waiting_since is not null and window_opens_at is null and waiting_reason <> ${heldReason}
  group by channel`
