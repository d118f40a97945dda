import { eq, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { buildConditions, equals, type FilterTable } from '../../db/filters.ts'
import { buildOrderBy, paginate } from '../../db/paginate.ts'
import { walletPasses } from '../../db/schema/wallet.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import type { PassQuery } from './contract.ts'
import { type LoadedPurchase, passColumns, type PassRow } from './queries.ts'

const filters: FilterTable<PassQuery> = {
  platform: equals(walletPasses.platform),
  status: equals(walletPasses.status),
}

export const listWalletPasses = (
  ctx: Ctx,
  page: PageRequest,
  query: PassQuery,
  purchase: LoadedPurchase,
): Promise<Page<PassRow>> =>
  paginate(ctx.db, page, {
    from: sql`${walletPasses}`,
    where: [eq(walletPasses.purchase_id, purchase.id), ...buildConditions(filters, query)],
    orderBy: buildOrderBy(query.ordering, 'created', { created: sql`${walletPasses.created_at}` }),
    id: sql`${walletPasses.id}`,
    columns: passColumns,
    joins: sql`join ${walletPasses} on ${walletPasses.id} = page.id`,
  })
