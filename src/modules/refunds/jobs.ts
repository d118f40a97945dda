import type { JobCtx } from '../../context.ts'
import { longOrganizations } from '../../db/lists/intervals/scopes-of-intervals.ts'
import { intervalSizes, settleIntervals } from '../../db/lists/intervals/settle-intervals.ts'
import { divideNext, recountNext, recountNextIntervals, sweepScopes } from '../../db/settle-lists.ts'
import { refundIntervals, withManyRequests } from './intervals.ts'
import { refundSpans } from './spans.ts'

/** Counts requests of intervals that are some minutes old, so that lists need not. Requests are of orders and purchases. */
export const settleRefunds = ({ db, now }: Pick<JobCtx, 'db' | 'now'>, sizes = intervalSizes): Promise<void> =>
  sweepScopes(
    { db, now },
    {
      name: 'settle refund requests',
      findNext: (from, most) =>
        longOrganizations(db, from, { most, columns: ['all_orders', 'all_purchases'], fewest: sizes.fewestRows }),
      settle: async (organizations) =>
        settleIntervals(db, refundIntervals, await withManyRequests(db, organizations, sizes.fewestRows), {
          now: now(),
          sizes,
        }),
    },
  )

export const recountRefunds = (job: Pick<JobCtx, 'db' | 'now'>): Promise<void> => recountNext(job, refundSpans)

/** Lets pages of requests by their number begin near their rows. */
export const divideRefundSpans = (job: Pick<JobCtx, 'db' | 'now'>): Promise<void> => divideNext(job, refundSpans)

/** Counts intervals anew, each night the next ones, and repairs them. */
export const recountRefundIntervals = (job: Pick<JobCtx, 'db' | 'now'>): Promise<void> =>
  recountNextIntervals(job, refundIntervals, 'recount refund intervals')
