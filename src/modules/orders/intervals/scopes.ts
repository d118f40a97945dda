import { type SQL, sql } from 'drizzle-orm'
import { orders } from '../../../db/schema/sales/orders.ts'

/**
 * The editions of a scope, which is an edition or an organisation, with `until`: their orders are settled whose last change
 * was before this moment.
 */
export const editionsOf = (scope: string): SQL =>
  sql`select editions.id, editions.short_id, coalesce(settled_lists.until, 0) as until
    from (select id from editions where id = ${scope} union all select id from editions where organization_id = ${scope}) as one
      cross join editions on editions.id = one.id
      left join settled_lists on settled_lists.list = 'orders' and settled_lists.scope = editions.id`

/** Orders that are not settled, of the editions of a scope. */
export const youngOrders = (scope: string): SQL =>
  sql`(${editionsOf(scope)}) as edition cross join ${orders} indexed by orders_edition_modified
    on ${orders}.edition_short_id = edition.short_id and ${orders.modified_at} >= edition.until`
