import type { JobCtx } from '../context.ts'
import { logError } from '../http/log.ts'

/** A sweep handles a bounded number of due rows, so a missed minute loses nothing. */
type Sweep = (job: JobCtx) => Promise<unknown>
export type Sweeps = Readonly<Record<string, Sweep>>

/** Runs the sweeps of a minute one after the other. A sweep that fails is logged and stops no other. */
export async function runSweeps(job: JobCtx, sweeps: Sweeps): Promise<void> {
  for (const [name, sweep] of Object.entries(sweeps))
    await sweep(job).catch((error: unknown) => logError(`sweep:${name}`, error))
}
