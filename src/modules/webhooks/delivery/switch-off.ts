import { and, eq, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { commitPart, requireOneChange } from '../../../db/commit.ts'
import { inList } from '../../../db/conditions.ts'
import type { Statement } from '../../../db/database.ts'
import { webhookDeliveries, webhookEndpoints } from '../../../db/schema/webhooks.ts'
import { update } from '../../../db/write.ts'
import { LostRace } from '../../../domain/errors.ts'
import { toIso } from '../../../domain/time/instants.ts'
import type { FaultReason } from '../../../domain/webhooks/webhooks.ts'
import { announceByQueue } from '../events/event-rows.ts'
import { selectOpenDeliveries } from './claim.ts'

/** Fails the open deliveries of endpoints that are switched off. They can be recovered. */
export const failOpenDeliveries = (endpointIds: readonly string[], now: number): Statement =>
  update(
    webhookDeliveries,
    { status: 'failed', next_retry_at: null, claimed_until: null, manual: null, modified_at: now },
    sql`id in (${selectOpenDeliveries(inList(sql`endpoint_id`, endpointIds))})`,
  )

interface FaultyEndpoint {
  id: string
  organization_id: string
  edition_id: string | null
}

/** Switches an endpoint off and announces it, unless somebody else has switched it off. */
export async function switchOff(job: JobCtx, endpoint: FaultyEndpoint, reason: FaultReason): Promise<void> {
  const now = job.now()
  const { id, organization_id, edition_id } = endpoint
  const changes = {
    is_active: false,
    disabled_at: now,
    disabled_reason: reason,
    version: sql`${webhookEndpoints.version} + 1`,
    modified_at: now,
  }
  const data = { webhook: { id }, reason, occurred_at: toIso(now) }
  try {
    await commitPart(job, [
      update(webhookEndpoints, changes, and(eq(webhookEndpoints.id, id), eq(webhookEndpoints.is_active, true))),
      requireOneChange(),
      failOpenDeliveries([id], now),
      ...announceByQueue(job, { kind: 'webhook.disabled', organization_id, edition_id, data }),
    ])
  } catch (error) {
    if (!(error instanceof LostRace)) throw error
  }
}
