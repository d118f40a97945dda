import { sql } from 'drizzle-orm'
import type { Database } from '../../database.ts'

/** What `list_sizes` counts in organisations. */
export type OrganizationSize = 'all_orders' | 'customers'

/** Organisations with at least so many rows, from one on. The rows of an import wait for its end: it may be undone, too. */
export async function longOrganizations(
  db: Database,
  { size, fewest }: { size: OrganizationSize; fewest: number },
  from: string,
  most: number,
): Promise<readonly string[]> {
  const found = await db.all(sql<{ id: string }>`select organization_id as id from list_sizes
    where organization_id >= ${from} and ${sql.raw(size)} >= ${fewest}
      and not exists (select 1 from data_imports where data_imports.organization_id = list_sizes.organization_id
        and phase is not null and phase in ('import', 'undo'))
    order by organization_id limit ${most}`)
  return found.map(({ id }) => id)
}
