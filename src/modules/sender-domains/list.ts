import { eq, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { buildConditions, equals, type FilterTable } from '../../db/filters.ts'
import { buildOrderBy, paginate } from '../../db/paginate.ts'
import { senderDomains } from '../../db/schema/sender-domains.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import type { LoadedOrganization } from '../organizations/index.ts'
import type { SenderDomainQuery } from './contract.ts'
import { senderDomainColumns, type SenderDomainRow } from './queries.ts'

const filters: FilterTable<SenderDomainQuery> = { status: equals(senderDomains.status) }

const sortColumns = { created: sql`${senderDomains.created_at}`, domain: sql`${senderDomains.domain}` }

export const listSenderDomains = (
  ctx: Ctx,
  page: PageRequest,
  query: SenderDomainQuery,
  organization: LoadedOrganization,
): Promise<Page<SenderDomainRow>> =>
  paginate(ctx.db, page, {
    from: sql`${senderDomains}`,
    where: [eq(senderDomains.organization_id, organization.id), ...buildConditions(filters, query)],
    orderBy: buildOrderBy(query.ordering, 'created', sortColumns),
    id: sql`${senderDomains.id}`,
    columns: senderDomainColumns,
    joins: sql`join ${senderDomains} on ${senderDomains.id} = page.id`,
  })
