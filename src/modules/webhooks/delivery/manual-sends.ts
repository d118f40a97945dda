import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { requireChanges, requireOneChange, commit } from '../../../db/commit.ts'
import { inWords } from '../../../db/conditions.ts'
import { webhookDeliveries } from '../../../db/schema/webhooks.ts'
import { select } from '../../../db/select.ts'
import { update } from '../../../db/write.ts'
import { AppError, fieldError, invalid } from '../../../domain/errors.ts'
import type { Wait } from '../../../domain/waiting.ts'
import {
  deliveryLifecycle,
  type EventKind,
  lostStatuses,
  type Manual,
  decideManualRetry,
  openDeliveryStatuses,
} from '../../../domain/webhooks/webhooks.ts'
import { announceTo } from '../events/announce.ts'
import type { Announcement } from '../events/event-rows.ts'
import { exampleData } from '../events/example-contract.ts'
import {
  type DeliveryDetailRow,
  type EndpointRow,
  getEndpointWait,
  type LoadedDelivery,
  matchEndpointDeliveries,
} from '../queries.ts'
import type { RecoverDeliveriesInput } from './delivery-contract.ts'
import { enqueueEndpoints } from './enqueue.ts'
import { addMissedDeliveries, findMissedEvents, noMissedEvents } from './missed-events.ts'

const endpointInactive = (extra: Record<string, unknown> = {}): AppError =>
  new AppError('endpoint_inactive', 'This endpoint is switched off. Set its `is_active` to true first.', { extra })

/** Throws where no retry is possible. */
function decideRetry(delivery: LoadedDelivery, now: number): Manual {
  const { status, claimed_until } = delivery
  const extra = { current_status: status, allowed_transitions: deliveryLifecycle.targetsOf(status) }
  if (status === 'success') throw new AppError('delivery_already_succeeded', 'This delivery has succeeded.', { extra })
  const manual = decideManualRetry(status)
  const isClaimed = claimed_until !== null && claimed_until > now
  if (manual === null || isClaimed || delivery.manual !== null)
    throw new AppError('delivery_in_progress', 'An attempt is due or under way.', { extra })
  if (!delivery.endpoint.is_active) throw endpointInactive(extra)
  return manual
}

export async function retryWebhookDelivery(ctx: Ctx, delivery: LoadedDelivery): Promise<LoadedDelivery> {
  const { id, endpoint_id, attempts } = delivery
  const now = ctx.now()
  const manual = decideRetry(delivery, now)
  const changes = { status: 'retrying' as const, manual, next_retry_at: now, claimed_until: null, modified_at: now }
  const isAsRead = sql`id = ${id} and status = ${delivery.status} and attempts = ${attempts} and manual is null
    and exists (select 1 from webhook_endpoints where id = ${endpoint_id} and is_active = 1)`
  const retriedDelivery = await commit(ctx, { ...delivery, ...changes }, [
    update(webhookDeliveries, changes, isAsRead),
    requireOneChange(),
  ])
  ctx.afterCommit(() => enqueueEndpoints(ctx, [endpoint_id]))
  return retriedDelivery
}

export interface Recovery extends Wait {
  recovered: number
  waiting: number
  missed: number
  has_more_missed: boolean
}

/**
 * Puts deliveries that ended without success back to the start of the schedule, adds those of missed events, and counts
 * what is sent anyway. All are counted first, because the transaction also stores the response with these numbers. If
 * another number of rows changes, the race is lost.
 */
export async function recoverWebhookDeliveries(
  ctx: Ctx,
  endpoint: EndpointRow,
  input: RecoverDeliveriesInput,
): Promise<Recovery> {
  const now = ctx.now()
  const { since, until = now, include_missed } = input
  checkWindow(input, now)
  if (!endpoint.is_active) throw endpointInactive()
  const areInWindow = sql`${matchEndpointDeliveries(ctx, endpoint)} and created_at >= ${since} and created_at <= ${until}`
  const areLost = inWords(sql`status`, lostStatuses)
  const areOpen = inWords(sql`status`, openDeliveryStatuses)
  const counts = await ctx.db.first(
    select({
      recovered: sql<number>`count(*) filter (where ${areLost})`,
      waiting: sql<number>`count(*) filter (where ${areOpen})`,
    })
      .from(webhookDeliveries)
      .where(areInWindow),
  )
  const missedEvents = include_missed ? await findMissedEvents(ctx, endpoint, { since, until }) : noMissedEvents
  const { recovered, waiting } = counts ?? { recovered: 0, waiting: 0 }
  const missed = missedEvents.ids.length
  const wait = getEndpointWait(endpoint, ctx)
  const recovery = { recovered, waiting, missed, has_more_missed: missedEvents.hasMore, ...wait }
  if (recovered + missed === 0) return commit(ctx, recovery, [])
  const dueAt = Math.max(now, endpoint.breaker_until ?? 0)
  const changes = {
    status: 'retrying' as const,
    step: 0,
    manual: null,
    next_retry_at: dueAt,
    claimed_until: null,
    modified_at: now,
  }
  const next_attempt_at = wait.waiting_since === null ? null : dueAt
  await commit(ctx, { ...recovery, next_attempt_at }, [
    update(
      webhookDeliveries,
      changes,
      sql`${areInWindow} and ${areLost}
        and exists (select 1 from webhook_endpoints where id = ${endpoint.id} and is_active = 1)`,
    ),
    requireChanges(recovered),
    ...addMissedDeliveries(ctx, endpoint, missedEvents),
  ])
  if (recovered > 0) ctx.afterCommit(() => enqueueEndpoints(ctx, [endpoint.id], dueAt - now))
  return { ...recovery, next_attempt_at }
}

function checkWindow({ since, until }: RecoverDeliveriesInput, now: number): void {
  if (since <= (until ?? now)) return
  throw invalid(
    until === undefined
      ? fieldError(['since'], 'in_future', 'This time has not come yet.')
      : fieldError(['until'], 'end_before_start', 'The end is before the start.'),
  )
}

/** Delivers the example of a kind to the endpoint, in the same way as real events. */
export async function testWebhook(ctx: Ctx, endpoint: EndpointRow, kind: EventKind): Promise<DeliveryDetailRow> {
  if (!endpoint.is_active) throw endpointInactive()
  const { organization_id, edition_id } = endpoint
  const announcement = { kind, organization_id, edition_id, data: exampleData[kind] } as Announcement
  const { event, delivery, statements } = announceTo(ctx, endpoint, announcement)
  const row: DeliveryDetailRow = {
    ...delivery,
    payload: event.payload,
    attempt_log: [],
    attempts: 0,
    step: 0,
    manual: null,
    response_status_code: null,
    signature: null,
    signed_at: null,
    last_attempt_at: null,
    claimed_until: null,
  }
  return commit(ctx, row, statements)
}
