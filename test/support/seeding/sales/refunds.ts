import { sql } from 'drizzle-orm'
import type { RefundRow } from '../../../../src/db/rows.ts'
import { refundItems, refundRequests } from '../../../../src/db/schema/refunds.ts'
import { insert, insertAll } from '../../../../src/db/write.ts'
import { freshId, next, type Place, seededTimes, write } from '../rows.ts'
import { type Sale, seedTrades, type Trade } from './trades.ts'

type Columns = Partial<typeof refundRequests.$inferInsert>

export interface SeededRefund extends Trade {
  refund: string
}

const buildRequest = (place: Place, trade: Trade, amount: number) => ({
  id: freshId('refund_request'),
  organization_id: place.organization,
  edition_id: place.edition,
  order_id: trade.order,
  transaction_id: trade.transaction,
  purchase_id: trade.purchase,
  user_id: trade.user,
  target: 'purchase' as const,
  source: 'api' as const,
  reason: 'customer_request' as const,
  currency: 'dkk' as const,
  requested_minor: amount,
  price_minor: amount,
})

/**
 * Seeds requests of as many customers, pending unless `columns` differs, with their reserved amounts. Some have the
 * same time.
 */
export async function seedRefunds(place: Place, count: number, columns: Columns = {}): Promise<SeededRefund[]> {
  return seedRefundsOf(place, await seedTrades(place, count), () => columns)
}

/** Like `seedRefunds`, for existing purchases; each request has columns of its own. */
export async function seedRefundsOf(
  place: Place,
  trades: readonly Trade[],
  columnsFor: (index: number) => Columns,
): Promise<SeededRefund[]> {
  const rows = trades.map((trade, index) => ({
    ...buildRequest(place, trade, 5_000),
    status: 'pending' as const,
    requested_by: 'root',
    ...seededTimes(next()),
    ...columnsFor(index),
  }))
  const items = rows.map((row, index) => ({
    refund_request_id: row.id,
    purchase_id: trades[index]?.purchase ?? '',
    amount_minor: row.requested_minor,
    price_minor: row.requested_minor,
  }))
  const ids = JSON.stringify(rows.map(({ id }) => id))
  const reserved = sql`id in (select value from json_each(${ids})) and status = 'pending'`
  await write(
    ...insertAll(refundRequests, rows),
    ...insertAll(refundItems, items),
    sql`update purchases set reserved_minor = requested_minor from refund_requests as made
      where purchases.id = made.purchase_id and made.id in (select id from refund_requests where ${reserved})`,
    sql`update transactions set reserved_minor = requested_minor from refund_requests as made
      where transactions.id = made.transaction_id and made.id in (select id from refund_requests where ${reserved})`,
  )
  return trades.map((trade, index) => ({ ...trade, refund: rows[index]?.id ?? '' }))
}

export async function seedRefund(place: Place, columns: Columns = {}): Promise<SeededRefund> {
  const [refund] = await seedRefunds(place, 1, columns)
  if (!refund) throw new Error('no refund was made')
  return refund
}

/** Seeds a refund of this sale that was approved and is due, with its amount reserved. */
export async function seedDueRefund(sale: Sale, columns: Partial<RefundRow> = {}): Promise<string> {
  const now = Date.now()
  const row = {
    ...buildRequest(sale, sale, sale.amount),
    status: 'approved' as const,
    approved_minor: sale.amount,
    service: 'test' as const,
    merchant_account_id: sale.account,
    due_at: now,
    created_at: now,
    modified_at: now,
    ...columns,
  }
  const amount = row.approved_minor ?? row.requested_minor
  const item = { refund_request_id: row.id, purchase_id: sale.purchase, amount_minor: amount }
  await write(
    insert(refundRequests, row),
    insert(refundItems, item),
    sql`update purchases set reserved_minor = reserved_minor + ${amount} where id = ${sale.purchase}`,
    sql`update transactions set reserved_minor = reserved_minor + ${amount} where id = ${sale.transaction}`,
  )
  return row.id
}
