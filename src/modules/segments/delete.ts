import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { requireOneChange, commit } from '../../db/commit.ts'
import { segments } from '../../db/schema/segments.ts'
import { update } from '../../db/write.ts'
import { AppError } from '../../domain/errors.ts'
import { segmentLifecycle } from '../../domain/segments.ts'
import { openEditions } from '../editions/index.ts'
import { dropMembers } from './calculation/start-and-reset.ts'
import { selectCampaignsUsing, type LoadedSegment } from './queries.ts'

/** Hides the segment, because sent campaigns still show it. The sweep deletes its members. */
export async function deleteSegment(ctx: Ctx, segment: LoadedSegment): Promise<null> {
  const related_objects = await ctx.db.all(selectCampaignsUsing(segment.id))
  if (related_objects.length)
    throw new AppError('segment_in_use', 'Campaigns that have not ended use this segment.', {
      extra: { related_objects },
    })
  const now = ctx.now()
  const { id, epoch, version } = segment
  const changes = {
    deleted_at: now,
    status: segmentLifecycle.initial,
    epoch: epoch + 1,
    members_epoch: 0,
    user_count: 0,
    heartbeat_at: null,
    version: version + 1,
  }
  return commit(ctx, null, [
    ...openEditions(segment.edition_id),
    ...dropMembers(segment, now),
    update(segments, changes, sql`id = ${id} and version = ${version} and not exists (${selectCampaignsUsing(id)})`),
    requireOneChange(),
  ])
}
