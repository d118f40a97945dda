import type { Database } from '../../db/database.ts'
import { selectSweepRuns } from '../../db/sweeps.ts'
import { areSweepsLate } from '../../domain/alarms.ts'
import { toIsoOrNull } from '../../domain/time/instants.ts'
import { findSweepTime } from './symptoms.ts'

export interface Health {
  status: 'ok' | 'late' | 'unavailable'
  database: 'reached' | 'not migrated' | 'not reached'
  sweep: { last_run_at: string | null; is_late: boolean } | null
}

const isMissingTable = (error: unknown): boolean => error instanceof Error && error.message.includes('no such table')

/**
 * Says whether the database answers and the sweeps run. `now` is the machine's time, which nobody moves. It makes one
 * round trip, and before the first run of the sweeps two.
 */
export async function loadHealth(db: Database, now: number): Promise<Health> {
  try {
    const run = await db.first(selectSweepRuns())
    const isLate = areSweepsLate(await findSweepTime(db, run), now)
    return {
      status: isLate ? 'late' : 'ok',
      database: 'reached',
      sweep: { last_run_at: toIsoOrNull(run?.ended_at ?? null), is_late: isLate },
    }
  } catch (error) {
    return { status: 'unavailable', database: isMissingTable(error) ? 'not migrated' : 'not reached', sweep: null }
  }
}
