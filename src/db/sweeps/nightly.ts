import type { Database } from '../database.ts'
import { findSweepPosition, type SweepPosition } from './sweep-positions.ts'

/** The hour of the day in which counts are looked at, UTC. */
const workingHour = 3
const passAgainMs = 12 * 3_600_000

/** Where a sweep of the night goes on; null by day, and while its last pass through all rows is from this night. */
export async function findNightPosition(
  { db, now }: { db: Database; now: () => number },
  name: string,
): Promise<SweepPosition | null> {
  if (new Date(now()).getUTCHours() !== workingHour) return null
  const position = await findSweepPosition(db, name)
  if (position?.after) return position
  if (position && now() - position.begun_at < passAgainMs) return null
  return { after: '', begun_at: now() }
}
