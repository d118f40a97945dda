import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../database.ts'

/** The editions of a scope, which is an edition or an organisation, with a column of theirs as `key`. */
export const editionsOfScope = (scope: string, key: SQL): SQL =>
  sql`select editions.id, ${key} as key
    from (select id from editions where id = ${scope} union all select id from editions where organization_id = ${scope}) as one
      cross join editions on editions.id = one.id`

interface LongOrganizations {
  most: number
  /** What `list_sizes` says of the length of a list. */
  size: SQL
  fewest: number
}

/** Organisations with a long list, from this one on. Those with an import wait for its end: it may be undone, too. */
export const longOrganizations = async (
  db: Database,
  from: string,
  { most, size, fewest }: LongOrganizations,
): Promise<string[]> =>
  (
    await db.all(sql<{ id: string }>`select organization_id as id from list_sizes
      where organization_id >= ${from} and ${size} >= ${fewest}
        and not exists (select 1 from data_imports where data_imports.organization_id = list_sizes.organization_id
          and phase is not null and phase in ('import', 'undo'))
      order by organization_id limit ${most}`)
  ).map(({ id }) => id)
