import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { buildConditions, contains, equals, type FilterTable } from '../../../db/filters.ts'
import { buildOrderBy, paginate } from '../../../db/paginate.ts'
import { passDesigns } from '../../../db/schema/wallet.ts'
import { isVisibleIn } from '../../../db/visibility.ts'
import type { Page, PageRequest } from '../../../domain/page.ts'
import type { PassDesignQuery } from './contract.ts'
import { passDesignColumns, type PassDesignRow, passDesignVisibility } from './queries.ts'

const filters: FilterTable<PassDesignQuery> = {
  organization_id: equals(passDesigns.organization_id),
  edition_id: equals(passDesigns.edition_id),
  product_id: equals(passDesigns.product_id),
  search: contains(passDesigns.name_folded),
}

const sortColumns = {
  created: sql`${passDesigns.created_at}`,
  modified: sql`${passDesigns.modified_at}`,
  name: sql`${passDesigns.name_key}`,
}

export const listPassDesigns = (ctx: Ctx, page: PageRequest, query: PassDesignQuery): Promise<Page<PassDesignRow>> =>
  paginate(ctx.db, page, {
    from: sql`${passDesigns}`,
    where: [isVisibleIn(ctx.caller, passDesignVisibility, query), ...buildConditions(filters, query)],
    orderBy: buildOrderBy(query.ordering, '-created', sortColumns),
    id: sql`${passDesigns.id}`,
    columns: passDesignColumns,
    joins: sql`join ${passDesigns} on ${passDesigns.id} = page.id`,
  })
