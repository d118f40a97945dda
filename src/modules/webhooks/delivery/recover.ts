import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { requireChanges, commit } from '../../../db/commit.ts'
import { webhookDeliveries } from '../../../db/schema/messaging/webhooks.ts'
import { select } from '../../../db/select.ts'
import { update } from '../../../db/write.ts'
import { inWords } from '../../../db/visibility.ts'
import { fieldError, invalid } from '../../../domain/errors.ts'
import { lostStatuses } from '../../../domain/webhooks/webhooks.ts'
import type { RecoverDeliveriesInput } from './delivery-contract.ts'
import { type EndpointRow, reachedDeliveries } from '../queries.ts'
import { enqueueEndpoints } from './enqueue.ts'
import { endpointInactive } from '../endpoint-checks.ts'

/**
 * Puts deliveries that ended without success back to the start of the schedule. They are counted first, because the
 * transaction also stores the answer with this number. If another number of rows changes, the batch is aborted as a
 * lost race.
 */
export async function recoverDeliveries(
  ctx: Ctx,
  endpoint: EndpointRow,
  input: RecoverDeliveriesInput,
): Promise<{ recovered: number }> {
  const now = ctx.now()
  const { since, until = now } = input
  if (since > until)
    throw invalid(
      input.until === undefined
        ? fieldError(['since'], 'in_future', 'This time has not come yet.')
        : fieldError(['until'], 'end_before_start', 'The end is before the start.'),
    )
  if (!endpoint.is_active) throw endpointInactive()
  const lost = sql`${reachedDeliveries(ctx, endpoint)} and ${inWords(sql`status`, lostStatuses)}
    and created_at >= ${since} and created_at <= ${until}
    and exists (select 1 from webhook_endpoints where id = ${endpoint.id} and is_active = 1)`
  const counted = await ctx.db.first(
    select({ n: sql<number>`count(*)` })
      .from(webhookDeliveries)
      .where(lost),
  )
  const recovered = counted?.n ?? 0
  if (recovered === 0) return commit(ctx, { recovered }, [])
  const dueAt = Math.max(now, endpoint.breaker_until ?? 0)
  const changes = {
    status: 'retrying' as const,
    step: 0,
    manual: null,
    next_retry_at: dueAt,
    lease_until: null,
    modified_at: now,
  }
  const answer = await commit(ctx, { recovered }, [update(webhookDeliveries, changes, lost), requireChanges(recovered)])
  ctx.afterCommit(() => enqueueEndpoints(ctx, endpoint.is_slow ? 'slow' : 'fast', [endpoint.id], dueAt - now))
  return answer
}
