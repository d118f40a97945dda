import { sql } from 'drizzle-orm'
import { refundItems, refundRequests } from '../../src/db/schema/sales/refunds.ts'
import { insertAll } from '../../src/db/write.ts'
import { freshId, next, seededAt, write } from './seed.ts'
import { seedTrades, type Trade } from './seed-commerce.ts'

interface Place {
  organization: string
  edition: string
}

type Columns = Partial<typeof refundRequests.$inferInsert>

export interface SeededRefund extends Trade {
  refund: string
}

/** Requests of as many customers, pending unless `columns` says otherwise; what is pending is reserved. Some were made at the same moment. */
export async function seedRefunds(place: Place, count: number, columns: Columns = {}): Promise<SeededRefund[]> {
  const trades = await seedTrades(place, count)
  const amount = 5_000
  const rows = trades.map((trade) => {
    const number = next()
    const at = seededAt + Math.floor(number / 3) * 1000
    return {
      id: freshId('refund_request'),
      organization_id: place.organization,
      edition_id: place.edition,
      order_id: trade.order,
      transaction_id: trade.transaction,
      purchase_id: trade.purchase,
      user_id: trade.user,
      target: 'purchase' as const,
      status: 'pending' as const,
      source: 'api' as const,
      reason: 'customer_request' as const,
      currency: 'dkk' as const,
      requested_minor: amount,
      price_minor: amount,
      requested_by: 'root',
      created_at: at,
      modified_at: at,
      ...columns,
    }
  })
  const ids = JSON.stringify(rows.map(({ id }) => id))
  const reserved = sql`id in (select value from json_each(${ids})) and status = 'pending'`
  await write(
    ...insertAll(refundRequests, rows),
    ...insertAll(
      refundItems,
      rows.map((row, index) => ({
        refund_request_id: row.id,
        purchase_id: trades[index]?.purchase ?? '',
        amount_minor: amount,
        price_minor: amount,
      })),
    ),
    sql`update purchases set reserved_minor = ${amount}
      where id in (select purchase_id from refund_requests where ${reserved})`,
    sql`update transactions set reserved_minor = ${amount}
      where id in (select transaction_id from refund_requests where ${reserved})`,
  )
  return trades.map((trade, index) => ({ ...trade, refund: rows[index]?.id ?? '' }))
}

export async function seedRefund(place: Place, columns: Columns = {}): Promise<SeededRefund> {
  const [made] = await seedRefunds(place, 1, columns)
  if (!made) throw new Error('no refund was made')
  return made
}
