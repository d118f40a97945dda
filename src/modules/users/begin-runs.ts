import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { inList } from '../../db/visibility.ts'
import { customersOf } from './run-list.ts'

/** Editions of these organisations with so many customers have runs from now on. */
export const beginRuns = (organizations: readonly string[], fewest: number): SQL =>
  sql`insert into customer_run_states (edition_short_id)
    select short_id from editions
    where ${inList(sql`organization_id`, organizations)} and
      case when exists (select 1 from customer_run_states where edition_short_id = short_id) then 0
        else ${customersOf(sql`editions.id`)} >= ${fewest} end`

/** Those of some editions whose organisations have no import at work. */
export const withoutImport = async (db: Database, shortIds: readonly string[]): Promise<string[]> =>
  (
    await db.all(sql<{ id: string }>`select short_id as id from editions
      where ${inList(sql`short_id`, shortIds)} and not exists (select 1 from data_imports
        where data_imports.organization_id = editions.organization_id
          and phase is not null and phase in ('import', 'undo')) order by short_id`)
  ).map(({ id }) => id)
