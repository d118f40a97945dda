import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { changedOne, commit } from '../../db/commit.ts'
import { openEditions } from '../editions/index.ts'
import type { MessageDetailRow } from './queries.ts'
import { checkChangeable } from './update.ts'
import { inUse, isUnused, detachFromEnded, usesOf } from './uses/usage.ts'

/** Its renditions go with it by their foreign key. A reference that was made meanwhile makes this decide anew. */
export async function deleteMessage(ctx: Ctx, row: MessageDetailRow): Promise<null> {
  checkChangeable(row)
  const uses = await usesOf(ctx, row)
  if (uses.length) throw inUse(uses, 'This message is in use.')
  return commit(ctx, null, [
    ...openEditions(row.edition_id),
    detachFromEnded(row),
    sql`delete from email_messages where id = ${row.id} and version = ${row.version} and ${isUnused(row)}`,
    changedOne(),
  ])
}
