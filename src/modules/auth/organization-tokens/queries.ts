import { and, eq, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { accessTokens } from '../../../db/schema/accounts.ts'
import { fromJson, type RowOf, select } from '../../../db/select.ts'
import { buildVisibility, isVisibleTo } from '../../../db/visibility.ts'
import type { Tenant } from '../../../domain/accounts/access.ts'
import { notFound } from '../../../domain/errors.ts'
import { tokenColumns } from '../queries.ts'

export { findOrganization } from '../../organizations/index.ts'

interface Holder {
  member_id: string
  email: string
  first_name: string
  last_name: string
}

/** A membership of the token's account in the token's organisation, if possible one in the whole organisation. */
const selectHolder = sql`(select json_object('member_id', members.id, 'email', accounts.email,
    'first_name', first_name, 'last_name', last_name)
  from members cross join accounts on accounts.id = members.account_id
  where members.account_id = ${accessTokens.account_id} and members.organization_id = ${accessTokens.organization_id}
  order by edition_id is not null, members.id limit 1)`

export const organizationTokenColumns = {
  ...tokenColumns,
  holder: fromJson<Holder | null>(selectHolder),
}

export type OrganizationTokenRow = RowOf<typeof organizationTokenColumns>

/** A token that works in this organisation only. Tokens that work elsewhere too are no business of its admins. */
export async function findOrganizationToken(
  ctx: Ctx,
  organizationId: string,
  id: string,
): Promise<OrganizationTokenRow & { tenant: Tenant }> {
  const visibility = buildVisibility(sql`${accessTokens.organization_id}`, sql`null`)
  const row = await ctx.db.first(
    select(organizationTokenColumns)
      .from(accessTokens)
      .where(
        and(
          eq(accessTokens.id, id),
          eq(accessTokens.organization_id, organizationId),
          isVisibleTo(ctx.caller, visibility),
        ),
      ),
  )
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: organizationId, editions: [] } }
}
