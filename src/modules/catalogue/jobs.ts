import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { claimUntil, isClaimable } from '../../db/claims.ts'
import { commitPart } from '../../db/commit.ts'
import { productMerges } from '../../db/schema/catalog.ts'
import { decodeAs } from '../../db/select.ts'
import { update } from '../../db/write.ts'
import { LostRace } from '../../domain/errors.ts'
import { buildStep, findStepEnd, mergeColumns, ordersPerStep, type ProductMerge } from './products/move-orders.ts'

const claimMs = 300_000
const retryMs = 60_000
/** All sweeps share the thousand queries that D1 allows an invocation, and a step takes up to eight. */
const stepsPerSweep = 50

const claimMerge = (job: JobCtx): Promise<ProductMerge | undefined> => {
  const now = job.now()
  return job.db.first(
    decodeAs(
      mergeColumns,
      sql<ProductMerge>`update product_merges set ${claimUntil(now, claimMs)} where id in (
          select id from product_merges indexed by product_merges_due
          where due_at <= ${now} and ${isClaimable(now)} order by due_at limit 1)
        returning *`,
    ),
  )
}

/** Moves the next orders. Returns the merge at its new position, or null when all orders are moved. */
async function moveNextOrders(job: JobCtx, merge: ProductMerge): Promise<ProductMerge | null> {
  const end = await findStepEnd(job.db, merge, ordersPerStep)
  await commitPart(job, buildStep(merge, end, job.now()))
  return end && { ...merge, orders_created_at: end.created_at, orders_seq: end.seq }
}

/** Ends the claim, unless another sweep has the merge by now. */
const releaseMerge = (job: JobCtx, { id, claimed_until }: ProductMerge, due_at: number | null) =>
  job.db.all(
    update(productMerges, { claimed_until: null, due_at }, sql`id = ${id} and claimed_until = ${claimed_until}`),
  )

/**
 * Moves orders of merged products to the products into which they were merged. A crash loses nothing, because orders and
 * position are written together. A merge that loses a race to another sweep or to an import waits, so that others go on.
 * Returns the ids of merges that lost.
 */
export async function sweepProductMerges(job: JobCtx): Promise<string[]> {
  const losers: string[] = []
  const moveOrPostpone = async (merge: ProductMerge): Promise<ProductMerge | null> => {
    try {
      return await moveNextOrders(job, merge)
    } catch (error) {
      if (!(error instanceof LostRace)) throw error
      losers.push(merge.id)
      await releaseMerge(job, merge, job.now() + retryMs)
      return null
    }
  }
  let merge = await claimMerge(job)
  for (let step = 0; step < stepsPerSweep && merge; step++)
    merge = (await moveOrPostpone(merge)) ?? (await claimMerge(job))
  if (merge) await releaseMerge(job, merge, merge.due_at)
  return losers
}
