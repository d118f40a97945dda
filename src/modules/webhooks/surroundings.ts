import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { AppError, doesNotExist, fieldError, invalid } from '../../domain/errors.ts'
import { destinationFault } from '../../domain/webhook-destination.ts'

export function checkDestination(ctx: Ctx, url: string): void {
  const fault = destinationFault(url, ctx.config.webhooks)
  if (fault === 'malformed') throw invalid(fieldError(['url'], 'malformed_url', 'No address of the web.'))
  if (fault === 'forbidden')
    throw invalid(fieldError(['url'], 'forbidden_destination', 'Events are not sent to this address.'))
}

/** The edition of an endpoint is one of its organisation. */
export async function checkHome(ctx: Ctx, organizationId: string, editionId: string | null): Promise<void> {
  const home = await ctx.db.first(sql<{ edition_id: string | null }>`select editions.id as edition_id
    from organizations left join editions on editions.id = ${editionId} and editions.organization_id = organizations.id
    where organizations.id = ${organizationId}`)
  if (!home) throw doesNotExist('organization_id')
  if (editionId !== null && home.edition_id === null) throw doesNotExist('edition_id')
}

export const endpointInactive = (extra: Record<string, unknown> = {}): AppError =>
  new AppError('endpoint_inactive', 'This endpoint is switched off.', { extra })
