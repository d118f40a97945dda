import { sql } from 'drizzle-orm'
import type { Database } from '../../database.ts'

export interface LongOrganizations {
  most: number
  /** Columns of `list_sizes`, of which one has at least so many. */
  columns: readonly ('all_orders' | 'all_purchases' | 'customers')[]
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
