import { eq, type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { release } from '../../../db/claims.ts'
import { inList } from '../../../db/conditions.ts'
import type { Statement } from '../../../db/database.ts'
import { prepare } from '../../../db/prepare.ts'
import { webhookAttempts, webhookEndpoints } from '../../../db/schema/webhooks.ts'
import { decodeAs, type Query } from '../../../db/select.ts'
import { update } from '../../../db/write.ts'
import { describeServiceFault, services } from '../../../domain/waiting.ts'
import type { DeliveryClaim } from '../../../domain/webhooks/webhook-sender.ts'
import {
  decideBreaker,
  type DeliveryStatus,
  disableAfterMs,
  type FaultReason,
  type LoggedAttempt,
} from '../../../domain/webhooks/webhooks.ts'
import { type Attempt, logAttempt } from './attempt.ts'
import { claimStatement, isOpen, isWaiting, sortClaims } from './claim.ts'
import { enqueueEndpoints } from './enqueue.ts'
import { switchOff } from './switch-off.ts'

/** Retries further ahead than this are left to the sweep of each minute. */
const enqueueAheadMs = 900_000

/**
 * Stores the results of attempts and claims the deliveries that are due next at these endpoints, in one round trip.
 * After a failure it takes two, because the failure may open a breaker.
 */
export async function recordAttempts(
  job: JobCtx,
  attempts: readonly Attempt[],
  { claimMore }: { claimMore: boolean },
): Promise<DeliveryClaim[]> {
  const endpointIds = [...new Set(attempts.map(({ claim }) => claim.endpoint_id))]
  const allSucceeded = attempts.every(({ result }) => result?.error === null)
  // While a breaker is open only manual retries are attempted. A success of one closes the breaker.
  const successfulManualRetries = attempts.filter(
    ({ claim, result }) => claim.manual !== null && result?.error === null,
  )
  if (successfulManualRetries.length > 0) {
    const endpointsToResume = [...new Set(successfulManualRetries.map(({ claim }) => claim.endpoint_id))]
    await job.db.batch([endWaiting(endpointsToResume, job.now())])
  }
  const {
    storedDeliveries = [],
    health = [],
    ...rows
  } = await job.db.batchNamed({
    ...buildResultStatements(attempts),
    next: allSucceeded && claimMore ? claimStatement(job, endpointIds) : null,
  })
  const storedIds = new Set(storedDeliveries.map(({ id }) => id))
  const expiredAttempts = attempts.filter(({ claim }) => !storedIds.has(claim.id))
  if (expiredAttempts.length > 0) await job.db.batch([logExpired(expiredAttempts)])
  const now = job.now()
  const judgements = health.map((endpoint) => judgeEndpoint(endpoint, attempts, now))
  const claims = allSucceeded ? (rows.next ?? []) : await judgeAndClaim(job, judgements, claimMore ? endpointIds : [])
  await enqueueRetries(job, attempts)
  for (const { probe } of judgements) if (probe) await enqueueEndpoints(job, [probe.endpointId], probe.at - now)
  if (!claimMore) await enqueueEndpoints(job, endpointIds)
  return sortClaims(claims)
}

interface Judgement {
  statements: Statement[]
  /** Why the endpoint is switched off. */
  fault?: FaultReason
  endpoint: EndpointHealth
  /** When the endpoint's breaker, which opens now, lets a probe through. */
  probe?: { endpointId: string; at: number }
}

/** Opens the breaker of an endpoint that fails, or switches the endpoint off when it is gone or has failed for days. */
function judgeEndpoint(endpoint: EndpointHealth, attempts: readonly Attempt[], now: number): Judgement {
  const { id, failures_in_row, failing_since, breaker_until } = endpoint
  const ofEndpoint = attempts.filter(({ claim }) => claim.endpoint_id === id)
  if (ofEndpoint.some(({ result }) => result?.status === 410)) return { endpoint, statements: [], fault: 'gone' }
  if (failures_in_row > 0 && failing_since !== null && now - failing_since >= disableAfterMs)
    return { endpoint, statements: [], fault: 'failing' }
  const isOpenBreaker = breaker_until !== null && breaker_until > now
  // A manual retry that fails does not extend an open breaker.
  if (isOpenBreaker && ofEndpoint.every(({ claim }) => claim.manual !== null)) {
    const ids = ofEndpoint.map(({ claim }) => claim.id)
    return { endpoint, statements: postponeUntilProbe(ids, breaker_until) }
  }
  const until = decideBreaker(failures_in_row, now)
  if (until === null) return { endpoint, statements: [] }
  return { endpoint, statements: openBreaker(id, until), probe: { endpointId: id, at: until } }
}

/** Runs the statements of the judgements and claims the deliveries that are due next at the endpoints. */
async function judgeAndClaim(
  job: JobCtx,
  judgements: readonly Judgement[],
  endpointIds: readonly string[],
): Promise<DeliveryClaim[]> {
  for (const { endpoint, fault } of judgements) if (fault) await switchOff(job, endpoint, fault)
  const statements = judgements.flatMap((judgement) => judgement.statements)
  if (statements.length + endpointIds.length === 0) return []
  const claim = endpointIds.length > 0 ? claimStatement(job, endpointIds) : null
  const rows: unknown[][] = await job.db.batch(claim ? [...statements, claim] : statements)
  return claim ? (rows.at(-1) as DeliveryClaim[]) : []
}

/** Sends messages for retries that are near, so that they need not wait for the sweep. */
async function enqueueRetries(job: JobCtx, attempts: readonly Attempt[]): Promise<void> {
  const endpointsBySecond = new Map<number, Set<string>>()
  for (const { claim, result, verdict } of attempts) {
    const delayMs = result && verdict.next ? Math.max(0, verdict.next.at - job.now()) : Number.POSITIVE_INFINITY
    if (delayMs > enqueueAheadMs) continue
    const seconds = Math.ceil(delayMs / 1000)
    endpointsBySecond.set(seconds, (endpointsBySecond.get(seconds) ?? new Set()).add(claim.endpoint_id))
  }
  for (const [seconds, ids] of endpointsBySecond) await enqueueEndpoints(job, [...ids], seconds * 1000)
}

/** A field of a row of `listRows` or `preparedRows`. */
const field = (name: string): SQL => sql.raw(`attempt.value ->> '${name}'`)

/**
 * Like `field`, but reads `attempt_row`, which a subquery selects once. SQLite serializes `attempt.value` anew at every
 * use.
 */
const selectedField = (name: string): SQL => sql.raw(`attempt_row ->> '${name}'`)

const listRows = (rows: readonly Record<string, unknown>[]): SQL => sql`json_each(${JSON.stringify(rows)}) as attempt`

const preparedRows = sql`json_each(${sql.placeholder('rows')}) as attempt`

/**
 * A failure is stored only while its claim is still the delivery's: a later claim, retry or end of the delivery has
 * precedence. A success is always stored, because the receiver has the event.
 */
const isStored = sql`webhook_deliveries.id = ${field('id')}
  and webhook_deliveries.attempts = ${field('claimed_attempts')}
  and (webhook_deliveries.claimed_until = ${field('claimed_until')}
    or ${field('status')} = ${'success' satisfies DeliveryStatus})
  and ${isOpen}`

/** The fields of a row that `isStored` compares. */
const identifyClaim = ({ claim, verdict }: Attempt) => ({
  id: claim.id,
  claimed_attempts: claim.attempts,
  claimed_until: claim.claimed_until,
  status: verdict.status,
})

export const updateDeliveries = prepare(
  decodeAs(
    {},
    sql<{ id: string }>`update webhook_deliveries set (status, attempts, step, response_status_code, signature,
      signed_at, next_retry_at, modified_at, manual, last_attempt)
      = (select ${selectedField('status')}, ${selectedField('attempts')}, ${selectedField('step')},
        ${selectedField('response_status_code')}, coalesce(${selectedField('signature')}, signature),
        coalesce(${selectedField('signed_at')}, signed_at), ${selectedField('next_retry_at')},
        ${selectedField('modified_at')}, ${selectedField('manual')},
        coalesce(${selectedField('last_attempt')}, last_attempt)
        from (select attempt.value as attempt_row)),
      ${release}
    from ${preparedRows} where ${isStored} returning webhook_deliveries.id`,
  ),
)

function storeResults(attempts: readonly Attempt[]): Query<{ id: string }> {
  const rows = attempts.map((attempt) => {
    const { claim, result, verdict, signature, signedAt, endedAt } = attempt
    return {
      ...identifyClaim(attempt),
      // A claim released without a post gives its number back.
      attempts: result ? claim.attempts : claim.attempts - 1,
      step: verdict.step,
      response_status_code: result?.status ?? null,
      signature,
      signed_at: signature === null ? null : Math.floor(signedAt / 1000) * 1000,
      next_retry_at: verdict.next?.at ?? null,
      modified_at: endedAt,
      // A released claim stays a manual one.
      manual: result === null && verdict.next ? claim.manual : null,
      last_attempt: logAttempt(attempt),
    }
  })
  return updateDeliveries({ rows: JSON.stringify(rows) })
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

/** Inserts into the attempt log what the query selects: the id of a delivery and an attempt as JSON. */
function logAttempts(query: SQL): Statement {
  const names = sql.raw(attemptColumns.join(', '))
  const values = sql.raw(attemptColumns.map((name) => `logged ->> '${name}'`).join(', '))
  const changes = sql.raw(attemptColumns.map((name) => `${name} = excluded.${name}`).join(', '))
  return sql`insert into webhook_attempts (delivery_id, ${names}) select delivery_id, ${values} from (${query})
    where true on conflict do update set ${changes}`
}

/** Moves the previous attempt from the delivery's row to the attempt log. */
const moveLastAttempts = (attempts: readonly Attempt[]): Statement =>
  logAttempts(sql`select webhook_deliveries.id as delivery_id, last_attempt as logged
    from ${listRows(attempts.map(identifyClaim))} cross join webhook_deliveries on ${isStored}
    where last_attempt ->> 'number' < webhook_deliveries.attempts`)

/** Logs attempts whose claims had expired. Their deliveries may have been deleted since. */
const logExpired = (attempts: readonly Attempt[]): Statement =>
  logAttempts(sql`select webhook_deliveries.id as delivery_id, ${field('logged')} as logged
    from ${listRows(attempts.map((attempt) => ({ id: attempt.claim.id, logged: logAttempt(attempt) })))}
    cross join webhook_deliveries on webhook_deliveries.id = ${field('id')}
    where ${field('logged')} is not null
      and coalesce(last_attempt ->> 'number', 0) <> ${field('logged')} ->> 'number'`)

/** Says what an endpoint does wrong. Null: it took the event. */
function describeFailure(result: Attempt['result']): string | null {
  if (result === null || result.error === null) return null
  const { status, error } = result
  const detail = error === 'timeout' ? '' : `${services.webhook} cannot be reached (${error}).`
  return describeServiceFault('webhook', { status, detail })
}

function findNextAttempt(failures: readonly Attempt[]): number | null {
  const times = failures.flatMap(({ verdict }) => verdict.next?.at ?? [])
  return times.length === 0 ? null : Math.min(...times)
}

interface EndpointHealth {
  id: string
  organization_id: string
  edition_id: string | null
  failures_in_row: number
  failing_since: number | null
  breaker_until: number | null
}

export const updateEndpoints = prepare(
  decodeAs(
    {},
    sql<EndpointHealth>`update webhook_endpoints set
      failures_in_row = iif(${field('has_success')}, 0, failures_in_row) + ${field('failures')},
      failing_since = iif(${field('has_success')}, ${field('failing_since')},
        coalesce(failing_since, ${field('failing_since')})),
      breaker_until = iif(${field('has_success')}, null, breaker_until),
      failing_reason = iif(${field('failures')}, ${field('failing_reason')}, null),
      next_attempt_at = iif(${field('failures')}, ${field('next_attempt_at')}, null),
      is_slow = ${field('is_slow')}
    from ${preparedRows} where webhook_endpoints.id = ${field('id')} and webhook_endpoints.url = ${field('url')}
      and (${field('failures')} > 0 or is_slow <> ${field('is_slow')} or failures_in_row > 0 or failing_since is not null
        or breaker_until is not null)
    returning id, organization_id, edition_id, failures_in_row, failing_since, breaker_until`,
  ),
)

/**
 * Counts failures in a row, in the order in which the attempts ended; a success sets the count to 0. An attempt at an
 * earlier address of the endpoint does not count, and neither does a time-out that this service has delayed.
 */
function updateHealth(attempts: readonly Attempt[]): Query<EndpointHealth> {
  const groups = Map.groupBy(
    attempts.filter(({ result }) => result !== null && !result.isDelayed),
    ({ claim }) => `${claim.endpoint_id} ${claim.endpoint.url}`,
  )
  const rows = [...groups.values()].map((group) => {
    const inOrder = group.toSorted((a, b) => a.endedAt - b.endedAt)
    const lastSuccess = inOrder.findLastIndex(({ result }) => result?.error === null)
    const failures = inOrder.slice(lastSuccess + 1)
    const { endpoint_id, endpoint } = group[0]?.claim ?? {}
    return {
      id: endpoint_id,
      has_success: lastSuccess >= 0 ? 1 : 0,
      failures: failures.length,
      failing_since: failures[0]?.startedAt ?? null,
      is_slow: inOrder.at(-1)?.isSlow ? 1 : 0,
      url: endpoint?.url,
      failing_reason: describeFailure(inOrder.at(-1)?.result ?? null),
      next_attempt_at: findNextAttempt(failures),
    }
  })
  return updateEndpoints({ rows: JSON.stringify(rows) })
}

function buildResultStatements(attempts: readonly Attempt[]) {
  const laterAttempts = attempts.filter(({ claim }) => claim.attempts > 1)
  return {
    previousAttempts: laterAttempts.length > 0 ? moveLastAttempts(laterAttempts) : null,
    storedDeliveries: storeResults(attempts),
    health: updateHealth(attempts),
  }
}

const postponeDeliveries = (condition: SQL, until: number): Statement[] => [
  update(
    webhookAttempts,
    { next_retry_at: until, next_reason: 'breaker' },
    sql`(delivery_id, number) in (select id, attempts from webhook_deliveries where ${condition})`,
  ),
  sql`update webhook_deliveries set next_retry_at = ${until}, last_attempt = iif(last_attempt ->> 'number' = attempts,
      json_set(last_attempt, '$.next_retry_at', ${until}, '$.next_reason', 'breaker'), last_attempt)
    where ${condition}`,
]

const isWaitingBefore = (until: number): SQL => sql`${isWaiting} and next_retry_at < ${until} and manual is null`

/**
 * Pauses an endpoint until then. Deliveries that are due earlier wait, and their attempts say why. Manual retries do not
 * wait.
 */
const openBreaker = (endpointId: string, until: number): Statement[] => [
  update(webhookEndpoints, { breaker_until: until }, eq(webhookEndpoints.id, endpointId)),
  ...postponeDeliveries(
    sql`id in (select id from webhook_deliveries indexed by webhook_deliveries_open
      where endpoint_id = ${endpointId} and ${isWaitingBefore(until)})`,
    until,
  ),
]

/** Postpones deliveries until the breaker of their endpoint, which is open already, lets a probe through. */
const postponeUntilProbe = (deliveryIds: readonly string[], until: number): Statement[] =>
  postponeDeliveries(sql`${inList(sql`id`, deliveryIds)} and ${isWaitingBefore(until)}`, until)

/** Makes deliveries due that wait for the open breakers of these endpoints. It must run before the breakers are closed. */
export const endWaiting = (endpointIds: readonly string[], now: number): Statement =>
  sql`update webhook_deliveries set next_retry_at = ${now} where id in (
    select webhook_deliveries.id from webhook_endpoints cross join webhook_deliveries
      on endpoint_id = webhook_endpoints.id and ${isWaiting} and next_retry_at = breaker_until
    where ${inList(sql`webhook_endpoints.id`, endpointIds)} and breaker_until > ${now})`
