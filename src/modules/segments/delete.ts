import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { changedOne, commit } from '../../db/commit.ts'
import { AppError } from '../../domain/errors.ts'
import { openEditions } from '../editions/index.ts'
import { dropMembers } from './calculation/drop-members.ts'
import { campaignsInNeed, type LoadedSegment } from './queries.ts'

/** Hides the segment and gives its members to the sweep, unless a campaign still needs it at that very moment. */
export async function deleteSegment(ctx: Ctx, segment: LoadedSegment): Promise<null> {
  const related_objects = await ctx.db.all(campaignsInNeed(segment.id))
  if (related_objects.length)
    throw new AppError('segment_in_use', 'Campaigns that have not ended use this segment.', {
      extra: { related_objects },
    })
  const now = ctx.now()
  return commit(ctx, null, [
    ...openEditions(segment.edition_id),
    ...dropMembers(segment, now),
    sql`update segments set deleted_at = ${now}, status = 'draft', epoch = epoch + 1, members_epoch = 0,
        user_count = 0, heartbeat_at = null, version = version + 1
      where id = ${segment.id} and version = ${segment.version} and not exists (${campaignsInNeed(segment.id)})`,
    changedOne(),
  ])
}
