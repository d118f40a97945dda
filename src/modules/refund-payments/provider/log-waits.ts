import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import type { RefundRow } from '../../../db/schema/sales/refunds.ts'

/** A refund that begins to wait for its provider, or no longer waits. */
export interface WaitChange {
  refund: Pick<RefundRow, 'id' | 'edition_id' | 'merchant_account_id'>
  /** Null: it no longer waits. */
  reason: string | null
}

/** Returns null when the refund goes on waiting, or did not wait. `refund` is the row before the change. */
export const findWaitChange = (refund: RefundRow, reason: string | null): WaitChange | null =>
  (refund.waiting_since === null) === (reason === null) ? null : { refund, reason }

/** Finds out whether another refund of the edition waits for the provider. */
async function hasOtherWait(job: JobCtx, changes: readonly WaitChange[]): Promise<boolean> {
  const [change] = changes
  if (!change) return false
  const { edition_id, merchant_account_id } = change.refund
  const ids = JSON.stringify(changes.map(({ refund }) => refund.id))
  const row = await job.db.first(sql<{ id: string }>`select id from refund_requests
    indexed by refund_requests_waiting where edition_id = ${edition_id} and waiting_since is not null
      and merchant_account_id = ${merchant_account_id}
      and id not in (select value from json_each(${ids})) limit 1`)
  return row !== undefined
}

async function logChangesOfEdition(job: JobCtx, changes: readonly WaitChange[]): Promise<void> {
  const waits = changes.filter(({ reason }) => reason !== null)
  const [change] = waits.length ? waits : changes
  if (!change || (await hasOtherWait(job, waits.length ? waits : changes))) return
  const { edition_id, merchant_account_id } = change.refund
  const message = change.reason === null ? 'Refunds no longer wait.' : `Refunds wait. ${change.reason}`
  job.logWarning('refunds', message, { edition_id, merchant_account_id })
}

/** Logs that the first refunds of an edition begin to wait for a provider, and that the last ones no longer wait. */
export async function logWaitChanges(job: JobCtx, changes: readonly WaitChange[]): Promise<void> {
  const groups = Map.groupBy(changes, ({ refund }) => `${refund.edition_id} ${refund.merchant_account_id}`)
  for (const group of groups.values()) await logChangesOfEdition(job, group)
}
