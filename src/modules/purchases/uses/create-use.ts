import type { z } from '@hono/zod-openapi'
import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { requireOneChange, commit } from '../../../db/commit.ts'
import { inList } from '../../../db/conditions.ts'
import { recordLastSeen } from '../../../db/customers.ts'
import { purchases, purchaseUses } from '../../../db/schema/purchases.ts'
import { insert, update } from '../../../db/write.ts'
import { fieldError, invalid } from '../../../domain/errors.ts'
import { purchaseLifecycle, computeStatusAfterUse } from '../../../domain/orders/purchases.ts'
import { toIso } from '../../../domain/time/instants.ts'
import { openEditions } from '../../editions/index.ts'
import { markPassesChanged } from '../../wallet/index.ts'
import { announce } from '../../webhooks/index.ts'
import { buildPurchaseEvent } from '../announcement.ts'
import type * as contract from '../contract.ts'
import { findLocation, type LoadedUse, type UsablePurchase } from './use-queries.ts'

type UseInput = z.output<NonNullable<(typeof contract.createPurchaseUse)['body']>>

function checkUsedAt(purchase: UsablePurchase, usedAt: number, now: number): void {
  if (usedAt > now) throw invalid(fieldError(['used_at'], 'in_future', 'The time must not be in the future.'))
  if (usedAt < purchase.created_at)
    throw invalid(fieldError(['used_at'], 'too_early', `The time must be on or after ${toIso(purchase.created_at)}.`))
}

/** Counts the uses if enough are left and they lead to this status. Other uses may have been counted since the read. */
function countUses(purchase: UsablePurchase, quantity: number, status: 'active' | 'used', now: number): SQL {
  const usesAfter = sql`uses_count + ${quantity}`
  const leadsToStatus =
    status === 'used'
      ? sql`is_unlimited_use = 0 and ${usesAfter} = uses_limit`
      : sql`(is_unlimited_use = 1 or ${usesAfter} < uses_limit)`
  // SQLite writes every index with `status` when the column is set, even to the same value.
  const statusChange = status === purchase.status ? {} : { status }
  return update(
    purchases,
    { ...statusChange, uses_count: usesAfter, modified_at: now, version: sql`${purchases.version} + 1` },
    sql`id = ${purchase.id} and ${inList(sql`status`, purchaseLifecycle.sourcesOf('used'))} and ${leadsToStatus}
      and (valid_until is null or valid_until > ${now})`,
  )
}

export async function createPurchaseUse(ctx: Ctx, purchase: UsablePurchase, input: UseInput): Promise<LoadedUse> {
  const { quantity = 1, location_id = null } = input
  const now = ctx.now()
  const used_at = input.used_at ?? now
  checkUsedAt(purchase, used_at, now)
  const location = await findLocation(ctx, purchase.edition_id, location_id)
  const status = computeStatusAfterUse(purchase, quantity, now)
  const row = { id: ctx.newId('purchase_use'), quantity, location_id, used_at, reverted_at: null, created_at: now }
  const use: LoadedUse = {
    ...row,
    location_name: location?.name ?? null,
    location_is_draft: location?.is_draft ?? null,
    tenant: purchase.tenant,
    purchase: { ...purchase, status },
  }
  return commit(ctx, use, [
    countUses(purchase, quantity, status, now),
    requireOneChange(),
    ...openEditions(purchase.edition_id),
    insert(purchaseUses, { ...row, purchase_id: purchase.id, created_by: ctx.caller.id }),
    ...recordLastSeen([{ user_id: purchase.user_id, at: used_at }]),
    ...(status === purchase.status ? [] : [markPassesChanged([purchase.id], now)]),
    ...announce(ctx, buildPurchaseEvent(purchase, { action: 'used', status, occurredAt: used_at })),
  ])
}
