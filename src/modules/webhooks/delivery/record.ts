import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Statement } from '../../../db/database.ts'
import { webhookAttempts, webhookDeliveries, webhookEndpoints } from '../../../db/schema/messaging/webhooks.ts'
import { inList, inWords } from '../../../db/visibility.ts'
import { update } from '../../../db/write.ts'
import {
  type DeliveryStatus,
  type DisabledReason,
  type LoggedAttempt,
  openStatuses,
} from '../../../domain/webhooks/webhooks.ts'
import { type AttemptOutcome, attemptOf } from './attempt.ts'
import { isWaiting, openOf } from './open-deliveries.ts'

const isOpen = inWords(sql`webhook_deliveries.status`, openStatuses)

const field = (index: number): SQL => sql.raw(`outcome.value ->> ${index}`)

/** As `field`, of a row that is selected once: SQLite makes its JSON text again for each `outcome.value`. */
const given = (index: number): SQL => sql.raw(`given ->> ${index}`)

const table = (rows: readonly unknown[][]): SQL => sql`json_each(${JSON.stringify(rows)}) as outcome`

/**
 * A failure is recorded only while its lease is still the delivery's: a later claim, retry or end of the delivery has
 * precedence. A success is always recorded, because the receiver has the event. The values are the first of a row.
 */
const isRecorded = sql`webhook_deliveries.id = ${field(0)} and webhook_deliveries.attempts = ${field(1)}
  and (webhook_deliveries.lease_until = ${field(2)} or ${field(3)} = ${'success' satisfies DeliveryStatus})
  and ${isOpen}`

const headOf = ({ claim, verdict }: AttemptOutcome) => [claim.id, claim.attempts, claim.lease_until, verdict.status]

/** Writes the results of attempts into their deliveries, and answers which. */
function deliveryStatement(outcomes: readonly AttemptOutcome[]): SQL<{ id: string }> {
  const rows = outcomes.map((outcome) => {
    const { claim, result, verdict, signature, startedAt, endedAt } = outcome
    return [
      ...headOf(outcome),
      result ? claim.attempts : claim.attempts - 1,
      verdict.step,
      result?.status ?? null,
      signature,
      signature === null ? null : Math.floor(startedAt / 1000) * 1000,
      verdict.next?.at ?? null,
      endedAt,
      // A released claim keeps the request of a manual attempt.
      result === null && verdict.next ? claim.manual : null,
      attemptOf(outcome),
    ]
  })
  return sql<{ id: string }>`update webhook_deliveries set (status, attempts, step, response_status_code, signature,
      signed_at, next_retry_at, modified_at, manual, last_attempt)
      = (select ${given(3)}, ${given(4)}, ${given(5)}, ${given(6)}, coalesce(${given(7)}, signature),
        coalesce(${given(8)}, signed_at), ${given(9)}, ${given(10)}, ${given(11)}, coalesce(${given(12)}, last_attempt)
        from (select outcome.value as given)),
      lease_until = null
    from ${table(rows)} where ${isRecorded} returning webhook_deliveries.id`
}

export const attemptColumns = [
  'number',
  'started_at',
  'duration_ms',
  'status_code',
  'error',
  'response_text',
  'is_manual',
  'next_retry_at',
  'next_reason',
] as const satisfies (keyof LoggedAttempt)[]

/** Rows for attempts, from a relation that has their deliveries' ids and them as JSON. */
function logStatement(from: SQL): Statement {
  const names = sql.raw(attemptColumns.join(', '))
  const values = sql.raw(attemptColumns.map((name) => `attempt ->> '${name}'`).join(', '))
  const changes = sql.raw(attemptColumns.map((name) => `${name} = excluded.${name}`).join(', '))
  return sql`insert into webhook_attempts (delivery_id, ${names}) select delivery_id, ${values} from (${from})
    where true on conflict do update set ${changes}`
}

/** The attempt before moves out of the delivery's row. One that was not made has given its number to the next one. */
const moveEarlier = (outcomes: readonly AttemptOutcome[]): Statement =>
  logStatement(sql`select webhook_deliveries.id as delivery_id, last_attempt as attempt
    from ${table(outcomes.map(headOf))} cross join webhook_deliveries on ${isRecorded}
    where last_attempt ->> 'number' < webhook_deliveries.attempts`)

/** Attempts whose results came too late for their deliveries. A delivery may be gone with its endpoint. */
export const logLate = (outcomes: readonly AttemptOutcome[]): Statement =>
  logStatement(sql`select webhook_deliveries.id as delivery_id, ${field(1)} as attempt
    from ${table(outcomes.map((outcome) => [outcome.claim.id, attemptOf(outcome)]))}
    cross join webhook_deliveries on webhook_deliveries.id = ${field(0)}
    where ${field(1)} is not null and coalesce(last_attempt ->> 'number', 0) <> ${field(1)} ->> 'number'`)

export interface EndpointHealth {
  id: string
  failures_in_row: number
  failing_since: number | null
  breaker_until: number | null
}

