import { and, eq } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { requireOneChange, commit } from '../../db/commit.ts'
import { emailMessages } from '../../db/schema/email-messages.ts'
import { remove } from '../../db/write.ts'
import { openEditions } from '../editions/index.ts'
import type { MessageDetailRow } from './queries.ts'
import { checkChangeable } from './update.ts'
import { messageInUse, isUnused, detachEndedCampaigns, listUses } from './uses/usage.ts'

/** `isUnused` is checked again in the transaction, because a campaign may have started to use the message meanwhile. */
export async function deleteEmailMessage(ctx: Ctx, row: MessageDetailRow): Promise<null> {
  checkChangeable(row)
  const uses = await listUses(ctx, row)
  if (uses.length)
    throw messageInUse(
      uses,
      'You cannot delete a message that is in use: remove it from everything in `related_objects` first.',
    )
  return commit(ctx, null, [
    ...openEditions(row.edition_id),
    detachEndedCampaigns(row),
    remove(emailMessages, and(eq(emailMessages.id, row.id), eq(emailMessages.version, row.version), isUnused(row))),
    requireOneChange(),
  ])
}
