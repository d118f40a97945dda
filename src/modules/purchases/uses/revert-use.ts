import { and, eq, gte, isNull, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { requireOneChange, commit } from '../../../db/commit.ts'
import { purchases, purchaseUses } from '../../../db/schema/sales/orders.ts'
import { update } from '../../../db/write.ts'
import { checkRevertible } from '../../../domain/orders/purchases.ts'
import { openEditions } from '../../editions/index.ts'
import { markPassesChanged } from '../../wallet/index.ts'
import { announce } from '../../webhooks/index.ts'
import { purchaseAction } from '../announcement.ts'
import type { LoadedUse } from './use-queries.ts'

/** Gives the uses back. One that was reverted before stays as it is. */
export async function revertUse(ctx: Ctx, use: LoadedUse): Promise<LoadedUse> {
  if (use.reverted_at !== null) return commit(ctx, use, [])
  const { purchase } = use
  checkRevertible(purchase)
  const now = ctx.now()
  const status = 'active' as const
  // A status that is set is written into every index that has it, also when it stays the same.
  const change = status === purchase.status ? {} : { status }
  const reverted: LoadedUse = { ...use, reverted_at: now, purchase: { ...purchase, status } }
  return commit(ctx, reverted, [
    update(purchaseUses, { reverted_at: now }, and(eq(purchaseUses.id, use.id), isNull(purchaseUses.reverted_at))),
    requireOneChange(),
    update(
      purchases,
      {
        ...change,
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
    ...openEditions(purchase.edition_id),
    ...(status === purchase.status ? [] : [markPassesChanged([purchase.id], now)]),
    ...announce(ctx, purchaseAction(purchase, { action: 'use_reverted', status, occurredAt: now })),
  ])
}
