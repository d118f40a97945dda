import type { Database } from './database.ts'
import { settleScopes } from './lists/spans/settle-spans.ts'
import type { SpannedList } from './lists/spans/spanned-list.ts'
import { findSweepPosition, sweepPositionStatement } from './sweeps/sweep-positions.ts'

const scopesASweep = 10

/**
 * Counts rows of the next scopes. `findNext` answers at most so many scopes from the given one on, in their order. A sweep
 * goes on where the one before ended.
 */
export async function settleNext(
  { db, now }: { db: Database; now: () => number },
  list: SpannedList,
  findNext: (from: string, most: number) => Promise<readonly string[]>,
): Promise<void> {
  const name = `settle ${list.name}`
  const from = (await findSweepPosition(db, name))?.after ?? ''
  const found = await findNext(from, scopesASweep + 1)
  const [left] = await settleScopes(db, list, found.slice(0, scopesASweep), now())
  const after = left ?? found[scopesASweep] ?? ''
  if (after !== from) await db.batch([sweepPositionStatement(name, { after, begun_at: now() })])
}
