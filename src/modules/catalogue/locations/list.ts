import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { buildConditions, contains, equals, type FilterTable } from '../../../db/filters.ts'
import { buildOrderBy, paginate } from '../../../db/paginate.ts'
import { locations } from '../../../db/schema/catalog.ts'
import { isVisibleIn } from '../../../db/visibility.ts'
import type { Page, PageRequest } from '../../../domain/page.ts'
import type { LocationQuery } from './contract.ts'
import { locationColumns, type LocationRow, locationVisibility } from './queries.ts'

const filters: FilterTable<LocationQuery> = {
  organization_id: equals(locations.organization_id),
  edition_id: equals(locations.edition_id),
  is_draft: equals(locations.is_draft),
  search: contains(locations.name_folded),
}

const sortColumns = {
  name: sql`${locations.name_key}`,
  created: sql`${locations.created_at}`,
  modified: sql`${locations.modified_at}`,
}

export const listLocations = (ctx: Ctx, page: PageRequest, query: LocationQuery): Promise<Page<LocationRow>> =>
  paginate(ctx.db, page, {
    from: sql`${locations}`,
    where: [isVisibleIn(ctx.caller, locationVisibility, query), ...buildConditions(filters, query)],
    orderBy: buildOrderBy(query.ordering, 'name', sortColumns),
    id: sql`${locations.id}`,
    columns: locationColumns,
    joins: sql`join ${locations} on ${locations.id} = page.id`,
  })
