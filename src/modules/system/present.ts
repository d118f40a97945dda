import type { z } from '@hono/zod-openapi'
import { alarmGuides } from '../../domain/alarms.ts'
import { maxCounted } from '../../domain/system.ts'
import { toIso, toIsoOrNull } from '../../domain/time/instants.ts'
import { type DeadMessage, maxBodyLength, type SystemStatus } from './contract.ts'
import type { DeadMessageRow, StatusRows } from './queries.ts'

export const presentStatus = (status: StatusRows): z.input<typeof SystemStatus> => ({
  outgoing: status.outgoing,
  alarms: status.alarms.map((alarm) => ({
    kind: alarm.kind,
    subject: alarm.subject || null,
    resource_id: alarm.resource_id || null,
    message: alarm.message,
    ...alarmGuides[alarm.kind],
    since: toIso(alarm.since),
    is_present: alarm.is_present,
    ended_at: toIsoOrNull(alarm.ended_at),
    notified_at: toIsoOrNull(alarm.notified_at),
    notification_error: alarm.notification_error,
  })),
  work: status.work.map(({ kind, due, planned, oldest_due_at }) => ({
    kind,
    due,
    planned,
    oldest_due_at: toIsoOrNull(oldest_due_at),
  })),
  counted_up_to: maxCounted,
  sweeps: Object.entries(status.sweeps).map(([name, run]) => ({
    name,
    last_run_at: toIso(run.last_run_at),
    duration_ms: run.duration_ms,
    failing_since: toIsoOrNull(run.failing_since),
    error: run.error,
  })),
  dead_messages: status.deadMessages.map(({ queue, count, latest_at, latest_error }) => ({
    queue,
    count,
    latest_at: toIso(latest_at),
    latest_error,
  })),
  failing_services: status.outages.map(({ service, count, resource_id, reason, since, next_attempt_at }) => ({
    service,
    count,
    resource_id: resource_id || null,
    reason,
    waiting_since: toIso(since),
    next_attempt_at: toIsoOrNull(next_attempt_at),
  })),
  last_hour: status.recent.map(({ kind, status: state, count }) => ({ kind, status: state, count })),
  database_bytes: status.databaseBytes,
  stored_file_bytes: status.sizes.stored_file_bytes,
  tables: [
    { name: 'orders', rows: status.sizes.orders },
    { name: 'customers', rows: status.sizes.customers },
    { name: 'edition_customers', rows: status.sizes.edition_customers },
  ],
})

export const presentDeadMessage = (row: DeadMessageRow): z.input<typeof DeadMessage> => ({
  id: row.id,
  created: toIso(row.created_at),
  queue: row.queue,
  body: row.body.slice(0, maxBodyLength),
  error: row.error,
  retried_at: toIsoOrNull(row.retried_at),
})
