import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { webhookEndpoints } from '../../db/schema/messaging/webhooks.ts'
import { updateVersion } from '../../db/write.ts'
import { mintSecret } from '../../domain/webhooks/webhook-signature.ts'
import { secretsOverlapMs } from '../../domain/webhooks/webhooks.ts'
import type { EndpointRow } from './queries.ts'

export function rotateSecret(ctx: Ctx, endpoint: EndpointRow): Promise<EndpointRow> {
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
