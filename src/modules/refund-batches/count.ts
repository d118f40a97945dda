import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { commitPart } from '../../db/commit.ts'
import { refundBatches } from '../../db/schema/refunds.ts'
import { updateVersion } from '../../db/write.ts'
import { addPlan } from '../../domain/refunds/refund-batches.ts'
import { buildAccountFinder, loadNextOrders, planNextOrder } from './next-orders.ts'
import type { BatchRow } from './queries.ts'

const ordersPerStep = 200

export interface CountStep {
  /** Columns of the batch without `customers_count`. */
  changes: Pick<BatchRow, 'status' | 'dry_run' | 'cursor_created_at' | 'cursor_seq'>
  /** The customers whose orders would get a request. */
  customers: string[]
}

/** Counts the next orders of a dry run. */
export async function countNextOrders(
  ctx: Pick<JobCtx, 'db' | 'config'>,
  batch: BatchRow,
  count = ordersPerStep,
): Promise<CountStep> {
  const orders = await loadNextOrders(ctx, batch, count)
  const sums = structuredClone(batch.dry_run)
  const findAccount = buildAccountFinder(ctx)
  const customers = new Set<string>()
  for (const order of orders) {
    const plan = await planNextOrder(ctx, batch, order, findAccount)
    addPlan(sums, plan, order.currency)
    if (plan.purchases.length) customers.add(order.user_id)
  }
  const last = orders.at(-1)
  const isFinished = orders.length < count
  return {
    changes: {
      status: isFinished ? 'draft' : 'counting',
      dry_run: sums,
      // The run that makes the requests begins with the first order again.
      cursor_created_at: isFinished ? null : (last?.created_at ?? null),
      cursor_seq: isFinished ? null : (last?.seq ?? null),
    },
    customers: [...customers],
  }
}

/** Inserts customers that the dry run has not counted yet. Directly afterwards, `changes()` is their number. */
export const insertCustomers = (id: string, customers: readonly string[]): SQL =>
  sql`insert into refund_batch_customers (batch_id, user_id)
    select ${id}, value from json_each(${JSON.stringify(customers)}) where true on conflict do nothing`

/** Writes a step of a dry run. Throws LostRace when another consumer was faster. */
export function recordCount(job: JobCtx, batch: BatchRow, { changes, customers }: CountStep): Promise<void> {
  return commitPart(job, [
    insertCustomers(batch.id, customers),
    sql`update refund_batches set customers_count = customers_count + changes() where id = ${batch.id}`,
    ...updateVersion(refundBatches, batch, { ...changes, modified_at: job.now() }),
  ])
}
