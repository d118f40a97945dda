import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { paginate } from '../../db/paginate.ts'
import type { senderDomains } from '../../db/schema/sender-domains.ts'
import { visibilityOf, visible } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/access.ts'
import { notFound } from '../../domain/errors.ts'
import { type OrderBy, type Page, type PageRequest, sortBy } from '../../domain/page.ts'
import type { SenderDomainStatus } from '../../domain/sender-domains.ts'

export { findOrganization } from '../organizations/index.ts'

export type SenderDomainRow = typeof senderDomains.$inferSelect

export function listSenderDomains(
  ctx: Ctx,
  organizationId: string,
  page: PageRequest,
  query: { ordering: readonly OrderBy<'created' | 'domain'>[]; status?: SenderDomainStatus | undefined },
): Promise<Page<SenderDomainRow>> {
  return paginate<SenderDomainRow>(ctx.db, page, {
    from: sql`sender_domains`,
    key: sql`id`,
    where: [sql`organization_id = ${organizationId}`, ...(query.status ? [sql`status = ${query.status}`] : [])],
    sort: sortBy(query.ordering, 'created', { created: sql`created_at`, domain: sql`domain` }),
    columns: sql`sender_domains.*`,
    joins: sql`join sender_domains on sender_domains.id = page.key`,
  })
}

/** A domain of an organisation in which the caller has a role of the organisation. */
export async function findSenderDomain(
  ctx: Ctx,
  organizationId: string,
  id: string,
): Promise<SenderDomainRow & { tenant: Tenant }> {
  const row = await ctx.db.first(sql<SenderDomainRow>`select * from sender_domains
    where id = ${id} and organization_id = ${organizationId}
      and ${visible(ctx.caller, visibilityOf(sql`organization_id`, sql`null`))}`)
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.organization_id, editions: [] } }
}
