import { z } from '@hono/zod-openapi'
import { alarmKinds } from '../../domain/alarms.ts'
import { maxCounted, workKinds } from '../../domain/system.ts'
import { services } from '../../domain/waiting.ts'
import { Count, Id, Timestamp } from '../../http/fields.ts'
import { action, operation } from '../../http/operations/operation.ts'
import { BooleanFilter, InstantFilter, ListPage, type ListRequest, listQuery } from '../../http/requests/list-query.ts'

const Alarm = z.object({
  kind: z.enum(alarmKinds),
  subject: z
    .string()
    .nullable()
    .openapi({ description: 'The queue, the sweep or the service. Null for other alarms.', example: 'refunds' }),
  resource_id: Id('mac').nullable().openapi({ description: 'The merchant account that fails. Null for other alarms.' }),
  message: z.string().openapi({ example: 'Messages of the queue refunds failed at every attempt.' }),
  action: z.string().openapi({ description: 'What to do.' }),
  guide: z.string().openapi({
    description: 'The page and the heading of the documents.',
    example: 'docs/operating.md#messages-that-died',
  }),
  since: Timestamp,
  is_present: z.boolean().openapi({
    description: 'False when its cause is absent. An alarm ends when its cause was absent for ten minutes.',
  }),
  ended_at: Timestamp.nullable().openapi({
    description: 'Null while it stands. Ended alarms stay until you are told.',
  }),
  notified_at: Timestamp.nullable().openapi({
    description: 'When the beginning was posted to `ALERT_WEBHOOK_URL`. Null until then.',
  }),
  notification_error: z
    .string()
    .nullable()
    .openapi({ description: 'Why the last post failed. Null when none has failed.' }),
})

const Work = z.object({
  kind: z.enum(workKinds),
  due: Count.openapi({
    description: 'Rows whose time has come. Of imports, calculations and running campaigns: those without a worker.',
  }),
  planned: Count.openapi({ description: 'Rows that are due later, such as the next attempts, or have a worker now.' }),
  oldest_due_at: Timestamp.nullable().openapi({ description: 'Null when nothing is due.' }),
})

const Sweep = z.object({
  name: z.string().openapi({ example: 'webhook-deliveries' }),
  last_run_at: Timestamp,
  duration_ms: Count,
  failing_since: Timestamp.nullable().openapi({ description: 'Null when the last run succeeded.' }),
  error: z.string().nullable().openapi({ description: 'Null when the last run succeeded.' }),
})

const DeadMessageGroup = z.object({
  queue: z.string().openapi({ example: 'refunds' }),
  count: Count,
  latest_at: Timestamp,
  latest_error: z.string().nullable().openapi({ description: 'Null when the consumer could not store it.' }),
})

const FailingService = z.object({
  service: z.enum(Object.keys(services) as [keyof typeof services, ...(keyof typeof services)[]]),
  count: Count.openapi({
    description: 'The number of merchant accounts or endpoints that fail. 1 for other services.',
  }),
  resource_id: z
    .union([Id('mac'), Id('whk')])
    .nullable()
    .openapi({
      description: 'The merchant account or the endpoint that has failed longest. Null for other services.',
    }),
  reason: z.string().openapi({ example: 'The e-mail provider answers 500.' }),
  waiting_since: Timestamp,
  next_attempt_at: Timestamp.nullable().openapi({ description: 'Null when none is planned.' }),
})

export const SystemStatus = z
  .object({
    outgoing: z.enum(['sending', 'held']).openapi({
      description: '`held`: nothing is sent, posted or paid until the setting `OUTGOING=hold` is removed.',
    }),
    alarms: z.array(Alarm).openapi({ description: 'Faults that should wake somebody.' }),
    work: z.array(Work).openapi({ description: 'The background work that waits, by kind.' }),
    counted_up_to: z.literal(maxCounted).openapi({ description: 'Counts end at this number.' }),
    sweeps: z.array(Sweep).openapi({ description: 'The jobs of each minute. Empty before their first run.' }),
    dead_messages: z
      .array(DeadMessageGroup)
      .openapi({ description: 'Messages that failed and were not retried, by queue.' }),
    failing_services: z.array(FailingService).openapi({ description: 'Services that something waits for.' }),
    last_hour: z
      .array(z.object({ kind: z.string(), status: z.string(), count: Count }))
      .openapi({ description: 'Rows that were stored in the last hour, by their status now.' }),
    database_bytes: Count.nullable().openapi({ description: 'Null when the database does not report its size.' }),
    stored_file_bytes: Count,
    tables: z.array(
      z.object({
        name: z.string().openapi({ example: 'orders' }),
        rows: Count.openapi({ description: 'The highest number of a row. Rows that were deleted may count too.' }),
      }),
    ),
  })
  .openapi('SystemStatus')

const maxBodyLength = 2000

export const DeadMessage = z
  .object({
    id: Id('ded'),
    created: Timestamp,
    queue: z.string().openapi({ example: 'refunds' }),
    body: z
      .string()
      .max(maxBodyLength)
      .openapi({
        description: `The message as JSON. A longer one ends after ${maxBodyLength} characters.`,
        example: '{"type":"refund.pay"}',
      }),
    error: z.string().nullable().openapi({
      description:
        'Why the last attempt failed. Null when the consumer could not store it, for example because it was ended.',
      example: 'refunds could not be paid: D1_ERROR: overloaded',
    }),
    retried_at: Timestamp.nullable().openapi({ description: 'Null until you retry the message.' }),
  })
  .openapi('DeadMessage', {
    description: 'A message of a queue that failed at every attempt. It is deleted after 30 days.',
  })

export { maxBodyLength }

const tag = 'System' as const

export const getSystemStatus = operation({
  id: 'getSystemStatus',
  tag,
  method: 'get',
  path: '/v1/system/status',
  summary: 'Retrieve the status of the service',
  description: 'Says what waits, what fails and how large the service is. `GET /metrics` has the same numbers.',
  roles: [],
  response: SystemStatus,
})

export const listDeadMessages = operation({
  id: 'listDeadMessages',
  tag,
  method: 'get',
  path: '/v1/system/dead-messages',
  summary: 'List dead messages',
  description: 'Returns messages of queues that failed at every attempt, newest first.',
  roles: [],
  query: listQuery({
    ordering: ['created'],
    filters: {
      queue: z.string().max(64).optional().openapi({ description: 'The name of a queue.', example: 'refunds' }),
      is_retried: BooleanFilter.optional().openapi({ description: 'False for messages that you have not retried.' }),
      created_after: InstantFilter.optional().openapi({ description: 'Only messages at or after this time.' }),
      created_before: InstantFilter.optional().openapi({ description: 'Only messages before this time.' }),
    },
  }),
  response: ListPage(DeadMessage),
})

export type DeadMessageQuery = ListRequest<typeof listDeadMessages.query>

export const retryDeadMessage = operation({
  id: 'retryDeadMessage',
  tag,
  ...action('/v1/system/dead-messages', 'ded', 'retry'),
  summary: 'Retry a dead message',
  description:
    'Puts the message back into its queue. A second retry changes nothing. If the message fails again, it becomes another dead message.',
  agentAccess: 'confirm',
  roles: [],
  response: DeadMessage,
  errors: ['queue_missing'],
})