/**
 * Counts failures in a row; a success sets the count to 0. Results of one group count in the order in which they ended.
 * An attempt at an earlier address of the endpoint does not count.
 */
function endpointStatement(outcomes: readonly AttemptOutcome[]): SQL<EndpointHealth> {
  const groups = Map.groupBy(
    outcomes.filter((outcome) => outcome.result !== null),
    ({ claim }) => `${claim.endpoint_id} ${claim.endpoint.url}`,
  )
  const rows = [...groups.values()].map((group) => {
    const inOrder = group.toSorted((a, b) => a.endedAt - b.endedAt)
    const lastSuccess = inOrder.findLastIndex((outcome) => outcome.result?.error === null)
    const failures = inOrder.slice(lastSuccess + 1)
    const isSlow = inOrder.at(-1)?.slow ? 1 : 0
    const { endpoint_id, endpoint } = group[0]?.claim ?? {}
    return [
      endpoint_id,
      lastSuccess >= 0 ? 1 : 0,
      failures.length,
      failures[0]?.startedAt ?? null,
      isSlow,
      endpoint?.url,
    ]
  })
  return sql<EndpointHealth>`update webhook_endpoints set
      failures_in_row = iif(${field(1)}, 0, failures_in_row) + ${field(2)},
      failing_since = iif(${field(1)}, ${field(3)}, coalesce(failing_since, ${field(3)})),
      breaker_until = iif(${field(1)}, null, breaker_until),
      is_slow = ${field(4)}
    from ${table(rows)} where webhook_endpoints.id = ${field(0)} and webhook_endpoints.url = ${field(5)} and (${field(2)} > 0 or is_slow <> ${field(4)}
      or failures_in_row > 0 or failing_since is not null or breaker_until is not null)
    returning id, failures_in_row, failing_since, breaker_until`
}

/** What moves earlier attempts out of the way is left out where all attempts are first ones. */
export const recordStatements = (outcomes: readonly AttemptOutcome[]) => {
  const later = outcomes.filter(({ claim }) => claim.attempts > 1)
  return {
    earlier: later.length ? moveEarlier(later) : null,
    recorded: deliveryStatement(outcomes),
    health: endpointStatement(outcomes),
  }
}

const putOff = (waiting: SQL, until: number): Statement[] => [
  update(
    webhookAttempts,
    { next_retry_at: until, next_reason: 'breaker' },
    sql`(delivery_id, number) in (select id, attempts from webhook_deliveries where ${waiting})`,
  ),
  sql`update webhook_deliveries set next_retry_at = ${until}, last_attempt = iif(last_attempt ->> 'number' = attempts,
      json_set(last_attempt, '$.next_retry_at', ${until}, '$.next_reason', 'breaker'), last_attempt)
    where ${waiting}`,
]

const isWaitingBefore = (until: number): SQL => sql`${isWaiting} and next_retry_at < ${until} and manual is null`

/**
 * Pauses an endpoint until then. Deliveries that are due earlier wait, and their attempts say why. A requested attempt
 * does not wait.
 */
export const openBreaker = (endpointId: string, until: number): Statement[] => [
  update(webhookEndpoints, { breaker_until: until }, eq(webhookEndpoints.id, endpointId)),
  ...putOff(
    sql`id in (select id from webhook_deliveries indexed by webhook_deliveries_open
      where endpoint_id = ${endpointId} and ${isWaitingBefore(until)})`,
    until,
  ),
]

/** These deliveries wait for a breaker that is open already. */
export const waitFor = (deliveryIds: readonly string[], until: number): Statement[] =>
  putOff(sql`${inList(sql`id`, deliveryIds)} and ${isWaitingBefore(until)}`, until)

/**
 * Makes deliveries due that wait for the open breakers of these endpoints. It has to run before the breakers are
 * closed.
 */
export const endWaiting = (endpointIds: readonly string[], now: number): Statement =>
  sql`update webhook_deliveries set next_retry_at = ${now} where id in (
    select webhook_deliveries.id from webhook_endpoints cross join webhook_deliveries
      on endpoint_id = webhook_endpoints.id and ${isWaiting} and next_retry_at = breaker_until
    where ${inList(sql`webhook_endpoints.id`, endpointIds)} and breaker_until > ${now})`

/** Open deliveries of endpoints that are switched off fail. They can be recovered. */
export const failOpenDeliveries = (endpointIds: readonly string[], now: number): Statement =>
  update(
    webhookDeliveries,
    { status: 'failed', next_retry_at: null, lease_until: null, manual: null, modified_at: now },
    sql`id in (${openOf(inList(sql`endpoint_id`, endpointIds))})`,
  )

export function switchOff(endpointId: string, reason: Exclude<DisabledReason, 'manual'>, now: number): Statement[] {
  return [
    update(
      webhookEndpoints,
      {
        is_active: false,
        disabled_at: now,
        disabled_reason: reason,
        version: sql`${webhookEndpoints.version} + 1`,
        modified_at: now,
      },
      and(eq(webhookEndpoints.id, endpointId), eq(webhookEndpoints.is_active, true)),
    ),
    failOpenDeliveries([endpointId], now),
  ]
}
