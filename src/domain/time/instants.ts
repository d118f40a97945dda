/** Times are milliseconds UTC in the code, and ISO 8601 with `Z` and milliseconds in the API. */
export const toIso = (at: number): string => new Date(at).toISOString()

export const toIsoOrNull = (at: number | null): string | null => (at === null ? null : toIso(at))

export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

/** The days after which rows are deleted. A deployment can change the first two. */
export const retentionDays = {
  /** Webhook events with their deliveries and attempts. */
  webhooks: 90,
  /** Entries of the audit log. */
  auditLog: 400,
  /** Messages of dead-letter queues. */
  deadMessages: 30,
  /** Codes and links to sign in with. */
  signInSecrets: 1,
  /** Sessions, after their end. */
  sessions: 30,
}

export interface Clock {
  now: () => number
  /** As in `JobCtx`. */
  clockOffsetMs?: (() => number) | undefined
}

/** The time on the clocks of other services. Signatures that they and this service exchange carry it. */
export const readSharedTime = (clock: Clock): number => clock.now() - (clock.clockOffsetMs?.() ?? 0)
