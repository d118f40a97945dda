import type { z } from '@hono/zod-openapi'
import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { requireOneChange, commit } from '../../../db/commit.ts'
import { purchases, purchaseUses } from '../../../db/schema/sales/orders.ts'
import { inList } from '../../../db/visibility.ts'
import { insert, update } from '../../../db/write.ts'
import { fieldError, invalid } from '../../../domain/errors.ts'
import { toIso } from '../../../domain/time/instants.ts'
import { purchaseLifecycle, statusAfterUse } from '../../../domain/orders/purchases.ts'
import { openEditions } from '../../editions/index.ts'
import { markPassesChanged } from '../../wallet/index.ts'
import { announce } from '../../webhooks/index.ts'
import { purchaseAction } from '../announcement.ts'
import type { createPurchaseUse } from './use-contract.ts'
import { findLocation, type LoadedUse, type UsablePurchase } from './use-queries.ts'

type UseInput = z.output<NonNullable<(typeof createPurchaseUse)['body']>>

/** When it was used, as the scanner says, or now. */
function usedAt(purchase: UsablePurchase, given: number | undefined, now: number): number {
  if (given === undefined) return now
  if (given > now) throw invalid(fieldError(['used_at'], 'in_future', 'This time has not come yet.'))
  if (given < purchase.created_at)
    throw invalid(fieldError(['used_at'], 'too_early', `Not before ${toIso(purchase.created_at)}.`))
  return given
}

/** Counts the uses if they are still there and lead to the status that was decided; the count itself may have moved. */
function countUses(purchase: UsablePurchase, quantity: number, status: 'active' | 'used', now: number): SQL {
  const after = sql`uses_count + ${quantity}`
  const leadsThere =
    status === 'used'
      ? sql`is_unlimited_use = 0 and ${after} = uses_limit`
      : sql`(is_unlimited_use = 1 or ${after} < uses_limit)`
  // A status that is set is written into every index that has it, also when it stays the same.
  const change = status === purchase.status ? {} : { status }
  return update(
    purchases,
    { ...change, uses_count: after, modified_at: now, version: sql`${purchases.version} + 1` },
    sql`id = ${purchase.id} and ${inList(sql`status`, purchaseLifecycle.sourcesOf('used'))} and ${leadsThere}
      and (valid_until is null or valid_until > ${now})`,
  )
}

export async function usePurchase(ctx: Ctx, purchase: UsablePurchase, input: UseInput): Promise<LoadedUse> {
  const { quantity = 1, location_id = null } = input
  const now = ctx.now()
  const used_at = usedAt(purchase, input.used_at, now)
  const location = await findLocation(ctx, purchase.edition_id, location_id)
  const status = statusAfterUse(purchase, quantity, now)
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
    insert(purchaseUses, { ...row, purchase_id: purchase.id }),
    ...(status === purchase.status ? [] : [markPassesChanged([purchase.id], now)]),
    ...announce(ctx, purchaseAction(purchase, { action: 'used', status, occurredAt: used_at })),
  ])
}
