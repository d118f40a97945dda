import { and, eq, type SQL, sql } from 'drizzle-orm'
import { inList } from '../../db/conditions.ts'
import type { Statement } from '../../db/database.ts'
import { walletPasses, walletRegistrations } from '../../db/schema/wallet.ts'
import { remove, update } from '../../db/write.ts'

/**
 * The number after that of the latest change. D1 runs one transaction after another, so numbers are committed in order.
 */
export const nextChangeNumber: SQL = sql`(select coalesce(max(change_number), 0) + 1 from wallet_passes)`

/** Builds the columns that mark a pass as changed, so that a job updates phones and platforms. */
export const buildChangeColumns = (now: number) => ({
  change_number: nextChangeNumber,
  changed_at: sql`max(${now}, changed_at + 1000)`,
  attempts: 0,
  update_error: null,
  due_at: sql`iif(platform = 'google' or registrations_count > 0, ${now}, null)`,
})

/**
 * Marks the passes of these purchases as changed. It belongs into every commit that changes what a pass shows of
 * its purchase: the status, the holder, the product or the code.
 */
export const markPassesChanged = (purchaseIds: readonly string[], now: number): Statement =>
  update(walletPasses, buildChangeColumns(now), inList(sql`purchase_id`, purchaseIds))

/** Marks the passes of the purchases whose ids the query selects as changed. */
export const markSelectedPassesChanged = (purchaseIds: SQL, now: number): Statement =>
  update(walletPasses, buildChangeColumns(now), sql`purchase_id in (${purchaseIds})`)

/**
 * Marks an edition's passes of these customers as changed. It belongs into every commit that changes their names there.
 */
export const markHoldersChanged = (editionId: string, userIds: readonly string[], now: number): Statement =>
  update(
    walletPasses,
    buildChangeColumns(now),
    sql`purchase_id in (select id from purchases indexed by purchases_of_user
      where ${inList(sql`user_id`, userIds)} and edition_id = ${editionId})`,
  )

/**
 * Builds the statements that erase a customer's passes: registrations of phones are deleted, tokens stop working, and
 * Google's copies are updated without the name. Repeating them does no harm.
 */
export function eraseWallet(userId: string, now: number): Statement[] {
  const isOfCustomer = sql`purchase_id in (select id from purchases where user_id = ${userId})`
  return [
    remove(walletRegistrations, sql`pass_id in (select id from wallet_passes where ${isOfCustomer})`),
    update(walletPasses, buildChangeColumns(now), and(isOfCustomer, eq(walletPasses.platform, 'google'))),
    update(
      walletPasses,
      { token_hash: null, registrations_count: 0, due_at: null },
      and(isOfCustomer, eq(walletPasses.platform, 'apple')),
    ),
  ]
}
