import { sql } from 'drizzle-orm'
import { seedPeople } from './customers.ts'
import { unique, write } from './rows.ts'

/** The time of the first order, and the time over which the orders are spread. */
const manyFrom = Date.UTC(2026, 0, 1)
const manyDays = 300

/** Seeds orders of one customer by one statement: spread over 300 days, with every status, type and amount. */
export async function seedManyOrders(place: { organization_id: string; edition_id: string }, count: number) {
  const [user] = await seedPeople({ organization: place.organization_id, edition: place.edition_id }, [{}])
  const mark = unique()
  await write(
    sql`with recursive n (i) as (select 1 union all select i + 1 from n where i < ${count})
      insert into orders (id, organization_id, edition_id, user_id, order_number, type, status, amount_minor, currency,
        items_count, has_payment, cart, number_folded, number_key, search_text, created_at, modified_at)
      select 'ord_' || ${mark} || i, ${place.organization_id}, ${place.edition_id}, ${user?.id ?? ''}, i,
        rtrim(substr('imported  online    in-person', i * 7919 % 3 * 10 + 1, 10)),
        rtrim(substr('completed cancelled pending   confirmed', i * 104729 % 4 * 10 + 1, 10)),
        i * 48271 % 1000 * 100, 'dkk', 1, 1, json_object('id', 'crt_' || ${mark} || i), i, printf('%02d', length(i)) || i, 'nr ' || i,
        ${manyFrom} + cast(i * 7927 % ${count} as real) / ${count} * ${manyDays * 86_400_000} + i % 997,
        ${manyFrom} + i * 1000
      from n`,
  )
}
