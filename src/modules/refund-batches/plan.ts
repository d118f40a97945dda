import type { JobCtx } from '../../context.ts'
import { type OrderPlan, planOrder, withoutRequest } from '../../domain/refunds/refund-batches.ts'
import { accessOf } from '../merchant-accounts/index.ts'
import { type FindAccount, payingBack } from '../refunds/index.ts'
import type { BatchRow } from './queries.ts'
import { termsOf, type WalkedOrder } from './walk.ts'

/** Finds each account once. */
export function accountsOf(ctx: Pick<JobCtx, 'db' | 'config'>): FindAccount {
  const known = new Map<string, ReturnType<FindAccount>>()
  return (paid) => {
    const key = `${paid.edition_id} ${paid.merchant_account_id ?? ''}`
    const found = known.get(key) ?? accessOf(ctx, paid)
    known.set(key, found)
    return found
  }
}

/** The plan of the batch for an order: in the dry run, and again when it makes the requests. */
export async function planOf(
  ctx: Pick<JobCtx, 'db' | 'config'>,
  batch: BatchRow,
  order: WalkedOrder,
  findAccount: FindAccount,
): Promise<OrderPlan> {
  const plan = planOrder(order, termsOf(batch))
  if (plan.purchases.length === 0) return plan
  const paying = await payingBack(ctx, order, plan.amount_minor, findAccount)
  return paying ? plan : withoutRequest(plan, 'merchant_not_ready')
}
