import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { buildConditions, contains, equals, type FilterTable } from '../../../db/filters.ts'
import { buildOrderBy, paginate } from '../../../db/paginate.ts'
import { feeRules } from '../../../db/schema/editions.ts'
import { isVisibleIn } from '../../../db/visibility.ts'
import type { Page, PageRequest } from '../../../domain/page.ts'
import type { FeeRuleQuery } from './contract.ts'
import { feeRuleColumns, type FeeRuleRow, feeRuleVisibility } from './queries.ts'

const filters: FilterTable<FeeRuleQuery> = {
  organization_id: equals(feeRules.organization_id),
  currency: equals(feeRules.currency),
  is_active: equals(feeRules.is_active),
  search: contains(feeRules.name_folded),
}

const sortColumns = {
  created: sql`${feeRules.created_at}`,
  modified: sql`${feeRules.modified_at}`,
  name: sql`${feeRules.name_key}`,
}

export const listFeeRules = (ctx: Ctx, page: PageRequest, query: FeeRuleQuery): Promise<Page<FeeRuleRow>> =>
  paginate(ctx.db, page, {
    from: sql`${feeRules}`,
    where: [isVisibleIn(ctx.caller, feeRuleVisibility, query), ...buildConditions(filters, query)],
    orderBy: buildOrderBy(query.ordering, '-created', sortColumns),
    id: sql`${feeRules.id}`,
    columns: feeRuleColumns,
    joins: sql`join ${feeRules} on ${feeRules.id} = page.id`,
  })
