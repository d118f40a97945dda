import type { DeliveryStatus, Manual } from './webhooks.ts'

export interface ClaimedEndpoint {
  url: string
  secret: string
  previous_secret: string | null
  previous_secret_until: number | null
  timeout_seconds: number
}

/** A delivery under a lease, with all that one attempt needs. */
export interface Claim {
  id: string
  endpoint_id: string
  event_id: string
  /** Number of this attempt, from 1: whoever claims the delivery after us gets another. */
  attempts: number
  status: DeliveryStatus
  step: number
  manual: Manual
  lease_until: number
  payload: string
  endpoint: ClaimedEndpoint
}

/** The object of one endpoint: it has connections of its own, so that what hangs in it holds up nobody else. */
export interface WebhookSender {
  /** Takes the claims over, all of its endpoint, and answers at once. It records what comes of them by itself. */
  deliver(claims: readonly Claim[]): Promise<void>
}

export interface WebhookSenders {
  of: (endpointId: string) => WebhookSender
}
