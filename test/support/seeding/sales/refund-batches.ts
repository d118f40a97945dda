import { refundBatches } from '../../../../src/db/schema/refunds.ts'
import { insertAll } from '../../../../src/db/write.ts'
import { type Reply, post } from '../../api.ts'
import { freshId, next, type Place, seededAt, write } from '../rows.ts'
import type { Shop } from './orders.ts'

/** Requests a batch, and returns the answer even when it is refused. */
export const makeBatch = (shop: Shop, change: Record<string, unknown> = {}, token?: string): Promise<Reply> =>
  post(
    `/v1/editions/${shop.edition_id}/refund-batches`,
    { filter: {}, amount: 'full', reason: 'event_cancelled', ...change },
    token,
  )

type Columns = Partial<typeof refundBatches.$inferInsert>

const sums = { orders: 1, purchases: 1, amounts: { dkk: 5_000 }, left_out: {} }

const zeros = { orders: 0, purchases: 0, amounts: {}, left_out: {} }

/** Seeds drafts that are not started, unless `columns` differs. Some have the same time. */
export async function seedRefundBatches(place: Place, count: number, columns: Columns = {}): Promise<string[]> {
  const rows = Array.from({ length: count }, () => {
    const at = seededAt + Math.floor(next() / 3) * 1000
    return {
      id: freshId('refund_batch'),
      organization_id: place.organization,
      edition_id: place.edition,
      status: 'draft' as const,
      // The batch finds nothing when it is started.
      filter: { created_before: 0 },
      percent_hundredths: 10_000,
      include_fees: false,
      cancel_purchases: false,
      notify_customers: false,
      reason: 'event_cancelled' as const,
      message: '',
      dry_run: sums,
      customers_count: 1,
      requested: zeros,
      source: 'api' as const,
      created_by: 'root',
      created_at: at,
      modified_at: at,
      ...columns,
    }
  })
  await write(...insertAll(refundBatches, rows))
  return rows.map(({ id }) => id)
}
