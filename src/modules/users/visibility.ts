import { sql } from 'drizzle-orm'
import { inEditions } from '../../db/customers.ts'
import { inList } from '../../db/visibility.ts'

/** Customers are the organisation's; edition roles see those of their editions. */
export const userVisibility = {
  inOrganizations: (ids: readonly string[]) => inList(sql`users.organization_id`, ids),
  inEditions: (ids: readonly string[]) =>
    sql`exists (select 1 from edition_customers where user_seq = users.seq and ${inEditions(sql`edition_id`, ids)})`,
}
