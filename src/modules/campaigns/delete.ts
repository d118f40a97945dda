import { and, eq } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { requireOneChange, commit } from '../../db/commit.ts'
import { campaigns } from '../../db/schema/campaigns.ts'
import { remove } from '../../db/write.ts'
import { isDeletable } from '../../domain/campaigns/lifecycle.ts'
import { openEditions } from '../editions/index.ts'
import { guardSegment, invalidTransition } from './checks.ts'
import type { LoadedCampaign } from './queries.ts'

/** A campaign that sent messages cannot be deleted, because the links in them must keep working. */
export async function deleteCampaign(ctx: Ctx, campaign: LoadedCampaign): Promise<void> {
  const { id, edition_id, version, status } = campaign
  if (!isDeletable(status) || !(await ctx.senders.get(id).deleteIfUnsent()))
    throw invalidTransition(status, status === 'scheduled' ? 'deleted. Cancel it first' : 'deleted')
  await commit(ctx, undefined, [
    ...openEditions(edition_id),
    ...guardSegment(ctx, campaign),
    remove(campaigns, and(eq(campaigns.id, id), eq(campaigns.version, version))),
    requireOneChange(),
  ])
}
