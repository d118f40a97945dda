import { sql } from 'drizzle-orm'
import type { Database } from './database.ts'

/** Pages of 4 KB that one statement writes, in about 200 ms. */
const pagesAStep = 2000
const maxSteps = 100

const changes = sql<{ total: number }>`select total_changes() as total`

/**
 * Merges the segments of the indexes of customers into one each, which has nothing left of texts that were removed: FTS5
 * keeps them in the segments that it wrote before.
 */
export async function mergeCustomerIndexes(db: Database): Promise<void> {
  await mergeIndex(db, 'customer_search')
  await mergeIndex(db, 'edition_customer_search')
}

/** Ends after 100 steps while others keep writing to the index. */
async function mergeIndex(db: Database, name: 'customer_search' | 'edition_customer_search'): Promise<void> {
  const index = sql.raw(name)
  const merge = sql`insert into ${index} (${index}, rank) values ('merge', ${sql.raw(`-${pagesAStep}`)})`
  for (let step = 0; step < maxSteps; step++) {
    const [[before], , [after]] = await db.batch([changes, merge, changes])
    // FTS5's documentation: a merge that had nothing to do changes less than two rows.
    if (Number(after?.total) - Number(before?.total) < 2) return
  }
}
