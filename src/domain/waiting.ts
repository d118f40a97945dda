import { toIsoOrNull } from './time/instants.ts'

/** The reason for which something waits for another service, the time since when, and that of the next attempt. Null while it does not wait. */
export interface Wait {
  waiting_reason: string | null
  /** Milliseconds UTC. */
  waiting_since: number | null
  next_attempt_at: number | null
}

export const noWait: Wait = { waiting_reason: null, waiting_since: null, next_attempt_at: null }

/** The reason for which something waits while the operator holds everything that goes out. */
export const heldReason = 'Sending is held (OUTGOING=hold).'

export interface HoldConfig {
  /** `hold`: nothing is sent, posted or paid until the operator releases it. */
  outgoing: 'send' | 'hold'
}

export const isHeld = ({ outgoing }: HoldConfig): boolean => outgoing === 'hold'

/** Says whether the service sends, posts and pays. */
export const describeOutgoing = (config: HoldConfig): 'sending' | 'held' => (isHeld(config) ? 'held' : 'sending')

/**
 * Describes what a row waits for that is due at a time, or never. While everything that goes out is held, a row that is
 * due waits for the release.
 */
export function describeWait(
  { waiting_reason, waiting_since }: Omit<Wait, 'next_attempt_at'>,
  dueAt: number | null,
  { config, now }: { config: HoldConfig; now: () => number },
): Wait {
  return isHeld(config) && dueAt !== null && dueAt <= now()
    ? { waiting_reason: heldReason, waiting_since: waiting_since ?? dueAt, next_attempt_at: null }
    : { waiting_reason, waiting_since, next_attempt_at: waiting_since === null ? null : dueAt }
}

export const pickWait = ({ waiting_reason, waiting_since, next_attempt_at }: Wait): Wait => ({
  waiting_reason,
  waiting_since,
  next_attempt_at,
})

/** The services that something can wait for, as sentences begin. */
export const services = {
  email: 'The e-mail provider',
  sms: 'The SMS provider',
  payments: 'The payment provider',
  apple: "Apple's service for passes",
  google: "Google's service for passes",
  webhook: 'The endpoint',
} as const
export type Service = keyof typeof services

export interface ServiceFault {
  /** The status of the answer. Null: no answer came. */
  status: number | null
  /** Replaces the description of a fault without an answer, for example a missing key. */
  detail?: string
}

/** Says what a service does wrong, for example "The e-mail provider answers 500." */
export function describeServiceFault(service: Service, { status, detail }: ServiceFault): string {
  if (status === null) return detail || `${services[service]} does not answer.`
  if (service === 'webhook') return `${services[service]} answers ${status}.`
  if (status === 429) return `${services[service]} limits the number of calls (429).`
  if (status === 401 || status === 403) return `${services[service]} refuses the key or the account (${status}).`
  return `${services[service]} answers ${status}.`
}

/** The fields of a resource that can wait for another service. */
export const presentWait = ({ waiting_reason, waiting_since, next_attempt_at }: Wait) => ({
  waiting_reason,
  waiting_since: toIsoOrNull(waiting_since),
  next_attempt_at: toIsoOrNull(next_attempt_at),
})
