import { sql } from 'drizzle-orm'
import { afterAll, expect } from 'vitest'
import { db } from './seeding/rows.ts'

const columns = sql`edition_id, kind, product_id, status, currency, quarter, items, amount_minor, deposit_minor,
  handling_fee_minor, refunded_minor`

/** Counts everything that was sold anew, without the triggers. */
const countAnew = sql`
  select edition_id, 'order' as kind, '' as product_id, status, currency, created_at as at, 1 as items, amount_minor,
      0 as deposit_minor, 0 as handling_fee_minor, 0 as refunded_minor from orders
  union all
  select purchases.edition_id, 'purchase', product_id, purchases.status, currency, purchases.created_at, 1, price_minor,
      deposit_minor, handling_fee_minor, 0 from purchases join orders on orders.id = order_id
  union all
  select edition_id, 'use', product_id, '', '', used_at, quantity, 0, 0, 0, 0
    from purchase_uses join purchases on purchases.id = purchase_id where reverted_at is null
  union all
  select edition_id, 'refund', '', status, currency, created_at, 1, requested_minor, 0, 0, refunded_minor
    from refund_requests`

/** Compares the stored numbers of all editions with what their orders, purchases, uses and refunds add up to. */
export async function expectSalesCounts(): Promise<void> {
  const storedRows = await db.all(sql`select ${columns} from sales_counts join sales_series on id = series_id
    order by 1, 2, 3, 4, 5, 6`)
  const countedRows = await db.all(sql`select edition_id, kind, product_id, status, currency,
      cast(floor(at / 900000.0) as integer) as quarter, sum(items) as items, sum(amount_minor) as amount_minor,
      sum(deposit_minor) as deposit_minor, sum(handling_fee_minor) as handling_fee_minor,
      sum(refunded_minor) as refunded_minor
    from (${countAnew}) group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6`)
  expect(storedRows).toEqual(countedRows)
}

/** Compares the numbers at the end of a file of tests. */
export const checkSalesCounts = (): void => afterAll(expectSalesCounts)
