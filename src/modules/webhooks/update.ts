import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { webhookEndpoints } from '../../db/schema/messaging/webhooks.ts'
import { pickChanges, isEmpty, updateVersion } from '../../db/write.ts'
import { checkMove, openEditions } from '../editions/index.ts'
import { keepers, type UpdateWebhookInput } from './endpoint-contract.ts'
import type { EndpointRow, LoadedEndpoint } from './queries.ts'
import { endWaiting, failOpenDeliveries } from './delivery/record.ts'
import { enqueueEndpoints } from './delivery/enqueue.ts'
import { checkDestination } from './endpoint-checks.ts'

/** The health of an endpoint before its first delivery. */
const unknownHealth = { failures_in_row: 0, failing_since: null, breaker_until: null, is_slow: false }

/** Switching on what is on, or off what is off, changes nothing. */
function activity(endpoint: EndpointRow, isActive: boolean | undefined, now: number): Partial<EndpointRow> {
  if (isActive === undefined) return {}
  if (isActive) return endpoint.is_active ? {} : { is_active: true, disabled_at: null, disabled_reason: null }
  return endpoint.is_active ? { is_active: false, disabled_at: now, disabled_reason: 'manual' } : {}
}

export async function updateEndpoint(
  ctx: Ctx,
  endpoint: LoadedEndpoint,
  input: UpdateWebhookInput,
): Promise<EndpointRow> {
  const { name, url, edition_id, events, timeout_seconds, is_active } = input
  if (url !== undefined) checkDestination(ctx, url)
  if (edition_id !== undefined && edition_id !== endpoint.edition_id)
    await checkMove(ctx, keepers, endpoint.organization_id, edition_id)
  const now = ctx.now()
  // After another address or a new start, earlier failures do not count.
  const isFresh = (url !== undefined && url !== endpoint.url) || (is_active === true && !endpoint.is_active)
  const asked: Partial<EndpointRow> = {
    ...(name === undefined ? {} : { name }),
    ...(url === undefined ? {} : { url }),
    ...(edition_id === undefined ? {} : { edition_id }),
    ...(events === undefined ? {} : { events }),
    ...(timeout_seconds === undefined ? {} : { timeout_seconds }),
    ...activity(endpoint, is_active, now),
    ...(isFresh ? unknownHealth : {}),
  }
  if (isEmpty(pickChanges<EndpointRow>(endpoint, asked)))
    return commit(ctx, endpoint, openEditions(endpoint.edition_id))
  const changes = { ...asked, modified_at: now }
  const updated = await commit(ctx, { ...endpoint, ...changes, version: endpoint.version + 1 }, [
    ...openEditions(endpoint.edition_id, edition_id),
    ...(isFresh ? [endWaiting([endpoint.id], now)] : []),
    ...updateVersion(webhookEndpoints, endpoint, changes),
    ...(is_active === false ? [failOpenDeliveries([endpoint.id], now)] : []),
  ])
  if (isFresh && endpoint.breaker_until !== null) ctx.afterCommit(() => enqueueEndpoints(ctx, 'fast', [endpoint.id]))
  return updated
}
