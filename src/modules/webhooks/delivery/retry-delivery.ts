import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { requireOneChange, commit } from '../../../db/commit.ts'
import { webhookDeliveries } from '../../../db/schema/messaging/webhooks.ts'
import { update } from '../../../db/write.ts'
import { AppError } from '../../../domain/errors.ts'
import { deliveryLifecycle, type Manual, manualRetryOf } from '../../../domain/webhooks/webhooks.ts'
import type { LoadedDelivery } from '../queries.ts'
import { enqueueEndpoints } from './enqueue.ts'
import { endpointInactive } from '../endpoint-checks.ts'

/** The attempt that a retry requests; throws where none is possible. */
function decide(delivery: LoadedDelivery, now: number): Manual {
  const { status } = delivery
  const extra = { current_status: status, allowed_transitions: deliveryLifecycle.targetsOf(status) }
  if (status === 'success') throw new AppError('delivery_already_succeeded', 'This delivery has succeeded.', { extra })
  const manual = manualRetryOf(status)
  const isLeased = delivery.lease_until !== null && delivery.lease_until > now
  if (manual === null || isLeased || delivery.manual !== null)
    throw new AppError('delivery_in_progress', 'An attempt is due or under way.', { extra })
  if (!delivery.endpoint.is_active) throw endpointInactive(extra)
  return manual
}

export async function retryDelivery(ctx: Ctx, delivery: LoadedDelivery): Promise<LoadedDelivery> {
  const { id, endpoint_id, attempts, endpoint } = delivery
  const now = ctx.now()
  const manual = decide(delivery, now)
  const changes = { status: 'retrying' as const, manual, next_retry_at: now, lease_until: null, modified_at: now }
  const isAsRead = sql`id = ${id} and status = ${delivery.status} and attempts = ${attempts} and manual is null
    and exists (select 1 from webhook_endpoints where id = ${endpoint_id} and is_active = 1)`
  const retried = await commit(ctx, { ...delivery, ...changes }, [
    update(webhookDeliveries, changes, isAsRead),
    requireOneChange(),
  ])
  ctx.afterCommit(() => enqueueEndpoints(ctx, endpoint.is_slow ? 'slow' : 'fast', [endpoint_id]))
  return retried
}
