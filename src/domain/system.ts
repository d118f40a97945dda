/** The kinds of background work that can wait. */
export const workKinds = [
  'webhook_deliveries',
  'transactional_emails',
  'scheduled_campaigns',
  'running_campaigns',
  'refund_requests',
  'refund_batches',
  'product_merges',
  'data_imports',
  'segment_calculations',
  'file_scans',
  'wallet_passes',
  'wallet_editions',
  'erasures',
] as const
export type WorkKind = (typeof workKinds)[number]

/** Counts of the status end here, so that it costs the same however much waits. */
export const maxCounted = 10_000

/** The last run of a sweep. */
export interface SweepRun {
  /** Milliseconds UTC. */
  last_run_at: number
  duration_ms: number
  /** When the current series of failed runs began. Null: the last run succeeded. */
  failing_since: number | null
  error: string | null
}

export type SweepRuns = Readonly<Record<string, SweepRun>>

export type SweepOutcome = Pick<SweepRun, 'last_run_at' | 'duration_ms' | 'error'>

/** Adds to each outcome since when the sweep fails. */
export const mergeSweepRuns = (runs: SweepRuns, outcomes: Readonly<Record<string, SweepOutcome>>): SweepRuns =>
  Object.fromEntries(
    Object.entries(outcomes).map(([name, outcome]) => [
      name,
      {
        ...outcome,
        failing_since: outcome.error === null ? null : (runs[name]?.failing_since ?? outcome.last_run_at),
      },
    ]),
  )
