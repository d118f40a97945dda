import type { Ctx } from '../../context.ts'
import { AppError, fieldError, invalid } from '../../domain/errors.ts'
import { destinationFault, destinationRefusal } from '../../domain/webhooks/webhook-destination.ts'

export function checkDestination({ config }: Ctx, url: string): void {
  const fault = destinationFault(url, config.webhooks)
  if (fault === null) return
  const isDevelopment = config.environment !== 'production'
  const detail = destinationRefusal(fault, url, { policy: config.webhooks, isDevelopment })
  throw invalid(fieldError(['url'], fault === 'malformed' ? 'malformed_url' : 'forbidden_destination', detail))
}

export const endpointInactive = (extra: Record<string, unknown> = {}): AppError =>
  new AppError('endpoint_inactive', 'This endpoint is switched off.', { extra })
