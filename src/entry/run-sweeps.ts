import type { JobCtx } from '../context.ts'
import { logError } from '../http/log.ts'

/** A sweep handles a bounded number of due rows, so a missed minute loses nothing. */
type Sweep = (job: JobCtx) => Promise<unknown>
export type Sweeps = Readonly<Record<string, Sweep>>

const minuteMs = 60_000
/** The platform allows an invocation 1,000 calls of D1, and a sweep of a list takes about 350 of them at most. */
const mostRoundTrips = 600

const run = (job: JobCtx, name: string, sweep: Sweep): Promise<unknown> =>
  sweep(job).catch((error: unknown) => logError(`sweep:${name}`, error))

/**
 * Runs the sweeps of a minute. Those of lists can wait: a list reads what they have not counted yet. They run after all others, one
 * at least, and only until so many calls of the database were made. Each minute another of them is the first, so that each one has
 * its turn.
 */
export async function runSweeps(job: JobCtx, due: Sweeps, ofLists: Sweeps, most = mostRoundTrips): Promise<void> {
  for (const [name, sweep] of Object.entries(due)) await run(job, name, sweep)
  const all = Object.entries(ofLists)
  const first = Math.floor(job.now() / minuteMs) % Math.max(1, all.length)
  for (const [name, sweep] of [...all.slice(first), ...all.slice(0, first)]) {
    await run(job, name, sweep)
    if (job.db.meter.round_trips >= most) return
  }
}
