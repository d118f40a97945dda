import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { stillHolds } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { inList } from '../../db/visibility.ts'
import { organizationRoles, reachOf } from '../../domain/access.ts'
import { runningStatuses } from '../../domain/campaigns.ts'
import { AppError } from '../../domain/errors.ts'
import { writers } from './message-contract.ts'
import type { MessageDetailRow } from './queries.ts'

/**
 * Holds for campaigns that are about to send the message to segments beyond the editions that the caller may write to;
 * null for roles in the whole organisation.
 */
function beyondReach(ctx: Ctx, message: MessageDetailRow): SQL | null {
  const reach = reachOf(ctx.caller, writers)
  if (reach.all || reach.organizations.some((id) => id === message.organization_id)) return null
  const editions = reach.editions.flatMap(({ edition_id }) => edition_id ?? [])
  return sql`exists (select 1 from campaigns join segments on segments.id = campaigns.segment_id
    where campaigns.email_message_id = ${message.id}
      and ${inList(sql`campaigns.status`, ['scheduled', ...runningStatuses])}
      and (segments.edition_id is null or not (${inList(sql`segments.edition_id`, editions)})))`
}

/** Refuses to change a message that a campaign is about to send to people whom the caller's roles do not reach. */
export async function checkCampaignsReach(ctx: Ctx, message: MessageDetailRow): Promise<void> {
  const isBeyond = beyondReach(ctx, message)
  if (isBeyond === null || !(await ctx.db.first(sql`select 1 where ${isBeyond}`))) return
  throw new AppError(
    'permission_denied',
    'A campaign is about to send this message to a segment beyond your editions: changing it takes a role in the organisation.',
    { extra: { required_roles: organizationRoles(writers) } },
  )
}

/** Aborts when such a campaign has come up since. */
export function noCampaignBeyond(ctx: Ctx, message: MessageDetailRow): Statement[] {
  const isBeyond = beyondReach(ctx, message)
  return isBeyond === null ? [] : [stillHolds(sql`not ${isBeyond}`)]
}
