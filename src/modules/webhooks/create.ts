import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { webhookEndpoints } from '../../db/schema/messaging/webhooks.ts'
import { insert } from '../../db/write.ts'
import { mintSecret } from '../../domain/webhooks/webhook-signature.ts'
import { checkTenant, openEditions } from '../editions/index.ts'
import type { CreateWebhookInput } from './endpoint-contract.ts'
import type { EndpointRow } from './queries.ts'
import { checkDestination } from './endpoint-checks.ts'

export async function createEndpoint(ctx: Ctx, input: CreateWebhookInput): Promise<EndpointRow> {
  checkDestination(ctx, input.url)
  const { organization_id, edition_id = null, is_active } = input
  await checkTenant(ctx, organization_id, edition_id)
  const now = ctx.now()
  const row: EndpointRow = {
    id: ctx.newId('webhook_endpoint'),
    organization_id,
    edition_id,
    name: input.name,
    url: input.url,
    events: input.events,
    is_active,
    timeout_seconds: input.timeout_seconds,
    secret: mintSecret(ctx.randomBytes),
    previous_secret: null,
    previous_secret_until: null,
    disabled_at: is_active ? null : now,
    disabled_reason: is_active ? null : 'manual',
    failing_since: null,
    failures_in_row: 0,
    breaker_until: null,
    is_slow: false,
    version: 1,
    created_at: now,
    modified_at: now,
  }
  return commit(ctx, row, [...openEditions(edition_id), insert(webhookEndpoints, row)])
}
