import type { SweepRuns } from './system.ts'
import { minuteMs } from './time/instants.ts'
import { type Service, services } from './waiting.ts'
import { findDestinationFault } from './webhooks/webhook-destination.ts'

export const alarmKinds = [
  'dead_messages',
  'sweeps_late',
  'sweep_failing',
  'provider_failing',
  'database_full',
] as const
export type AlarmKind = (typeof alarmKinds)[number]

/** The advice about an alarm, and the heading of the documents that says more. */
export const alarmGuides: Readonly<Record<AlarmKind, { action: string; guide: string }>> = {
  dead_messages: {
    action: 'Read their errors with GET /v1/system/dead-messages, mend the fault, and retry them.',
    guide: 'docs/operating.md#messages-that-died',
  },
  sweeps_late: {
    action: 'Check that the cron trigger runs, and look for errors of the Worker in the log.',
    guide: 'docs/operating.md#late-sweeps',
  },
  sweep_failing: {
    action: 'Read its error in GET /v1/system/status, and mend the fault.',
    guide: 'docs/operating.md#a-sweep-that-fails',
  },
  provider_failing: {
    action: 'Check the status page of the provider, and the key and the account that this service uses.',
    guide: 'docs/operating.md#a-provider-that-fails',
  },
  database_full: {
    action: 'Delete what you no longer need, or move organisations to another database.',
    guide: 'docs/operating.md#a-database-that-is-nearly-full',
  },
}

/** A failure that lasts this long becomes an alarm. Shorter ones mostly pass by themselves. */
const failingMs = 10 * minuteMs

/** The sweeps are late when no run of all sweeps has ended for this long. */
const lateMs = 10 * minuteMs

export const areSweepsLate = (lastRunAt: number | null, now: number): boolean =>
  lastRunAt !== null && now - lastRunAt > lateMs

/** An alarm ends when its cause was absent for this long, so that a cause that comes and goes is one alarm. */
export const endsAfterMs = 10 * minuteMs

const gigabyte = 1e9
const maxDatabaseBytes = 10 * gigabyte
const fullBytes = 0.8 * maxDatabaseBytes

/** Identifies an alarm among those that stand. The texts are empty where the kind has no subject or resource. */
export interface AlarmKey {
  kind: AlarmKind
  subject: string
  resource_id: string
}

/** A fault that is present now. */
export interface AlarmCause extends AlarmKey {
  /** A sentence without personal data, because other services get it. */
  message: string
  since: number
}

/** An alarm as it is stored. */
export interface Alarm extends AlarmCause {
  id: string
  absent_since: number | null
  ended_at: number | null
  notified_at: number | null
  notification_error: string | null
}

export interface Symptoms {
  runs: SweepRuns
  /** The last time at which a run of all sweeps ended, or else at which the database was migrated. Null: nobody knows. */
  sweptAt: number | null
  deadQueues: readonly { queue: string; since: number }[]
  outages: readonly { service: Service; resource_id: string; reason: string; since: number }[]
  databaseBytes: number | null
}

const listSweepCauses = ({ runs, sweptAt }: Symptoms, now: number): AlarmCause[] => [
  ...(areSweepsLate(sweptAt, now)
    ? [
        {
          kind: 'sweeps_late' as const,
          subject: '',
          resource_id: '',
          message: 'The sweeps of each minute are late: none of their runs has ended for ten minutes.',
          since: sweptAt ?? now,
        },
      ]
    : []),
  ...Object.entries(runs).flatMap(([subject, { failing_since }]) =>
    failing_since === null || now - failing_since < failingMs
      ? []
      : [
          {
            kind: 'sweep_failing' as const,
            subject,
            resource_id: '',
            message: `The sweep ${subject} fails in every run.`,
            since: failing_since,
          },
        ],
  ),
]

const listProviderCauses = ({ outages }: Symptoms, now: number): AlarmCause[] =>
  outages
    .filter(({ service, since }) => service !== 'webhook' && now - since >= failingMs)
    .map(({ service, resource_id, reason, since }) => ({
      kind: 'provider_failing',
      subject: service,
      resource_id,
      message: reason || `${services[service]} fails.`,
      since,
    }))

