import type { z } from '@hono/zod-openapi'
import type { Config } from '../../context.ts'
import { AppError, notFound } from '../../domain/errors.ts'
import { maxCounted } from '../../domain/system.ts'
import { isOneOfSecrets, readBearerToken } from '../auth/index.ts'
import type { SystemStatus } from './contract.ts'

/** The version of Prometheus' text format. */
export const metricsType = 'text/plain; version=0.0.4; charset=utf-8'

/** Throws 404 without METRICS_TOKEN, so that nothing tells that there are metrics. */
export function requireMetrics({ metricsTokens }: Pick<Config, 'metricsTokens'>): void {
  if (metricsTokens.length === 0) throw notFound()
}

/** Throws 401 unless the header has METRICS_TOKEN or METRICS_TOKEN_PREVIOUS. */
export function checkMetricsToken(config: Pick<Config, 'metricsTokens'>, header: string | undefined): void {
  const token = readBearerToken(header)
  if (token !== null && isOneOfSecrets(token, config.metricsTokens)) return
  throw new AppError('not_authenticated', 'Send the metrics token: `Authorization: Bearer <METRICS_TOKEN>`.', {
    headers: { 'www-authenticate': 'Bearer realm="event-commerce metrics"' },
  })
}

interface Sample {
  labels: Readonly<Record<string, string>>
  value: number
}

const escapeLabel = (text: string): string =>
  text
    .replaceAll('\\', String.raw`\\`)
    .replaceAll('"', String.raw`\"`)
    .replaceAll('\n', String.raw`\n`)

function formatSample(name: string, { labels, value }: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`)
  return `${name}${pairs.length ? `{${pairs.join(',')}}` : ''} ${value}`
}

const toSeconds = (time: string): number => Date.parse(time) / 1000

const capped = `At most ${maxCounted} are counted.`

type Status = z.input<typeof SystemStatus>

interface Gauge {
  name: string
  help: string
  readSamples: (status: Status) => Sample[]
}

const gauges: readonly Gauge[] = [
  {
    name: 'ecms_alarm',
    help: '1 for each alarm that stands.',
    readSamples: ({ alarms }) =>
      alarms
        .filter(({ ended_at }) => ended_at === null)
        .map(({ kind, subject, resource_id }) => ({
          labels: { kind, subject: subject ?? '', resource_id: resource_id ?? '' },
          value: 1,
        })),
  },
  {
    name: 'ecms_alarms_unposted',
    help: 'Alarms whose last post to ALERT_WEBHOOK_URL failed.',
    readSamples: ({ alarms }) => [
      { labels: {}, value: alarms.filter(({ notification_error: error }) => error !== null).length },
    ],
  },
  {
    name: 'ecms_work_due',
    help: `Rows of background work whose time has come. ${capped}`,
    readSamples: ({ work }) => work.map(({ kind, due }) => ({ labels: { kind }, value: due })),
  },
  {
    name: 'ecms_work_planned',
    help: `Rows of background work that are due later or have a worker. ${capped}`,
    readSamples: ({ work }) => work.map(({ kind, planned }) => ({ labels: { kind }, value: planned })),
  },
  {
    name: 'ecms_work_oldest_due_timestamp_seconds',
    help: 'When the oldest due row became due.',
    readSamples: ({ work }) =>
      work.flatMap(({ kind, oldest_due_at: at }) => (at === null ? [] : [{ labels: { kind }, value: toSeconds(at) }])),
  },
  {
    name: 'ecms_sweep_last_run_timestamp_seconds',
    help: 'When a sweep last ran.',
    readSamples: ({ sweeps }) =>
      sweeps.map(({ name, last_run_at }) => ({ labels: { sweep: name }, value: toSeconds(last_run_at) })),
  },
  {
    name: 'ecms_sweep_duration_seconds',
    help: 'How long the last run of a sweep took.',
    readSamples: ({ sweeps }) =>
      sweeps.map(({ name, duration_ms }) => ({ labels: { sweep: name }, value: duration_ms / 1000 })),
  },
  {
    name: 'ecms_sweep_failing',
    help: '1 if the last run of a sweep failed.',
    readSamples: ({ sweeps }) =>
      sweeps.map(({ name, error }) => ({ labels: { sweep: name }, value: error === null ? 0 : 1 })),
  },
  {
    name: 'ecms_dead_messages',
    help: `Messages of queues that failed and were not retried. ${capped}`,
    readSamples: ({ dead_messages }) => dead_messages.map(({ queue, count }) => ({ labels: { queue }, value: count })),
  },
  {
    name: 'ecms_failing_services',
    help: 'Providers, merchant accounts and endpoints that fail.',
    readSamples: ({ failing_services }) =>
      failing_services.map(({ service, count }) => ({ labels: { service }, value: count })),
  },
  {
    name: 'ecms_last_hour_rows',
    help: `Rows that were stored in the last hour, by their status now. ${capped}`,
    readSamples: ({ last_hour }) =>
      last_hour.map(({ kind, status, count }) => ({ labels: { kind, status }, value: count })),
  },
  {
    name: 'ecms_outgoing_held',
    help: '1 while nothing is sent, posted or paid (OUTGOING=hold).',
    readSamples: ({ outgoing }) => [{ labels: {}, value: outgoing === 'held' ? 1 : 0 }],
  },
  {
    name: 'ecms_table_rows',
    help: 'The highest number of a row. Rows that were deleted may count too.',
    readSamples: ({ tables }) => tables.map(({ name, rows }) => ({ labels: { table: name }, value: rows })),
  },
  {
    name: 'ecms_database_size_bytes',
    help: 'The size of the database.',
    readSamples: ({ database_bytes: value }) => (value === null ? [] : [{ labels: {}, value }]),
  },
  {
    name: 'ecms_stored_files_size_bytes',
    help: 'The size of stored files.',
    readSamples: ({ stored_file_bytes: value }) => [{ labels: {}, value }],
  },
]

/** Formats the status as text for Prometheus. A gauge without samples is left out. */
export function formatMetrics(status: Status): string {
  const lines = gauges.flatMap(({ name, help, readSamples }) => {
    const samples = readSamples(status)
    const head = [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`]
    return samples.length === 0 ? [] : [...head, ...samples.map((sample) => formatSample(name, sample))]
  })
  return `${lines.join('\n')}\n`
}
