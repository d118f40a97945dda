import { type SQL, sql } from 'drizzle-orm'
import { shortIdsOf } from './short-ids.ts'

/** A constant in a statement. It is not bound, because a statement has at most 100 parameters. */
export const written = (value: number): SQL => sql.raw(String(value))

/** How many customers editions have; one of several editions counts in each. `editions` is a query of their ids. */
export const countCustomers = (editions: SQL): SQL =>
  sql`(select count(*) from edition_customers where edition_short_id in (${shortIdsOf(editions)}))`
