import { eq, isNull, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { buildOrderBy, paginate } from '../../../db/paginate.ts'
import { accessTokens } from '../../../db/schema/accounts.ts'
import type { Page, PageRequest } from '../../../domain/page.ts'
import type { LoadedOrganization } from '../../organizations/index.ts'
import { isLineageValid } from '../authenticate.ts'
import type { OrganizationTokenQuery } from './contract.ts'
import { organizationTokenColumns, type OrganizationTokenRow } from './queries.ts'

const sortColumns = {
  created: sql`${accessTokens.created_at}`,
  name: sql`${accessTokens.name_key}`,
  last_used_at: { nullable: sql`${accessTokens.last_used_at}` },
}

export function listOrganizationTokens(
  ctx: Ctx,
  page: PageRequest,
  query: OrganizationTokenQuery,
  organization: LoadedOrganization,
): Promise<Page<OrganizationTokenRow>> {
  const { id, organization_id, revoked_at, expires_at } = accessTokens
  return paginate(ctx.db, page, {
    from: sql`${accessTokens}`,
    where: [
      eq(organization_id, organization.id),
      isNull(revoked_at),
      sql`(${expires_at} is null or ${expires_at} > ${ctx.now()})`,
      isLineageValid(ctx.now()),
    ],
    orderBy: buildOrderBy(query.ordering, '-created', sortColumns),
    id: sql`${id}`,
    columns: organizationTokenColumns,
    joins: sql`join ${accessTokens} on ${id} = page.id`,
  })
}
