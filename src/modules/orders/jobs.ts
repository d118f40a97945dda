import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { minuteMs } from '../../domain/time/instants.ts'

const recountHour = 3

/**
 * Corrects the stored counts of orders. In the hour after 03:00 UTC, each minute recounts a sixtieth of the editions,
 * so that no statement takes long.
 */
export async function recountOrders({ db, now }: Pick<JobCtx, 'db' | 'now'>): Promise<void> {
  const minute = Math.floor(now() / minuteMs) % (24 * 60)
  if (Math.floor(minute / 60) !== recountHour) return
  const corrections = await db.all(sql<{ edition_id: string; status: string; type: string; orders_count: number }>`
    with next_editions as materialized (
      select id from (select id, row_number() over (order by id) as number from editions)
        where number % 60 = ${minute % 60}
    )
    insert into order_counts (edition_id, status, type, orders_count)
    select edition_id, status, type, sum(actual_count) from (
      select edition_id, status, type, 0 as actual_count, orders_count as stored_count from order_counts
        where edition_id in (select id from next_editions)
      union all
      select edition_id, status, type, count(*), 0 from orders indexed by orders_edition_created
        where edition_id in (select id from next_editions) group by edition_id, status, type
    )
    where true group by edition_id, status, type having sum(actual_count) <> sum(stored_count)
    on conflict (edition_id, status, type) do update set orders_count = excluded.orders_count
    returning edition_id, status, type, orders_count`)
  if (corrections.length > 0)
    throw new Error(`Counts of orders were wrong and are repaired: ${JSON.stringify(corrections)}`)
}
