import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { buildConditions, equals, type FilterTable } from '../../db/filters.ts'
import { buildOrderBy, paginate } from '../../db/paginate.ts'
import { merchantAccounts } from '../../db/schema/merchant-accounts.ts'
import { isVisibleIn } from '../../db/visibility.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import type { MerchantAccountQuery } from './contract.ts'
import { accountColumns, accountVisibility, type MerchantAccountRow } from './queries.ts'

const filters: FilterTable<MerchantAccountQuery> = {
  organization_id: equals(merchantAccounts.organization_id),
  type: equals(merchantAccounts.type),
  is_active: equals(merchantAccounts.is_active),
}

const sortColumns = {
  created: sql`${merchantAccounts.created_at}`,
  modified: sql`${merchantAccounts.modified_at}`,
  name: sql`${merchantAccounts.name_key}`,
}

export const listMerchantAccounts = (
  ctx: Ctx,
  page: PageRequest,
  query: MerchantAccountQuery,
): Promise<Page<MerchantAccountRow>> =>
  paginate(ctx.db, page, {
    from: sql`${merchantAccounts}`,
    where: [isVisibleIn(ctx.caller, accountVisibility, query), ...buildConditions(filters, query)],
    orderBy: buildOrderBy(query.ordering, '-created', sortColumns),
    id: sql`${merchantAccounts.id}`,
    columns: accountColumns,
    joins: sql`join ${merchantAccounts} on ${merchantAccounts.id} = page.id`,
  })
