import type { Service } from '../domain/waiting.ts'

/** Something that waits for a service. */
export interface OutageRow {
  service: Service
  /** The endpoint or merchant account that fails. Empty for the providers of this service. */
  resource_id: string
  reason: string
  since: number
  next_attempt_at: number | null
}
