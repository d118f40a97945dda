import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { requireOneChange, commit } from '../../db/commit.ts'
import { walletPasses } from '../../db/schema/wallet.ts'
import { update } from '../../db/write.ts'
import { walletPassLifecycle } from '../../domain/wallet/wallet.ts'
import { openEditions } from '../editions/index.ts'
import { buildChangeColumns } from './pass-changed.ts'
import type { PassRow } from './queries.ts'

const target = 'voided'

/** Voids a pass. A job then tells the phones that have it. */
export async function voidWalletPass(ctx: Ctx, pass: PassRow): Promise<null> {
  if (!walletPassLifecycle.allows(pass.status, target)) return commit(ctx, null, [])
  const now = ctx.now()
  return commit(ctx, null, [
    ...openEditions(pass.edition_id),
    update(
      walletPasses,
      {
        ...buildChangeColumns(now),
        status: target,
        voided_at: now,
        voided_by: ctx.caller.id,
        modified_at: now,
        version: sql`${walletPasses.version} + 1`,
      },
      and(eq(walletPasses.id, pass.id), inArray(walletPasses.status, walletPassLifecycle.sourcesOf(target))),
    ),
    requireOneChange(),
  ])
}
