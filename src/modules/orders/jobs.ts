import type { JobCtx } from '../../context.ts'
import { findNextSpan, recountStatements, rowsOf } from './counts/recount.ts'
import type { OrderSpan } from './counts/spans.ts'
import { orderIntervals } from './intervals.ts'
import { orderRunList } from './runs.ts'
import { buildRunsOf } from '../../db/lists/runs/build-runs.ts'
import { runSizes } from '../../db/lists/runs/run-sizes.ts'
import { intervalSizes } from '../../db/lists/intervals/settle-intervals.ts'
import { recountNextIntervals, settleNextIntervals, sweepScopes } from '../../db/settle-lists.ts'
import { longOrganizations } from '../../db/lists/intervals/scopes-of-intervals.ts'
import { checkTexts } from '../../db/check-texts.ts'
import { indexedTexts } from './indexed-texts.ts'
import { checkAtNight } from '../../db/sweeps/nightly.ts'

const keyOf = ({ edition_id, span }: OrderSpan): string => `${edition_id}:${span}`

function spanOf(key: string): OrderSpan {
  const [edition_id = '', span = '0'] = key.split(':')
  return { edition_id, span: Number(span) }
}

/** Counts orders and purchases anew, each night those of the next spans, and stores what they are. */
export const recountOrders = ({ db, now }: Pick<JobCtx, 'db' | 'now'>): Promise<void> =>
  checkAtNight(
    { db, now },
    {
      name: 'order-counts',
      fault: 'Counts of orders were wrong and are repaired',
      findNext: (after) => findNextSpan(db, spanOf(after)),
      placeOf: keyOf,
      repair: async (span, position) => {
        const parts = await db.batch([...recountStatements(span), position])
        // The position answers no rows.
        const repaired = parts.reduce((sum, rows) => sum + rows.length, 0)
        const counted = await db.first(rowsOf(span))
        return { wrong: repaired > 0 ? [`${keyOf(span)} (${repaired} of its parts)`] : [], rows: counted?.n ?? 0 }
      },
    },
  )

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

/** Looks whether searches find the next orders, each night some. */
export const checkOrderTexts = (job: Pick<JobCtx, 'db' | 'now'>): Promise<void> => checkTexts(job, indexedTexts)
