import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { changedOne, commit } from '../../db/commit.ts'
import { inList } from '../../db/visibility.ts'
import { walletPassLifecycle } from '../../domain/wallet/wallet.ts'
import { openEditions } from '../editions/index.ts'
import { changeColumns } from './pass-changed.ts'
import type { PassRow } from './queries.ts'

const target = 'voided'

/** The pass no longer admits anybody. Phones that have it get the change. */
export async function voidPass(ctx: Ctx, pass: PassRow): Promise<null> {
  if (!walletPassLifecycle.allows(pass.status, target)) return commit(ctx, null, [])
  const now = ctx.now()
  return commit(ctx, null, [
    ...openEditions(pass.edition_id),
    sql`update wallet_passes set status = ${target}, voided_at = ${now}, modified_at = ${now}, version = version + 1,
        ${changeColumns(now)}
      where id = ${pass.id} and ${inList(sql`status`, walletPassLifecycle.sourcesOf(target))}`,
    changedOne(),
  ])
}
