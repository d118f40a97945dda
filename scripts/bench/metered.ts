import type { Bindings } from '../../src/app.ts'
import type { JobCtx } from '../../src/context.ts'
import { type Meter, newMeter } from '../../src/domain/meter.ts'
import { openJob } from '../../src/entry/job.ts'

const meters: Meter[] = []

/** A job whose cost at the database counts in `databaseCosts`. */
export function meteredJob(env: Bindings): JobCtx {
  const job = openJob(env)
  meters.push(job.db.meter)
  return job
}

/** The cost of all metered jobs at the database since the Worker began. */
export function databaseCosts(): Meter {
  const total = newMeter()
  for (const meter of meters)
    for (const unit of ['round_trips', 'queries', 'rows_read', 'rows_written'] as const) total[unit] += meter[unit]
  return total
}
