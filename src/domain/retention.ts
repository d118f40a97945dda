/** The days after which rows are deleted. A deployment may change the first two. */
export const retentionDays = {
  /** Events of webhooks with their deliveries and attempts, since the event. */
  webhooks: 90,
  /** Entries of the audit log, and of exports. */
  auditLog: 400,
  /** Messages of queues that no consumer could handle. */
  deadMessages: 30,
}
