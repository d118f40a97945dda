import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { intervalSizes } from '../../db/lists/intervals/settle-intervals.ts'
import { recountNext, recountNextIntervals, settleNext, settleNextIntervals } from '../../db/settle-lists.ts'
import { customerIntervals } from './intervals.ts'
import { customerSpans } from './spans.ts'

/** Pages of fewer customers are near an end. */
const fewestCustomers = 2000

/** Counts customers that are some minutes old, so that lists need not. */
export const settleCustomers = (job: Pick<JobCtx, 'db' | 'now'>): Promise<void> =>
  settleNext(job, customerSpans, async (from, most) => {
    const found = await job.db.all(
      sql<{ id: string }>`select organization_id as id from list_sizes
        where organization_id >= ${from} and customers >= ${fewestCustomers} order by organization_id limit ${most}`,
    )
    return found.map(({ id }) => id)
  })

export const recountCustomers = (job: Pick<JobCtx, 'db' | 'now'>): Promise<void> => recountNext(job, customerSpans)

/** Counts customers in intervals, as orders are. */
export const settleCustomerIntervals = (job: Pick<JobCtx, 'db' | 'now'>, sizes = intervalSizes): Promise<void> =>
  settleNextIntervals(job, customerIntervals, { name: 'settle customer intervals', columns: ['customers'], sizes })

export const recountCustomerIntervals = (job: Pick<JobCtx, 'db' | 'now'>): Promise<void> =>
  recountNextIntervals(job, customerIntervals, 'recount customer intervals')
