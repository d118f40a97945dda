import type { JobCtx } from '../../context.ts'
import { intervalSizes } from '../../db/lists/intervals/settle-intervals.ts'
import { divideNext, recountNext, recountNextIntervals, settleNextIntervals } from '../../db/settle-lists.ts'
import { refundIntervals, withManyRequests } from './intervals.ts'
import { refundSpans } from './spans.ts'

/** Counts requests of intervals that are some minutes old, so that lists need not. Requests are of orders and purchases. */
export const settleRefunds = (job: Pick<JobCtx, 'db' | 'now'>, sizes = intervalSizes): Promise<void> =>
  settleNextIntervals(job, refundIntervals, {
    name: 'settle refund requests',
    columns: ['all_orders', 'all_purchases'],
    sizes,
    chooseLong: (organizations) => withManyRequests(job.db, organizations, sizes.fewestRows),
  })

export const recountRefunds = (job: Pick<JobCtx, 'db' | 'now'>): Promise<void> => recountNext(job, refundSpans)

/** Lets pages of requests by their number begin near their rows. */
export const divideRefundSpans = (job: Pick<JobCtx, 'db' | 'now'>): Promise<void> => divideNext(job, refundSpans)

/** Counts intervals anew, each night the next ones, and repairs them. */
export const recountRefundIntervals = (job: Pick<JobCtx, 'db' | 'now'>): Promise<void> =>
  recountNextIntervals(job, refundIntervals, 'recount refund intervals')
