import { sql } from 'drizzle-orm'
import type { Statement } from '../../db/database.ts'
import { changeColumns } from './pass-changed.ts'

/**
 * For the erasure of a customer: phones and their addresses go, no token opens a pass any more, and Google's copies are
 * made anew without the name. Repeating it does no harm.
 */
export function eraseWallet(userId: string, now: number): Statement[] {
  const own = sql`purchase_id in (select id from purchases where user_id = ${userId})`
  return [
    sql`delete from wallet_registrations where pass_id in (select id from wallet_passes where ${own})`,
    sql`update wallet_passes set ${changeColumns(now)}
      where ${own} and platform = 'google'`,
    sql`update wallet_passes set token_hash = null, registrations_count = 0, update_due_at = null
      where ${own} and platform = 'apple'`,
  ]
}
