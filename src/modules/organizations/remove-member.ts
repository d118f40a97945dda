import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { requireOneChange, commit } from '../../db/commit.ts'
import { hasOtherAdmin, requireOtherAdmin } from './last-admin.ts'
import type { MemberRow } from './queries.ts'

/**
 * Removing a person's last role in the organisation also revokes their tokens that are bound to it. Removing the last role
 * of all ends their sessions.
 */
export async function removeOrganizationMember(ctx: Ctx, member: MemberRow): Promise<null> {
  const { id, organization_id, account_id } = member
  await requireOtherAdmin(ctx, member)
  return commit(ctx, null, [
    sql`delete from members where id = ${id} and (role <> 'admin' or edition_id is not null or ${hasOtherAdmin(member)})`,
    requireOneChange(),
    sql`update access_tokens set revoked_at = ${ctx.now()} where account_id = ${account_id}
      and organization_id = ${organization_id} and revoked_at is null and not exists
      (select 1 from members where members.account_id = ${account_id} and members.organization_id = ${organization_id})`,
    sql`update access_tokens set revoked_at = ${ctx.now()} where account_id = ${account_id}
      and is_session = 1 and revoked_at is null and not exists
      (select 1 from members where members.account_id = ${account_id})`,
  ])
}