/** Finds the faults that should wake somebody. */
export const findAlarmCauses = (symptoms: Symptoms, now: number): AlarmCause[] => [
  ...listSweepCauses(symptoms, now),
  ...listProviderCauses(symptoms, now),
  ...symptoms.deadQueues.map(({ queue, since }) => ({
    kind: 'dead_messages' as const,
    subject: queue,
    resource_id: '',
    message: `Messages of the queue ${queue} failed at every attempt.`,
    since,
  })),
  ...((symptoms.databaseBytes ?? 0) < fullBytes
    ? []
    : [
        {
          kind: 'database_full' as const,
          subject: '',
          resource_id: '',
          message: `The database is nearly full: it has more than ${fullBytes / gigabyte} of ${maxDatabaseBytes / gigabyte} GB.`,
          since: now,
        },
      ]),
]

const formatKey = ({ kind, subject, resource_id }: AlarmKey): string => JSON.stringify([kind, subject, resource_id])

export interface AlarmChanges {
  begins: readonly AlarmCause[]
  /** Alarms whose cause is absent since now. */
  absences: readonly Alarm[]
  /** Alarms whose cause is present again. */
  returns: readonly Alarm[]
  ends: readonly Alarm[]
}

/** Compares the causes of now with the alarms that stand. */
export function compareAlarms(standing: readonly Alarm[], causes: readonly AlarmCause[], now: number): AlarmChanges {
  const standingKeys = new Set(standing.map(formatKey))
  const causeKeys = new Set(causes.map(formatKey))
  const [present, absent] = [true, false].map((isPresent) =>
    standing.filter((alarm) => causeKeys.has(formatKey(alarm)) === isPresent),
  ) as [Alarm[], Alarm[]]
  return {
    begins: causes.filter((cause) => !standingKeys.has(formatKey(cause))),
    absences: absent.filter(({ absent_since }) => absent_since === null),
    returns: present.filter(({ absent_since }) => absent_since !== null),
    ends: absent.filter(({ absent_since }) => absent_since !== null && now - absent_since >= endsAfterMs),
  }
}

/** An alarm as it is shown: `notified_at` and the like are null until a sweep has stored it. */
export type ShownAlarm = Omit<Alarm, 'id'> & { is_present: boolean }

/** Joins the stored alarms with the causes of now, some of which no sweep has stored yet. */
export function joinAlarms(alarms: readonly Alarm[], causes: readonly AlarmCause[]): ShownAlarm[] {
  const causesByKey = new Map(causes.map((cause) => [formatKey(cause), cause]))
  const standingKeys = new Set(alarms.filter(({ ended_at }) => ended_at === null).map(formatKey))
  const unstored = { absent_since: null, ended_at: null, notified_at: null, notification_error: null }
  return [
    ...causes
      .filter((cause) => !standingKeys.has(formatKey(cause)))
      .map((cause) => ({ ...cause, ...unstored, is_present: true })),
    ...alarms.map(({ id: _, ...alarm }) => {
      const cause = alarm.ended_at === null ? causesByKey.get(formatKey(alarm)) : undefined
      return { ...alarm, message: cause?.message ?? alarm.message, is_present: cause !== undefined }
    }),
  ]
}

type Policy = Parameters<typeof findDestinationFault>[1]

/** Says why alarms cannot be posted to the address. Null if they can. Operators may use ports and private names. */
export function describeAlertFault(url: string, policy: Policy): string | null {
  switch (findDestinationFault(url, policy)) {
    case 'malformed':
      return 'The address for alarms is not a web address.'
    case 'credentials':
      return 'The address for alarms contains a user name or a password.'
    case 'own_host':
      return 'The address for alarms points to this service itself.'
    case 'protocol':
    case 'https':
      return 'The address for alarms must begin with https://.'
    default:
      return null
  }
}
