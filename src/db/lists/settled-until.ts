import { type SQL, sql } from 'drizzle-orm'

/** Notes up to where the rows of a scope of a list are counted, or packed. It never goes back. */
export const settledUntil = (list: string, scope: string, until: string | number): SQL =>
  sql`insert into settled_lists (list, scope, until) values (${list}, ${scope}, ${until})
    on conflict (list, scope) do update set until = max(until, excluded.until)`
