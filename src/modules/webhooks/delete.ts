import { and, eq } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { requireOneChange, commit } from '../../db/commit.ts'
import { webhookEndpoints } from '../../db/schema/messaging/webhooks.ts'
import { remove } from '../../db/write.ts'
import type { EndpointRow } from './queries.ts'

/** Its deliveries and their attempts go with it by their foreign keys, which D1 enforces; the events stay. */
export const deleteEndpoint = (ctx: Ctx, endpoint: EndpointRow): Promise<null> => {
  const isAsRead = and(eq(webhookEndpoints.id, endpoint.id), eq(webhookEndpoints.version, endpoint.version))
  return commit(ctx, null, [remove(webhookEndpoints, isAsRead), requireOneChange()])
}
