import { and, eq } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { requireOneChange, commit } from '../../db/commit.ts'
import { emailMessages } from '../../db/schema/messaging/email-messages.ts'
import { remove } from '../../db/write.ts'
import { openEditions } from '../editions/index.ts'
import type { MessageDetailRow } from './queries.ts'
import { checkChangeable } from './update.ts'
import { inUse, isUnused, detachFromEnded, usesOf } from './uses/usage.ts'

/** Foreign keys delete its renditions too. A reference that was made meanwhile is a lost race. */
export async function deleteMessage(ctx: Ctx, row: MessageDetailRow): Promise<null> {
  checkChangeable(row)
  const uses = await usesOf(ctx, row)
  if (uses.length) throw inUse(uses, 'This message is in use.')
  return commit(ctx, null, [
    ...openEditions(row.edition_id),
    detachFromEnded(row),
    remove(emailMessages, and(eq(emailMessages.id, row.id), eq(emailMessages.version, row.version), isUnused(row))),
    requireOneChange(),
  ])
}
