import type { DeliveryStatus, Manual } from './webhooks.ts'

/** Endpoints that answer late are delivered from a queue of their own. */
export type Lane = 'fast' | 'slow'

export interface ClaimedEndpoint {
  url: string
  secret: string
  previous_secret: string | null
  previous_secret_until: number | null
  timeout_seconds: number
}

/** A delivery under a lease, with all that one attempt needs. */
export interface DeliveryClaim {
  id: string
  endpoint_id: string
  event_id: string
  /** Number of this attempt, from 1: a later claim of the delivery gets another. */
  attempts: number
  status: DeliveryStatus
  step: number
  manual: Manual
  lease_until: number
  payload: string
  endpoint: ClaimedEndpoint
}

/** An object that posts. Its connections are its own, so that a hanging one does not delay others. */
export interface WebhookSenderRpc {
  /** Takes the claims over and answers at once. It records their results itself. */
  deliver(lane: Lane, claims: readonly DeliveryClaim[]): Promise<void>
}

export interface WebhookSenders {
  /** One that no other run uses. */
  create: () => WebhookSenderRpc
}
