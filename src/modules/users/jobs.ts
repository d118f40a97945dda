import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { intervalSizes } from '../../db/lists/intervals/settle-intervals.ts'
import {
  recountNext,
  recountNextIntervals,
  settleNext,
  settleNextIntervals,
  sweepScopes,
} from '../../db/settle-lists.ts'
import { buildRunsOfEditions } from '../../db/lists/runs/build-runs.ts'
import { dueEditions } from '../../db/lists/runs/due-rows.ts'
import { runSizes } from '../../db/lists/runs/run-sizes.ts'
import { longOrganizations } from '../../db/lists/intervals/scopes-of-intervals.ts'
import { checkTexts } from '../../db/check-texts.ts'
import { indexedTexts } from './indexed-texts.ts'
import { customerIntervals } from './intervals.ts'
import { beginRuns, withoutImport } from './begin-runs.ts'
import { customerRunList, fewestInEdition } from './run-list.ts'
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

const sizesOfRuns = { ...runSizes, fewestRows: fewestInEdition }

/** Finds editions of the next organisations that have come to so many customers that they need runs. */
export const beginCustomerRuns = (job: Pick<JobCtx, 'db' | 'now'>, { fewestRows } = sizesOfRuns): Promise<void> =>
  sweepScopes(job, {
    name: 'begin customer runs',
    scopes: 3,
    findNext: (from, most) =>
      longOrganizations(job.db, from, { most, columns: ['customers'], fewest: Math.max(1, fewestRows) }),
    settle: async (organizations) => {
      if (organizations.length > 0) await job.db.batch([beginRuns(organizations, fewestRows)])
      return []
    },
  })

/** Builds what is due of the next editions that have runs. */
export const buildCustomerRuns = (job: Pick<JobCtx, 'db' | 'now'>, sizes = sizesOfRuns): Promise<void> =>
  sweepScopes(job, {
    name: 'build customer runs',
    scopes: 100,
    findNext: async (from, most) => {
      const found = await job.db.all(
        sql<{ id: string }>`select edition_short_id as id from customer_run_states
          where edition_short_id >= ${from} order by edition_short_id limit ${most}`,
      )
      return found.map(({ id }) => id)
    },
    settle: async (ids) => {
      const sweep = { now: job.now(), sizes }
      const due = ids.length > 0 ? await dueEditions(job.db, customerRunList, ids, sweep) : []
      if (due.length === 0) return []
      return buildRunsOfEditions(job.db, customerRunList, await withoutImport(job.db, due), sweep)
    },
  })

/** Looks whether searches find the next customers, each night some. */
export const checkCustomerTexts = (job: Pick<JobCtx, 'db' | 'now'>): Promise<void> => checkTexts(job, indexedTexts)
