import { and, eq, sql } from 'drizzle-orm'
import type { Statement } from '../../db/database.ts'
import { walletPasses, walletRegistrations } from '../../db/schema/wallet.ts'
import { remove, update } from '../../db/write.ts'
import { changeColumns } from './pass-changed.ts'

/**
 * For the erasure of a customer: phones and their addresses go, no token opens a pass any more, and Google's copies are
 * made anew without the name. Repeating it does no harm.
 */
export function eraseWallet(userId: string, now: number): Statement[] {
  const own = sql`purchase_id in (select id from purchases where user_id = ${userId})`
  return [
    remove(walletRegistrations, sql`pass_id in (select id from wallet_passes where ${own})`),
    update(walletPasses, changeColumns(now), and(own, eq(walletPasses.platform, 'google'))),
    update(
      walletPasses,
      { token_hash: null, registrations_count: 0, due_at: null },
      and(own, eq(walletPasses.platform, 'apple')),
    ),
  ]
}
