import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import type { Database, NamedRows } from '../../db/database.ts'
import { alarms } from '../../db/schema/alarms.ts'
import { select } from '../../db/select.ts'
import { selectSweepRuns } from '../../db/sweeps.ts'
import { type AlarmCause, findAlarmCauses, type Symptoms } from '../../domain/alarms.ts'

const maxProviderAlarms = 14

/** Services themselves come first, so that failing merchant accounts do not hide them. */
const selectProviderOutages = sql<Symptoms['outages'][number]>`select service, resource_id, reason, since
  from service_outages where service <> 'webhook' order by resource_id <> '', since limit ${maxProviderAlarms}`

/** Jumps from queue to queue in the index, however many messages each of them has. */
const selectDeadQueues = sql<Symptoms['deadQueues'][number]>`with recursive queues (queue) as (
    select min(queue) from dead_messages indexed by dead_messages_waiting where retried_at is null
    union all
    select (select min(queue) from dead_messages indexed by dead_messages_waiting
      where retried_at is null and queue > queues.queue)
    from queues where queue is not null)
  select queue, (select min(created_at) from dead_messages indexed by dead_messages_waiting
    where retried_at is null and queue = queues.queue) as since
  from queues where queue is not null`

const { id, kind, subject, resource_id, message, since, absent_since, ended_at, notified_at, notification_error } =
  alarms

/** Alarms that stand, and those whose end is not posted yet. */
export const selectAlarms = select({
  id,
  kind,
  subject,
  resource_id,
  message,
  since,
  absent_since,
  ended_at,
  notified_at,
  notification_error,
})
  .from(alarms)
  .orderBy(since, id)

/** The statements that read what the causes of alarms depend on. */
export const symptomStatements = {
  runs: selectSweepRuns(),
  deadQueues: selectDeadQueues,
  providerOutages: selectProviderOutages,
}

/** Returns when the database was last migrated, on the machine's clock. Null for a database without this record. */
async function findMigrationTime(db: Database): Promise<number | null> {
  const row = await db
    .first(sql<{ at: number | null }>`select unixepoch(max(applied_at)) * 1000 as at from d1_migrations`)
    .catch((error: unknown) => {
      if (error instanceof Error && error.message.includes('no such table')) return null
      throw error
    })
  return row?.at ?? null
}

/** Returns when a run of all sweeps last ended, or else when the database was migrated, on the machine's clock. */
export const findSweepTime = async (db: Database, run: { ended_at: number } | undefined): Promise<number | null> =>
  run?.ended_at ?? findMigrationTime(db)

type SymptomRows = NamedRows<typeof symptomStatements>

/** Finds the causes of alarms in what the statements returned. */
export async function findCauses(
  job: Pick<JobCtx, 'db' | 'now' | 'clockOffsetMs'>,
  { runs = [], deadQueues = [], providerOutages = [] }: SymptomRows,
): Promise<AlarmCause[]> {
  const machineTime = await findSweepTime(job.db, runs[0])
  const sweptAt = machineTime === null ? null : machineTime + (job.clockOffsetMs?.() ?? 0)
  const databaseBytes = job.db.sizeBytes
  const symptoms = { runs: runs[0]?.sweeps ?? {}, sweptAt, deadQueues, outages: providerOutages, databaseBytes }
  return findAlarmCauses(symptoms, job.now())
}
