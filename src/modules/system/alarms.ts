import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import type { Statement } from '../../db/database.ts'
import { alarms } from '../../db/schema/alarms.ts'
import { insertWhere } from '../../db/write.ts'
import { type Alarm, type AlarmCause, type AlarmChanges, compareAlarms } from '../../domain/alarms.ts'
import { dayMs, toIso } from '../../domain/time/instants.ts'
import { postAlarms } from './alarm-posts.ts'
import type { SweepNotice } from './outages.ts'
import { findCauses, selectAlarms, symptomStatements } from './symptoms.ts'

/** An end that could not be posted for this long is dropped. */
const maxPostDelayMs = dayMs

const describeAlarm = ({ kind, subject, resource_id, message, since }: AlarmCause) => ({
  kind,
  ...(subject === '' ? {} : { subject }),
  ...(resource_id === '' ? {} : { resource_id }),
  alarm: message,
  since: toIso(since),
})

const listIds = (rows: readonly Alarm[]): string => JSON.stringify(rows.map(({ id }) => id))

/** Two sweeps can run at once. The index and the conditions let the second one change nothing. */
function buildChanges(job: JobCtx, { begins, absences, returns, ends }: AlarmChanges): Statement[] {
  const now = job.now()
  return [
    ...begins.map((cause) =>
      insertWhere(
        alarms,
        { id: job.newId('alarm'), ...cause },
        sql`not exists (select 1 from alarms where kind = ${cause.kind} and subject = ${cause.subject}
          and resource_id = ${cause.resource_id} and ended_at is null)`,
      ),
    ),
    ...(absences.length
      ? [
          sql`update alarms set absent_since = ${now} where absent_since is null
            and id in (select value from json_each(${listIds(absences)}))`,
        ]
      : []),
    ...(returns.length
      ? [
          sql`update alarms set absent_since = null where ended_at is null
            and id in (select value from json_each(${listIds(returns)}))`,
        ]
      : []),
    ...(ends.length
      ? [
          sql`update alarms set ended_at = ${now} where ended_at is null and absent_since is not null
            and id in (select value from json_each(${listIds(ends)}))`,
        ]
      : []),
  ]
}

/** Ended alarms are stored only until their end is posted. */
function removeEndedAlarms({ now, config }: JobCtx): Statement {
  const endedBefore = config.alerts === null ? now() : now() - maxPostDelayMs
  return sql`delete from alarms where ended_at is not null and ended_at <= ${endedBefore}`
}

/**
 * Stores which alarms begin and end, and posts them to ALERT_WEBHOOK_URL. An alarm ends once its cause was absent for
 * some minutes. Returns what began, what ended and what could not be posted, for the log.
 */
export async function sweepAlarms(job: JobCtx, { isRunHanging = false } = {}): Promise<SweepNotice[]> {
  const { stored = [], ...symptoms } = await job.db.batchNamed({ ...symptomStatements, stored: selectAlarms })
  const standing = stored.filter(({ ended_at }) => ended_at === null)
  // The other sweeps have run before this one, so they are late only while they hang.
  const causes = (await findCauses(job, symptoms)).filter(({ kind }) => isRunHanging || kind !== 'sweeps_late')
  const changes = compareAlarms(standing, causes, job.now())
  const hasEnded = changes.ends.length > 0 || stored.length > standing.length
  const statements = [...buildChanges(job, changes), ...(hasEnded ? [removeEndedAlarms(job)] : [])]
  if (statements.length) await job.db.batch(statements)
  const isUnposted = stored.some(({ notified_at, ended_at }) => notified_at === null || ended_at !== null)
  const mayPost = isUnposted || changes.begins.length > 0 || changes.ends.length > 0
  return [
    ...changes.begins.map((cause) => ({ message: 'An alarm begins.', details: describeAlarm(cause) })),
    ...changes.ends.map((alarm) => ({ message: 'An alarm ends.', details: describeAlarm(alarm) })),
    ...(mayPost ? await postAlarms(job) : []),
  ]
}
