import { sql } from 'drizzle-orm'
import type { Database } from '../../../db/database.ts'
import type { OrderRow } from '../../../db/rows.ts'
import { dayMs } from '../../../domain/time/instants.ts'
import type { RunSetting } from './setting.ts'

/** A date without a time may be of another time zone. */
const nearMs = 1.5 * dayMs

type WantedOrder = Pick<OrderRow, 'id' | 'user_id' | 'amount_minor'> & { created_at: number | null }

/**
 * Finds orders of the same customer with the same amount and about the same date that exist in the edition, by the new
 * order. Orders of the import itself are not among them.
 */
export async function findSimilarOrders(
  db: Database,
  { row, edition }: Pick<RunSetting, 'row' | 'edition'>,
  orders: readonly WantedOrder[],
): Promise<ReadonlyMap<string, string>> {
  if (orders.length === 0) return new Map()
  const values = orders.map(({ id, user_id, amount_minor, created_at }) => [id, user_id, amount_minor, created_at])
  const rows = await db.all(
    sql<{ id: string; similar_id: string }>`select wanted.value ->> 0 as id, min(o.id) as similar_id
      from json_each(${JSON.stringify(values)}) as wanted cross join orders o
        on o.user_id = wanted.value ->> 1 and o.amount_minor = wanted.value ->> 2
      where o.edition_id = ${edition.id} and o.modified_at < ${row.started_at ?? Number.MAX_SAFE_INTEGER}
        and (wanted.value ->> 3 is null or abs(o.created_at - (wanted.value ->> 3)) <= ${nearMs})
      group by 1`,
  )
  return new Map(rows.map(({ id, similar_id }) => [id, similar_id]))
}
