import { and, eq } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { requireOneChange, commit } from '../../db/commit.ts'
import { webhookEndpoints } from '../../db/schema/webhooks.ts'
import { pickChanges, insert, isEmpty, remove, updateVersion } from '../../db/write.ts'
import { admins } from '../../domain/accounts/access.ts'
import { fieldError, invalid } from '../../domain/errors.ts'
import { buildSortKey } from '../../domain/text/fold.ts'
import { describeDestinationFault, findDestinationFault } from '../../domain/webhooks/webhook-destination.ts'
import { mintSecret } from '../../domain/webhooks/webhook-signature.ts'
import { secretsOverlapMs } from '../../domain/webhooks/webhooks.ts'
import { checkMove, checkTenant, openEditions } from '../editions/index.ts'
import { enqueueEndpoints } from './delivery/enqueue.ts'
import { endWaiting } from './delivery/record.ts'
import { failOpenDeliveries } from './delivery/switch-off.ts'
import type { CreateWebhookInput, UpdateWebhookInput } from './endpoint-contract.ts'
import type { EndpointRow, LoadedEndpoint } from './queries.ts'

/** The health of an endpoint before its first delivery. */
const unknownHealth = {
  failures_in_row: 0,
  failing_since: null,
  failing_reason: null,
  next_attempt_at: null,
  breaker_until: null,
  is_slow: false,
}

function checkDestination({ config }: Ctx, url: string): void {
  const fault = findDestinationFault(url, config.webhooks)
  if (fault === null) return
  const isDevelopment = config.environment !== 'production'
  const detail = describeDestinationFault(fault, url, { policy: config.webhooks, isDevelopment })
  throw invalid(fieldError(['url'], fault === 'malformed' ? 'malformed_url' : 'forbidden_destination', detail))
}

export async function createWebhook(ctx: Ctx, input: CreateWebhookInput): Promise<EndpointRow> {
  checkDestination(ctx, input.url)
  const { organization_id, edition_id = null, is_active } = input
  await checkTenant(ctx, organization_id, edition_id)
  const now = ctx.now()
  const row: EndpointRow = {
    id: ctx.newId('webhook_endpoint'),
    organization_id,
    edition_id,
    name: input.name,
    name_key: buildSortKey(input.name),
    url: input.url,
    events: input.events,
    is_active,
    timeout_seconds: input.timeout_seconds,
    secret: mintSecret(ctx.randomBytes),
    previous_secret: null,
    previous_secret_until: null,
    disabled_at: is_active ? null : now,
    disabled_reason: is_active ? null : 'manual',
    ...unknownHealth,
    version: 1,
    created_at: now,
    modified_at: now,
  }
  return commit(ctx, row, [...openEditions(edition_id), insert(webhookEndpoints, row)])
}

/** Switching on what is on, or off what is off, changes nothing. */
function changeActivity(endpoint: EndpointRow, isActive: boolean | undefined, now: number): Partial<EndpointRow> {
  if (isActive === undefined || isActive === endpoint.is_active) return {}
  return isActive
    ? { is_active: true, disabled_at: null, disabled_reason: null }
    : { is_active: false, disabled_at: now, disabled_reason: 'manual' }
}

export async function updateWebhook(
  ctx: Ctx,
  endpoint: LoadedEndpoint,
  input: UpdateWebhookInput,
): Promise<EndpointRow> {
  const { name, url, edition_id, events, timeout_seconds, is_active } = input
  if (url !== undefined) checkDestination(ctx, url)
  if (edition_id !== undefined && edition_id !== endpoint.edition_id)
    await checkMove(ctx, admins, endpoint.organization_id, edition_id)
  const now = ctx.now()
  // After a change of address or a new start, earlier failures do not count.
  const isFresh = (url !== undefined && url !== endpoint.url) || (is_active === true && !endpoint.is_active)
  const requestedFields: Partial<EndpointRow> = {
    ...(name === undefined ? {} : { name, name_key: buildSortKey(name) }),
    ...(url === undefined ? {} : { url }),
    ...(edition_id === undefined ? {} : { edition_id }),
    ...(events === undefined ? {} : { events }),
    ...(timeout_seconds === undefined ? {} : { timeout_seconds }),
    ...changeActivity(endpoint, is_active, now),
    ...(isFresh ? unknownHealth : {}),
  }
  if (isEmpty(pickChanges<EndpointRow>(endpoint, requestedFields)))
    return commit(ctx, endpoint, openEditions(endpoint.edition_id))
  const changes = { ...requestedFields, modified_at: now }
  const updatedEndpoint = await commit(ctx, { ...endpoint, ...changes, version: endpoint.version + 1 }, [
    ...openEditions(endpoint.edition_id, edition_id),
    ...(isFresh ? [endWaiting([endpoint.id], now)] : []),
    ...updateVersion(webhookEndpoints, endpoint, changes),
    ...(is_active === false ? [failOpenDeliveries([endpoint.id], now)] : []),
  ])
  if (isFresh && endpoint.breaker_until !== null) ctx.afterCommit(() => enqueueEndpoints(ctx, [endpoint.id]))
  return updatedEndpoint
}

export function rotateWebhookSecret(ctx: Ctx, endpoint: EndpointRow): Promise<EndpointRow> {
  const now = ctx.now()
  const changes = {
    secret: mintSecret(ctx.randomBytes),
    previous_secret: endpoint.secret,
    previous_secret_until: now + secretsOverlapMs,
    modified_at: now,
  }
  return commit(
    ctx,
    { ...endpoint, ...changes, version: endpoint.version + 1 },
    updateVersion(webhookEndpoints, endpoint, changes),
  )
}

/** Foreign keys delete the deliveries and their attempts with the endpoint; the events stay. */
export function deleteWebhook(ctx: Ctx, endpoint: EndpointRow): Promise<null> {
  const isAsRead = and(eq(webhookEndpoints.id, endpoint.id), eq(webhookEndpoints.version, endpoint.version))
  return commit(ctx, null, [remove(webhookEndpoints, isAsRead), requireOneChange()])
}
