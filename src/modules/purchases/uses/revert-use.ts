import { and, eq, gte, isNull, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { abortUnless, requireOneChange, commit } from '../../../db/commit.ts'
import { purchases, purchaseUses } from '../../../db/schema/purchases.ts'
import { update } from '../../../db/write.ts'
import { checkRevertible, computeRestoredStatus } from '../../../domain/orders/purchases.ts'
import { openEditions } from '../../editions/index.ts'
import { markPassesChanged } from '../../wallet/index.ts'
import { announce } from '../../webhooks/index.ts'
import { buildPurchaseEvent } from '../announcement.ts'
import type { LoadedUse } from './use-queries.ts'

/**
 * Returns the uses to the purchase. Reverting a use twice changes nothing. A used purchase of a cancelled order does not
 * become active again.
 */
export async function revertPurchaseUse(ctx: Ctx, use: LoadedUse): Promise<LoadedUse> {
  if (use.reverted_at !== null) return commit(ctx, use, [])
  const { purchase } = use
  checkRevertible(purchase)
  const now = ctx.now()
  const status = computeRestoredStatus('active', purchase.order_status)
  // SQLite writes every index with `status` when the column is set, even to the same value.
  const statusChange = status === purchase.status ? {} : { status }
  const revertedUse: LoadedUse = { ...use, reverted_at: now, purchase: { ...purchase, status } }
  return commit(ctx, revertedUse, [
    update(
      purchaseUses,
      { reverted_at: now, reverted_by: ctx.caller.id },
      and(eq(purchaseUses.id, use.id), isNull(purchaseUses.reverted_at)),
    ),
    requireOneChange(),
    update(
      purchases,
      {
        ...statusChange,
        uses_count: sql`${purchases.uses_count} - ${use.quantity}`,
        modified_at: now,
        version: sql`${purchases.version} + 1`,
      },
      and(
        eq(purchases.id, purchase.id),
        eq(purchases.status, purchase.status),
        gte(purchases.uses_count, use.quantity),
      ),
    ),
    requireOneChange(),
    abortUnless(
      sql`exists (select 1 from orders where id = ${purchase.order_id} and status = ${purchase.order_status})`,
    ),
    ...openEditions(purchase.edition_id),
    ...(status === purchase.status ? [] : [markPassesChanged([purchase.id], now)]),
    ...announce(ctx, buildPurchaseEvent(purchase, { action: 'use_reverted', status, occurredAt: now })),
  ])
}
