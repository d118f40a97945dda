import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../database.ts'

/** The editions of a scope, which is an edition or an organisation, with a column of theirs as `key`. */
export const editionsOfScope = (scope: string, key: SQL): SQL =>
  sql`select editions.id, ${key} as key
    from (select id from editions where id = ${scope} union all select id from editions where organization_id = ${scope}) as one
      cross join editions on editions.id = one.id`

export interface LongOrganizations {
  most: number
  /** Columns of `list_sizes`, of which one has at least so many. */
  columns: readonly ('all_orders' | 'all_purchases')[]
  fewest: number
}

/** Organisations with a long list, from this one on. Those with an import wait for its end: it may be undone, too. */
export const longOrganizations = async (
  db: Database,
  from: string,
  { most, columns, fewest }: LongOrganizations,
): Promise<string[]> => {
  const isLong = columns.map((column) => sql`${sql.raw(column)} >= ${fewest}`)
  return (
    await db.all(sql<{ id: string }>`select organization_id as id from list_sizes
      where organization_id >= ${from} and (${sql.join(isLong, sql` or `)})
        and not exists (select 1 from data_imports where data_imports.organization_id = list_sizes.organization_id
          and phase is not null and phase in ('import', 'undo'))
      order by organization_id limit ${most}`)
  ).map(({ id }) => id)
}
