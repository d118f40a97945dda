import type { JobCtx } from '../../context.ts'
import { intervalSizes } from '../../db/lists/intervals/settle-intervals.ts'
import { longOrganizations } from '../../db/lists/intervals/scopes-of-intervals.ts'
import { buildRunsOf } from '../../db/lists/runs/build-runs.ts'
import { runSizes } from '../../db/lists/runs/run-sizes.ts'
import {
  divideNext,
  recountNext,
  recountNextIntervals,
  settleNextIntervals,
  sweepScopes,
} from '../../db/settle-lists.ts'
import { refundIntervals, withManyRequests } from './intervals.ts'
import { refundRunList } from './runs.ts'
import { organizationRefundSpans, refundSpans } from './spans.ts'

/** Counts requests of intervals that are some minutes old, so that lists need not. Requests are of orders and purchases. */
export const settleRefunds = (job: Pick<JobCtx, 'db' | 'now'>, sizes = intervalSizes): Promise<void> =>
  settleNextIntervals(job, refundIntervals, {
    name: 'settle refund requests',
    columns: ['all_orders', 'all_purchases'],
    sizes,
    chooseLong: (organizations) => withManyRequests(job.db, organizations, sizes.fewestRows),
  })

/** Builds the runs of the next organisations with many requests. */
export const buildRefundRuns = (job: Pick<JobCtx, 'db' | 'now'>, sizes = runSizes): Promise<void> =>
  sweepScopes(job, {
    name: 'build refund runs',
    findNext: (from, most) =>
      longOrganizations(job.db, from, { most, columns: ['all_orders', 'all_purchases'], fewest: sizes.fewestRows }),
    settle: async (found) =>
      buildRunsOf(job.db, refundRunList, await withManyRequests(job.db, found, sizes.fewestRows), {
        now: job.now(),
        sizes,
      }),
  })

export async function recountRefunds(job: Pick<JobCtx, 'db' | 'now'>): Promise<void> {
  await recountNext(job, refundSpans)
  await recountNext(job, organizationRefundSpans)
}

/** Lets pages of requests by their number begin near their rows. */
export async function divideRefundSpans(job: Pick<JobCtx, 'db' | 'now'>): Promise<void> {
  await divideNext(job, refundSpans)
  await divideNext(job, organizationRefundSpans)
}

/** Counts intervals anew, each night the next ones, and repairs them. */
export const recountRefundIntervals = (job: Pick<JobCtx, 'db' | 'now'>): Promise<void> =>
  recountNextIntervals(job, refundIntervals, 'recount refund intervals')
