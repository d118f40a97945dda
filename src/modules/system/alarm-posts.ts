import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { claimUntil, isClaimable, release } from '../../db/claims.ts'
import { type Alarm, type AlarmKind, alarmGuides, describeAlertFault } from '../../domain/alarms.ts'
import { minuteMs, readSharedTime, toIso } from '../../domain/time/instants.ts'
import { signHeaders } from '../../domain/webhooks/webhook-signature.ts'
import type { PostResult } from '../../gateways/webhook-post/webhook-post.ts'
import type { SweepNotice } from './outages.ts'

/** With the time limit they bound how long a receiver can delay the sweep. */
const maxPosts = 10
const timeoutMs = 5000
const claimMs = 2 * minuteMs

type Post = Pick<
  Alarm,
  'id' | 'kind' | 'subject' | 'resource_id' | 'message' | 'since' | 'ended_at' | 'notified_at'
> & { attempted_at: number | null }

/** Claims alarms whose beginning or end is not posted. Those that were not attempted for longest come first. */
async function claimPosts({ db, now }: JobCtx): Promise<Post[]> {
  const posts = await db.all(sql<Post>`update alarms set ${claimUntil(now(), claimMs)} where id in (
      select id from alarms where (notified_at is null or ended_at is not null) and ${isClaimable(now())}
      order by coalesce(attempted_at, 0), since, id limit ${maxPosts})
    returning id, kind, subject, resource_id, message, since, ended_at, notified_at, attempted_at`)
  return posts.toSorted((a, b) => (a.attempted_at ?? 0) - (b.attempted_at ?? 0) || a.since - b.since)
}

interface Payload {
  type: 'alarm.began' | 'alarm.ended'
  timestamp: string
  /** The alarm as a sentence, for receivers that show a text, such as chats. */
  text: string
  data: {
    id: string
    kind: AlarmKind
    subject: string | null
    resource_id: string | null
    message: string
    since: string
    ended_at: string | null
    action: string
    guide: string
    service_url: string
  }
}

/** Builds the same payload at each attempt. The beginning of an alarm is posted before its end. */
function buildPayload({ publicUrl }: { publicUrl: string }, alarm: Post): Payload {
  const { id, kind, subject, resource_id, message, since } = alarm
  const endedAt = alarm.notified_at === null ? null : alarm.ended_at
  return {
    type: endedAt === null ? 'alarm.began' : 'alarm.ended',
    timestamp: toIso(endedAt ?? since),
    text: endedAt === null ? `Alarm: ${message}` : `The alarm has ended: ${message}`,
    data: {
      id,
      kind,
      subject: subject || null,
      resource_id: resource_id || null,
      message,
      since: toIso(since),
      ended_at: endedAt === null ? null : toIso(endedAt),
      ...alarmGuides[kind],
      service_url: publicUrl,
    },
  }
}

function describeFailure({ status, error }: Pick<PostResult, 'status' | 'error'>): string | null {
  if (error === null) return null
  if (error === 'redirect') return `The receiver redirects (${status}), and redirects are not followed.`
  if (status !== null) return `The receiver answers ${status}.`
  if (error === 'timeout') return `The receiver does not answer within ${timeoutMs / 1000} seconds.`
  return `The receiver is not reached (${error}).`
}

/** Makes one post. Returns why it failed, or null. */
async function post(
  job: JobCtx,
  { url, secret }: { url: string; secret: string },
  alarm: Post,
): Promise<string | null> {
  const fault = describeAlertFault(url, job.config.webhooks)
  if (fault !== null) return fault
  const payload = buildPayload(job.config, alarm)
  const body = JSON.stringify(payload)
  const event = { id: `${alarm.id}_${payload.type === 'alarm.began' ? 'began' : 'ended'}`, payload: body }
  const keys = { secret, previous_secret: null, previous_secret_until: null }
  const { headers } = await signHeaders(keys, event, job.now(), readSharedTime(job))
  return describeFailure(await job.alertPost.post({ url, headers, body, timeoutMs }))
}

/** A crash between the post and this leads to another post with the same `webhook-id`. */
const recordSuccess = ({ id, notified_at }: Post, now: number) =>
  notified_at === null
    ? sql`update alarms set notified_at = ${now}, notification_error = null, attempted_at = ${now}, ${release}
        where id = ${id}`
    : sql`delete from alarms where id = ${id} and ended_at is not null`

/**
 * Posts what began and ended to ALERT_WEBHOOK_URL, each thing once unless a crash intervenes. It stops at the first
 * failure, and the next sweep tries again. Returns the failure for the log.
 */
export async function postAlarms(job: JobCtx): Promise<SweepNotice[]> {
  const { alerts } = job.config
  if (alerts === null) return []
  const claims = await claimPosts(job)
  for (const [index, alarm] of claims.entries()) {
    const failure = await post(job, alerts, alarm)
    if (failure === null) {
      await job.db.all(recordSuccess(alarm, job.now()))
      continue
    }
    const ids = JSON.stringify(claims.slice(index).map(({ id }) => id))
    await job.db.batch([
      sql`update alarms set notification_error = ${failure}, attempted_at = ${job.now()} where id = ${alarm.id}`,
      sql`update alarms set ${release} where id in (select value from json_each(${ids}))`,
    ])
    return [{ message: 'An alarm could not be posted.', details: { kind: alarm.kind, reason: failure } }]
  }
  return []
}
