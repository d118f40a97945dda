import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { abortUnless, commit, requireOneChange } from '../../db/commit.ts'
import { members } from '../../db/schema/accounts.ts'
import { isEmpty, pickChanges, update } from '../../db/write.ts'
import type { UpdateMemberInput } from './contract.ts'
import { hasOtherAdmin, isAdmin, requireOtherAdmin } from './last-admin.ts'
import type { MemberRow } from './queries.ts'

/** Every request reads the roles of its caller, so a new role applies to tokens and sessions at once. */
export async function updateOrganizationMember(
  ctx: Ctx,
  member: MemberRow,
  input: UpdateMemberInput,
): Promise<MemberRow> {
  const changes = pickChanges<MemberRow>(member, input)
  if (isEmpty(changes)) return commit(ctx, member, [])
  const updatedMember = { ...member, ...changes }
  const losesAdmin = isAdmin(member) && !isAdmin(updatedMember)
  if (losesAdmin) await requireOtherAdmin(ctx, member)
  const isAsRead = sql`id = ${member.id} and role = ${member.role} and first_name = ${member.first_name}
    and last_name = ${member.last_name}`
  return commit(ctx, updatedMember, [
    ...(losesAdmin ? [abortUnless(hasOtherAdmin(member))] : []),
    update(members, changes, isAsRead),
    requireOneChange(),
  ])
}
