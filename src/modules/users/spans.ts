import { sql } from 'drizzle-orm'
import { customerRanges } from '../../db/lists/customer-ranges.ts'
import { byMoment, type SpannedList } from '../../db/lists/spans/spanned-list.ts'
import { shortIdOf } from '../../db/short-ids.ts'

/** The only value of their facet: lists of customers have no filter that spans distinguish. */
const all = 'all'

/** The ranges of `users_order_created`. */
export const ranges = customerRanges(sql`users`)

/** Customers of organisations. Their number is known without spans (`list_sizes`); these lead to pages by their number. */
export const customerSpans: SpannedList = {
  name: 'users',
  table: sql`users`,
  joins: sql``,
  scope: sql`users.organization_id`,
  ofScope: (scope) => sql`users.organization_short_id = ${shortIdOf(scope)}`,
  ranges: ranges.all,
  key: sql`users.created_at`,
  ...byMoment,
  facets: [{ column: sql.raw(`'${all}'`), values: [all] }],
  hasSums: false,
  hasLongSums: true,
  mostUndivided: 128,
  isSettled: true,
  hasSmallScopes: true,
}
