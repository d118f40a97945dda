/** Times are integer milliseconds UTC inside and ISO 8601 with `Z` and milliseconds on the wire. */
export const toIso = (at: number): string => new Date(at).toISOString()

export const toIsoOrNull = (at: number | null): string | null => (at === null ? null : toIso(at))

export const dayMs = 86_400_000

/** The days after which rows are deleted. A deployment may change the first two. */
export const retentionDays = {
  /** Events of webhooks with their deliveries and attempts, since the event. */
  webhooks: 90,
  /** Entries of the audit log, and of exports. */
  auditLog: 400,
  /** Messages of queues that no consumer could handle. */
  deadMessages: 30,
}
