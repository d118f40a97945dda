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
/** A step takes three queries of the thousand that D1 allows an invocation. */
const stepsPerSweep = 200

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

/**
 * Moves orders of merged products to the products into which they were merged. A crash loses nothing, because orders and
 * position are written together.
 */
export async function sweepProductMerges(job: JobCtx): Promise<void> {
  let merge = await claimMerge(job)
  for (let step = 0; step < stepsPerSweep && merge; step++)
    try {
      merge = (await moveNextOrders(job, merge)) ?? (await claimMerge(job))
    } catch (error) {
      // Another sweep has moved these orders, or an import has changed them.
      if (!(error instanceof LostRace)) throw error
      return
    }
  if (merge)
    await job.db.all(
      update(productMerges, { claimed_until: null }, sql`id = ${merge.id} and claimed_until = ${merge.claimed_until}`),
    )
}
