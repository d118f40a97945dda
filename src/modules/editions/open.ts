import { sql } from 'drizzle-orm'
import { refuseUnless } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'

/**
 * For the commit of everything that changes what an edition owns: the batch is refused with `edition_archived` when one
 * of the editions is archived at that moment. Costs one statement, and nothing where no edition is named.
 */
export function openEditions(...editionIds: readonly (string | null | undefined)[]): Statement[] {
  const named = [...new Set(editionIds.filter((id) => typeof id === 'string'))]
  if (named.length === 0) return []
  const ids = sql.join(
    named.map((id) => sql`${id}`),
    sql`, `,
  )
  const archived = sql`exists (select 1 from editions where id in (${ids}) and is_archived = 1)`
  return [refuseUnless(sql`not ${archived}`, 'edition_archived')]
}
