import { type SQL, sql } from 'drizzle-orm'
import { mergeSweepRuns, type SweepOutcome, type SweepRuns } from '../domain/system.ts'
import type { Database } from './database.ts'
import { sweepRuns } from './schema/sweep-positions.ts'
import { select } from './select.ts'

/** The position of a sweep that reads a part of a table each time. */
export interface SweepPosition {
  /** The last key that was read. Empty: the sweep starts from the first row. */
  after: string
  begun_at: number
}

export async function findSweepPosition(db: Database, name: string): Promise<SweepPosition | null> {
  const row = await db.first(
    sql<SweepPosition>`select after_key as after, begun_at from sweep_positions where name = ${name}`,
  )
  return row ?? null
}

/** Stores the position in the transaction that did the work before it. */
export const storeSweepPosition = (name: string, { after, begun_at }: SweepPosition): SQL =>
  sql`insert into sweep_positions (name, after_key, begun_at) values (${name}, ${after}, ${begun_at})
    on conflict (name) do update set after_key = excluded.after_key, begun_at = excluded.begun_at`

export const selectSweepRuns = () => select({ sweeps: sweepRuns.sweeps, ended_at: sweepRuns.ended_at }).from(sweepRuns)

/** Stores when each sweep ran and how it ended, in one row. `endedAt` is the end of the run on the machine's clock. */
export async function recordSweepRuns(
  db: Database,
  outcomes: Readonly<Record<string, SweepOutcome>>,
  endedAt: number,
): Promise<void> {
  const row = await db.first(selectSweepRuns())
  const runs: SweepRuns = mergeSweepRuns(row?.sweeps ?? {}, outcomes)
  await db.all(sql`insert into sweep_runs (id, sweeps, ended_at) values (1, ${JSON.stringify(runs)}, ${endedAt})
    on conflict (id) do update set sweeps = excluded.sweeps, ended_at = excluded.ended_at`)
}
