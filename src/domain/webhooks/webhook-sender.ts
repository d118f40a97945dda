import type { DeliveryStatus, Manual } from './webhooks.ts'

export interface ClaimedEndpoint {
  url: string
  secret: string
  previous_secret: string | null
  previous_secret_until: number | null
  timeout_seconds: number
}

/** A claimed delivery, with all that one attempt needs. */
export interface DeliveryClaim {
  id: string
  endpoint_id: string
  event_id: string
  /** Number of this attempt, from 1. A later claim of the delivery has a higher one. */
  attempts: number
  status: DeliveryStatus
  step: number
  manual: Manual
  claimed_until: number
  payload: string
  endpoint: ClaimedEndpoint
}

/** A Durable Object that posts over its own six connections, for as long as an endpoint takes to answer. */
export interface WebhookSenderRpc {
  /** Returns at once. The object posts the deliveries and stores their results by itself. */
  deliver(claims: readonly DeliveryClaim[]): Promise<void>
}

export interface WebhookSenders {
  /** Creates an object that no other claims share. */
  create: () => WebhookSenderRpc
}
