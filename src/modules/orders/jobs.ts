import type { JobCtx } from '../../context.ts'
import { findNextSpan, ordersOf, type OrderSpan, recountStatements } from './counts/recount.ts'
import { orderIntervals } from './intervals.ts'
import { orderRunList } from './runs.ts'
import { buildRunsOf } from '../../db/lists/runs/build-runs.ts'
import { runSizes } from '../../db/lists/runs/run-sizes.ts'
import { intervalSizes } from '../../db/lists/intervals/settle-intervals.ts'
import { recountNextIntervals, settleNextIntervals, sweepScopes } from '../../db/settle-lists.ts'
import { longOrganizations } from '../../db/lists/intervals/scopes-of-intervals.ts'
import { findNightPosition } from '../../db/sweeps/nightly.ts'
import { sweepPositionStatement } from '../../db/sweeps/sweep-positions.ts'

const sweepName = 'order-counts'
const ordersASweep = 20_000
const spansASweep = 25

const keyOf = ({ edition_id, span }: OrderSpan): string => `${edition_id}:${span}`

function spanOf(key: string): OrderSpan {
  const [edition_id = '', span = '0'] = key.split(':')
  return { edition_id, span: Number(span) }
}

/**
 * Counts orders, purchases and customers anew, each night those of the next spans, and stores what they are. Throws where counts were wrong: they
 * are repaired then, but something changed orders behind the triggers, or triggers are wrong.
 */
export async function recountOrders({ db, now }: Pick<JobCtx, 'db' | 'now'>): Promise<void> {
  const begin = await findNightPosition({ db, now }, sweepName)
  if (!begin) return
  const { begun_at } = begin
  let last = spanOf(begin.after)
  const wrong: string[] = []
  for (let spans = 0, orders = 0; spans < spansASweep && orders < ordersASweep; spans++) {
    const next = await findNextSpan(db, last)
    const position = sweepPositionStatement(sweepName, { after: next ? keyOf(next) : '', begun_at })
    if (!next) {
      await db.batch([position])
      break
    }
    const parts = await db.batch([...recountStatements(next, next.edition_id !== last.edition_id), position])
    // The position answers no rows.
    const repaired = parts.reduce((sum, rows) => sum + rows.length, 0)
    if (repaired > 0) wrong.push(`${keyOf(next)} (${repaired} of its parts)`)
    orders += (await db.first(ordersOf(next)))?.n ?? 0
    last = next
  }
  if (wrong.length) throw new Error(`Counts of orders were wrong and are repaired: ${wrong.join(', ')}`)
}

/** Counts orders of intervals that are some minutes old, so that lists need not. */
export const settleOrders = (job: Pick<JobCtx, 'db' | 'now'>, sizes = intervalSizes): Promise<void> =>
  settleNextIntervals(job, orderIntervals, { name: 'settle orders', columns: ['all_orders'], sizes })

/** Builds the runs of the next organisations with many orders. */
export const buildOrderRuns = (job: Pick<JobCtx, 'db' | 'now'>, sizes = runSizes): Promise<void> =>
  sweepScopes(job, {
    name: 'build order runs',
    findNext: (from, most) =>
      longOrganizations(job.db, from, { most, columns: ['all_orders'], fewest: sizes.fewestRows }),
    settle: (found) => buildRunsOf(job.db, orderRunList, found, { now: job.now(), sizes }),
  })

/** Counts intervals anew, each night the next ones, and repairs them. */
export const recountIntervals = (job: Pick<JobCtx, 'db' | 'now'>): Promise<void> =>
  recountNextIntervals(job, orderIntervals, 'recount order intervals')
