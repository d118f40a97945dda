import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { buildOrderBy, paginate } from '../../db/paginate.ts'
import { senderDomains } from '../../db/schema/messaging/sender-domains.ts'
import { select } from '../../db/select.ts'
import { buildVisibility, isVisibleTo } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import type { SenderDomainQuery } from './contract.ts'

export { findOrganization } from '../organizations/index.ts'

export type SenderDomainRow = typeof senderDomains.$inferSelect

const columns = getTableColumns(senderDomains)

/** Domains with all their columns. */
export const selectSenderDomains = () => select(columns).from(senderDomains)

const visibility = buildVisibility(sql`${senderDomains.organization_id}`, sql`null`)

export function listSenderDomains(
  ctx: Ctx,
  organizationId: string,
  page: PageRequest,
  query: SenderDomainQuery,
): Promise<Page<SenderDomainRow>> {
  const { ordering, status: asked } = query
  const { id, organization_id, status, created_at, domain } = columns
  return paginate(ctx.db, page, {
    from: sql`${senderDomains}`,
    id: sql`${id}`,
    where: [eq(organization_id, organizationId), ...(asked ? [eq(status, asked)] : [])],
    orderBy: buildOrderBy(ordering, 'created', { created: sql`${created_at}`, domain: sql`${domain}` }),
    columns,
    joins: sql`join ${senderDomains} on ${id} = page.id`,
  })
}

/** A domain of an organisation in which the caller has a role of the organisation. */
export async function findSenderDomain(
  ctx: Ctx,
  organizationId: string,
  id: string,
): Promise<SenderDomainRow & { tenant: Tenant }> {
  const isThere = and(
    eq(columns.id, id),
    eq(columns.organization_id, organizationId),
    isVisibleTo(ctx.caller, visibility),
  )
  const row = await ctx.db.first(selectSenderDomains().where(isThere))
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.organization_id, editions: [] } }
}
