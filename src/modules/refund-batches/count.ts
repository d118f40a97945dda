import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { commitPart } from '../../db/commit.ts'
import { refundBatches } from '../../db/schema/sales/refund-batches.ts'
import { updateVersion } from '../../db/write.ts'
import { addPlan } from '../../domain/refunds/refund-batches.ts'
import { accountsOf, planOf } from './plan.ts'
import type { BatchRow } from './queries.ts'
import { walk } from './walk.ts'

const ordersAStep = 200

export interface CountedStep {
  /** Columns of the batch without `customers_count`. */
  changes: Pick<BatchRow, 'status' | 'counted' | 'cursor_created_at' | 'cursor_seq'>
  /** The customers of orders that would get a request. */
  customers: string[]
}

/** Counts the next orders of a dry run. */
export async function countNext(
  ctx: Pick<JobCtx, 'db' | 'config'>,
  batch: BatchRow,
  count = ordersAStep,
): Promise<CountedStep> {
  const orders = await walk(ctx, batch, count)
  const sums = structuredClone(batch.counted)
  const findAccount = accountsOf(ctx)
  const customers = new Set<string>()
  for (const order of orders) {
    const plan = await planOf(ctx, batch, order, findAccount)
    addPlan(sums, plan, order.currency)
    if (plan.purchases.length) customers.add(order.user_id)
  }
  const last = orders.at(-1)
  const isOver = orders.length < count
  return {
    changes: {
      status: isOver ? 'draft' : 'counting',
      counted: sums,
      // The walk of the requests begins anew.
      cursor_created_at: isOver ? null : (last?.created_at ?? null),
      cursor_seq: isOver ? null : (last?.seq ?? null),
    },
    customers: [...customers],
  }
}

/** Adds customers that the dry run has not met before, and counts them. Directly after it, `changes()` is their number. */
export const addCustomers = (id: string, customers: readonly string[]): SQL =>
  sql`insert into refund_batch_customers (batch_id, user_id)
    select ${id}, value from json_each(${JSON.stringify(customers)}) where true on conflict do nothing`

/** Writes one step of a dry run; a lost race when another consumer was faster. */
export function writeCounted(job: JobCtx, batch: BatchRow, { changes, customers }: CountedStep): Promise<void> {
  return commitPart(job, [
    addCustomers(batch.id, customers),
    sql`update refund_batches set customers_count = customers_count + changes() where id = ${batch.id}`,
    ...updateVersion(refundBatches, batch, { ...changes, modified_at: job.now() }),
  ])
}
