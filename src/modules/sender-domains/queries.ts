import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { inWords } from '../../db/conditions.ts'
import { senderDomains } from '../../db/schema/sender-domains.ts'
import { select } from '../../db/select.ts'
import { buildVisibility, isVisibleTo } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import type { SenderDomainStatus } from '../../domain/messaging/sender-domains.ts'

export { findOrganization } from '../organizations/index.ts'

export type SenderDomainRow = typeof senderDomains.$inferSelect

export const senderDomainColumns = getTableColumns(senderDomains)

export const selectSenderDomains = () => select(senderDomainColumns).from(senderDomains)

const visibility = buildVisibility(sql`${senderDomains.organization_id}`, sql`null`)

/** Finds a domain of an organisation in which the caller has a role. */
export async function findSenderDomain(
  ctx: Ctx,
  organizationId: string,
  id: string,
): Promise<SenderDomainRow & { tenant: Tenant }> {
  const isFound = and(
    eq(senderDomains.id, id),
    eq(senderDomains.organization_id, organizationId),
    isVisibleTo(ctx.caller, visibility),
  )
  const row = await ctx.db.first(selectSenderDomains().where(isFound))
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.organization_id, editions: [] } }
}

const verifiedStatus: SenderDomainStatus = 'verified'

/**
 * Holds for verified domains. The status is a literal, because SQLite does not use a partial index for a bound value.
 */
export const isVerified = inWords(sql`sender_domains.status`, [verifiedStatus])

/** Holds when the organisation has verified the domain of the address. Verifying a domain covers no subdomain. */
export const isVerifiedSender = (organization: SQL, address: SQL): SQL =>
  sql`exists (select 1 from sender_domains
    where sender_domains.domain = lower(substr(${address}, instr(${address}, '@') + 1))
      and ${isVerified} and sender_domains.organization_id = ${organization})`
