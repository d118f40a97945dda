import { eq, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { buildConditions, contains, equals, type FilterTable } from '../../db/filters.ts'
import { buildOrderBy, paginate } from '../../db/paginate.ts'
import { editions } from '../../db/schema/editions.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { editionVisibility, isVisibleTo } from '../../db/visibility.ts'
import { openEndedMs } from '../../domain/editions/editions.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import type { EditionQuery } from './contract.ts'
import { editionColumns, type EditionListRow } from './queries.ts'

/** `getEditionStatus` as SQL. */
export const buildStatus = (now: number): SQL<{ status: string }> => sql`case
  when editions.start_at is null and editions.end_at is null then 'no_dates'
  when editions.start_at > ${now} then 'upcoming'
  when coalesce(editions.end_at, editions.start_at + ${openEndedMs}) < ${now} then 'past'
  else 'current' end`

const buildFilters = (now: number): FilterTable<Omit<EditionQuery, 'is_archived'>> => ({
  organization_id: equals(editions.organization_id),
  event_id: equals(editions.event_id),
  is_draft: equals(editions.is_draft),
  status: (status) => sql`${buildStatus(now)} = ${status}`,
  search: contains(editions.search),
})

const sortColumns = {
  created: sql`${editions.created_at}`,
  modified: sql`${editions.modified_at}`,
  start_date: { nullable: sql`${editions.start_at}` },
  end_date: { nullable: sql`${editions.end_at}` },
  name: sql`${editions.name_key}`,
}

export const listEditions = (ctx: Ctx, page: PageRequest, query: EditionQuery): Promise<Page<EditionListRow>> =>
  paginate(ctx.db, page, {
    from: sql`${editions}`,
    where: [
      isVisibleTo(ctx.caller, editionVisibility),
      eq(editions.is_archived, query.is_archived ?? false),
      ...buildConditions(buildFilters(ctx.now()), query),
    ],
    orderBy: buildOrderBy(query.ordering, '-created', sortColumns),
    id: sql`${editions.id}`,
    columns: editionColumns,
    joins: sql`join ${editions} on ${editions.id} = page.id
      join ${organizations} on ${organizations.id} = ${editions.organization_id}`,
  })
