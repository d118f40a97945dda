import { isNull, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { buildConditions, contains, equals, type FilterTable } from '../../db/filters.ts'
import { buildOrderBy, paginate } from '../../db/paginate.ts'
import { editions } from '../../db/schema/editions.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { segments } from '../../db/schema/segments.ts'
import { isVisibleIn } from '../../db/visibility.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import type { SegmentQuery } from './contract.ts'
import { segmentColumns, type SegmentRow, segmentVisibility } from './queries.ts'

const filters: FilterTable<SegmentQuery> = {
  organization_id: equals(segments.organization_id),
  edition_id: equals(segments.edition_id),
  status: equals(segments.status),
  communication_type: equals(segments.communication_type),
  communication_channel: equals(segments.communication_channel),
  search: contains(segments.search),
}

const sortColumns = {
  created: sql`${segments.created_at}`,
  modified: sql`${segments.modified_at}`,
  name: sql`${segments.name_key}`,
  user_count: sql`${segments.user_count}`,
  calculated_at: { nullable: sql`${segments.calculated_at}` },
}

export const listSegments = (ctx: Ctx, page: PageRequest, query: SegmentQuery): Promise<Page<SegmentRow>> =>
  paginate(ctx.db, page, {
    from: sql`${segments}`,
    where: [
      isNull(segments.deleted_at),
      isVisibleIn(ctx.caller, segmentVisibility, query),
      ...buildConditions(filters, query),
    ],
    orderBy: buildOrderBy(query.ordering, '-created', sortColumns),
    id: sql`${segments.seq}`,
    columns: segmentColumns,
    joins: sql`join ${segments} on ${segments.seq} = page.id
      join ${organizations} on ${organizations.id} = ${segments.organization_id}
      left join ${editions} on ${editions.id} = ${segments.edition_id}`,
  })
