import type { Ctx } from '../../context.ts'
import { AppError, fieldError, invalid } from '../../domain/errors.ts'
import { destinationFault } from '../../domain/webhook-destination.ts'

export function checkDestination(ctx: Ctx, url: string): void {
  const fault = destinationFault(url, ctx.config.webhooks)
  if (fault === 'malformed') throw invalid(fieldError(['url'], 'malformed_url', 'No address of the web.'))
  if (fault === 'forbidden')
    throw invalid(fieldError(['url'], 'forbidden_destination', 'Events are not sent to this address.'))
}

export const endpointInactive = (extra: Record<string, unknown> = {}): AppError =>
  new AppError('endpoint_inactive', 'This endpoint is switched off.', { extra })
