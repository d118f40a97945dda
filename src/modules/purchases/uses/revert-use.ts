import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { changedOne, commit } from '../../../db/commit.ts'
import { checkRevertible } from '../../../domain/orders/purchases.ts'
import { openEditions } from '../../editions/index.ts'
import { passChanged } from '../../wallet/index.ts'
import { announce } from '../../webhooks/index.ts'
import { purchaseAction } from '../announcement.ts'
import type { LoadedUse } from './use-queries.ts'

/** Gives the uses back. One that was reverted before stays as it is. */
export async function revertUse(ctx: Ctx, use: LoadedUse): Promise<LoadedUse> {
  if (use.reverted_at !== null) return commit(ctx, use, [])
  const { purchase } = use
  checkRevertible(purchase)
  const now = ctx.now()
  const status = 'active'
  const change = status === purchase.status ? sql`` : sql`status = ${status},`
  const reverted: LoadedUse = { ...use, reverted_at: now, purchase: { ...purchase, status } }
  return commit(ctx, reverted, [
    sql`update purchase_uses set reverted_at = ${now} where id = ${use.id} and reverted_at is null`,
    changedOne(),
    sql`update purchases set uses_count = uses_count - ${use.quantity}, ${change} modified_at = ${now},
        version = version + 1
      where id = ${purchase.id} and status = ${purchase.status} and uses_count >= ${use.quantity}`,
    changedOne(),
    ...openEditions(purchase.edition_id),
    ...(status === purchase.status ? [] : [passChanged([purchase.id], now)]),
    ...announce(ctx, purchaseAction(purchase, { action: 'use_reverted', status, occurredAt: now })),
  ])
}
