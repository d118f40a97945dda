import { eq, isNull, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { buildOrderBy, paginate } from '../../db/paginate.ts'
import { accessTokens } from '../../db/schema/accounts.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import { isLineageValid } from './authenticate.ts'
import type { TokenQuery } from './contract.ts'
import { type AccessTokenRow, tokenColumns } from './queries.ts'

const sortColumns = { created: sql`${accessTokens.created_at}`, name: sql`${accessTokens.name_key}` }

/** The caller's own tokens that are still valid. A token of one organisation lists only the tokens of that organisation. */
export function listAccessTokens(ctx: Ctx, page: PageRequest, query: TokenQuery): Promise<Page<AccessTokenRow>> {
  const { caller } = ctx
  const boundTo = caller.credential.organization_id
  const { id, account_id, organization_id, revoked_at, expires_at } = accessTokens
  return paginate(ctx.db, page, {
    from: sql`${accessTokens}`,
    where: [
      eq(account_id, caller.id),
      isNull(revoked_at),
      sql`(${expires_at} is null or ${expires_at} > ${ctx.now()})`,
      isLineageValid(ctx.now()),
      ...(boundTo ? [eq(organization_id, boundTo)] : []),
    ],
    orderBy: buildOrderBy(query.ordering, '-created', sortColumns),
    id: sql`${id}`,
    columns: tokenColumns,
    joins: sql`join ${accessTokens} on ${id} = page.id`,
  })
}
