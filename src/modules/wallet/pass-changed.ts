import { type SQL, sql } from 'drizzle-orm'
import type { Statement } from '../../db/database.ts'
import { walletPasses } from '../../db/schema/wallet.ts'
import { inList } from '../../db/visibility.ts'
import { update } from '../../db/write.ts'

/** One more than any change before: D1 writes one transaction after the other, so that no number comes too late. */
export const nextChangeNumber: SQL = sql`(select coalesce(max(change_number), 0) + 1 from wallet_passes)`

/** The columns of a change that phones and platforms have yet to receive. */
export const changeColumns = (now: number) => ({
  change_number: nextChangeNumber,
  changed_at: sql`max(${now}, changed_at + 1000)`,
  attempts: 0,
  update_error: null,
  due_at: sql`iif(platform = 'google' or registrations_count > 0, ${now}, null)`,
})

/**
 * For the commit of every change that the passes of these purchases show: their status, their uses, their owner.
 * A job then updates the platforms. Purchases without a pass cost nothing.
 */
export const passChanged = (purchaseIds: readonly string[], now: number): Statement =>
  update(walletPasses, changeColumns(now), inList(sql`purchase_id`, purchaseIds))
