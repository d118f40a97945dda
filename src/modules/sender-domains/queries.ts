import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { buildOrderBy, paginate } from '../../db/paginate.ts'
import { senderDomains } from '../../db/schema/sender-domains.ts'
import { select } from '../../db/select.ts'
import { inWords } from '../../db/conditions.ts'
import { buildVisibility, isVisibleTo } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import type { SenderDomainStatus } from '../../domain/messaging/sender-domains.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import type { SenderDomainQuery } from './contract.ts'

export { findOrganization } from '../organizations/index.ts'

export type SenderDomainRow = typeof senderDomains.$inferSelect

const columns = getTableColumns(senderDomains)

export const selectSenderDomains = () => select(columns).from(senderDomains)

const visibility = buildVisibility(sql`${senderDomains.organization_id}`, sql`null`)

export function listSenderDomains(
  ctx: Ctx,
  organizationId: string,
  page: PageRequest,
  query: SenderDomainQuery,
): Promise<Page<SenderDomainRow>> {
  const { ordering, status: statusFilter } = query
  const { id, organization_id, status, created_at, domain } = columns
  return paginate(ctx.db, page, {
    from: sql`${senderDomains}`,
    id: sql`${id}`,
    where: [eq(organization_id, organizationId), ...(statusFilter ? [eq(status, statusFilter)] : [])],
    orderBy: buildOrderBy(ordering, 'created', { created: sql`${created_at}`, domain: sql`${domain}` }),
    columns,
    joins: sql`join ${senderDomains} on ${id} = page.id`,
  })
}

/** Finds a domain of an organisation in which the caller has a role. */
export async function findSenderDomain(
  ctx: Ctx,
  organizationId: string,
  id: string,
): Promise<SenderDomainRow & { tenant: Tenant }> {
  const isFound = and(
    eq(columns.id, id),
    eq(columns.organization_id, organizationId),
    isVisibleTo(ctx.caller, visibility),
  )
  const row = await ctx.db.first(selectSenderDomains().where(isFound))
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.organization_id, editions: [] } }
}

const verified: SenderDomainStatus = 'verified'

/**
 * Holds for verified domains. The status is a literal, because SQLite does not use a partial index for a bound value.
 */
export const isVerified = inWords(sql`sender_domains.status`, [verified])

/** Holds when the organisation has verified the domain of the address. Verifying a domain covers no subdomain. */
export const isVerifiedSender = (organization: SQL, address: SQL): SQL =>
  sql`exists (select 1 from sender_domains
    where sender_domains.domain = lower(substr(${address}, instr(${address}, '@') + 1))
      and ${isVerified} and sender_domains.organization_id = ${organization})`
