import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { buildConditions, contains, equals, type FilterTable } from '../../db/filters.ts'
import { buildOrderBy, paginate } from '../../db/paginate.ts'
import { consents, consentStats } from '../../db/schema/consents.ts'
import { editions } from '../../db/schema/editions.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { isVisibleIn } from '../../db/visibility.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import type { ConsentQuery } from './contract.ts'
import { type ConsentRow, definitionColumns, definitionVisibility } from './queries.ts'

const filters: FilterTable<ConsentQuery> = {
  organization_id: equals(consents.organization_id),
  edition_id: equals(consents.edition_id),
  type: equals(consents.type),
  is_active: equals(consents.is_active),
  search: contains(consents.search),
}

const sortColumns = {
  created: sql`${consents.created_at}`,
  modified: sql`${consents.modified_at}`,
  name: sql`${consents.name_key}`,
  position: sql`${consents.position}`,
}

export const listConsents = (ctx: Ctx, page: PageRequest, query: ConsentQuery): Promise<Page<ConsentRow>> =>
  paginate(ctx.db, page, {
    from: sql`${consents}`,
    where: [isVisibleIn(ctx.caller, definitionVisibility, query), ...buildConditions(filters, query)],
    orderBy: buildOrderBy(query.ordering, '-created', sortColumns),
    id: sql`${consents.id}`,
    columns: definitionColumns,
    joins: sql`join ${consents} on ${consents.id} = page.id
      join ${consentStats} on ${consentStats.consent_id} = ${consents.id}
      join ${organizations} on ${organizations.id} = ${consents.organization_id}
      left join ${editions} on ${editions.id} = ${consents.edition_id}`,
  })
