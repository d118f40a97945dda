import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { AppError } from '../../domain/errors.ts'
import type { MemberRow } from './queries.ts'

/** True for an admin of the whole organisation. */
export const isAdmin = ({ role, edition_id }: Pick<MemberRow, 'role' | 'edition_id'>): boolean =>
  role === 'admin' && edition_id === null

/** Holds if the organisation has an admin besides this member. */
export const hasOtherAdmin = ({ id, organization_id }: Pick<MemberRow, 'id' | 'organization_id'>): SQL =>
  sql`exists (select 1 from members as admins where admins.organization_id = ${organization_id}
    and admins.edition_id is null and admins.role = 'admin' and admins.id <> ${id})`

/** Throws for the last admin. The commit needs `hasOtherAdmin` too, because the other admin may leave meanwhile. */
export async function requireOtherAdmin(ctx: Ctx, member: MemberRow): Promise<void> {
  if (!isAdmin(member)) return
  const other = await ctx.db.first(sql`select 1 where ${hasOtherAdmin(member)}`)
  if (!other) throw new AppError('last_admin', 'This is the last admin of the organisation. Add another admin first.')
}
